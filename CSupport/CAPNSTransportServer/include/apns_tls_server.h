/*
 * tls_server: the server side of TLS. Pointers, threads and errors are as in apns_tls.h.
 */
#pragma once

#include "apns_tls.h"

/* Creates a context for servers, which issue no session tickets. Otherwise like apns_tls_context_create. */
int apns_tls_server_context_create(const apns_tls_context_options *options, apns_tls_context **out, apns_error *error);

/* Appends a fatal alert: handshake_failure during the handshake, bad_record_mac after it. The session must only be
 * destroyed afterwards. For servers that misbehave on purpose. */
void apns_tls_session_alert(apns_tls_session *session);

/* Writes the subject of the verified certificate of the peer as a NUL-terminated string: UID= and CN= with the first
 * attribute of this kind, as far as present, each on a line that ends with \n, in UTF-8 with ? in place of control
 * characters. A line that does not fit into capacity bytes is omitted. The string is empty if there is no certificate
 * or it was not verified. */
void apns_tls_session_peer_describe(const apns_tls_session *session, char *text, size_t capacity);
