/* Header blocks of requests: judge, keep and fields_end of the server's side of a session. */
#pragma once

#include "h2_internal.h"

void apns_h2_request_judge(h2_replacement *block, const apns_h2_field *field);
bool apns_h2_request_keep(apns_h2_session *session, const apns_h2_field *field);

/* Gives a request its fields. Those of trailers are added, unless it was returned before its end. */
void apns_h2_request_fields_end(apns_h2_session *session, apns_h2_exchange *exchange);
