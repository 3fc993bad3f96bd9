/*
 * tls_server: the server's part of TLS. Everything of apns_tls.h about pointers, threads and errors holds.
 */
#ifndef APNS_BATCH_TLS_SERVER_H
#define APNS_BATCH_TLS_SERVER_H

#include "apns_tls.h"

/* Makes a context for servers, which issue no session tickets; otherwise as apns_tls_context_create. */
int apns_tls_server_context_create(const apns_tls_context_options *options, apns_tls_context **out, apns_error *error);

/* Appends a fatal alert, after which the session is of no more use: before the end of the handshake handshake_failure,
 * later bad_record_mac. For servers that misbehave on purpose. */
void apns_tls_session_alert(apns_tls_session *session);

/* Writes whom the peer's certificate is made out to, NUL-terminated: "UID=" and "CN=" with the first such attribute of
 * its subject, each on a line that ends in \n, in UTF-8 with ? for control characters. Empty when the peer showed no
 * certificate or it was not verified. */
void apns_tls_session_peer_describe(const apns_tls_session *session, char *text, size_t capacity);

#endif
