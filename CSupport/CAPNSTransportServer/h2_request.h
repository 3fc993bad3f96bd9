/* Header blocks of requests: functions of the server's side of a session. */
#pragma once

#include "h2_internal.h"

bool apns_h2_request_pseudo_read(h2_head *head, const apns_h2_field *field);
bool apns_h2_request_host_read(h2_head *head, const apns_h2_field *field);
bool apns_h2_request_head_take(const h2_head *head, apns_h2_exchange *exchange);
bool apns_h2_request_keep(apns_h2_session *session, const apns_h2_field *field);

/* Gives a request its fields. Those of trailers are added, unless it was returned before its end. */
void apns_h2_request_fields_end(apns_h2_session *session, apns_h2_exchange *exchange);
