/*
 * h2_server: the server's side of HTTP/2 sessions, and sessions that misbehave on purpose, for tests of clients.
 * Everything of apns_h2.h about pointers, threads and errors holds.
 */
#ifndef APNS_BATCH_H2_SERVER_H
#define APNS_BATCH_H2_SERVER_H

#include "apns_h2.h"

/* As apns_h2_session_create, for a server. streams_max: MAX_CONCURRENT_STREAMS to announce. stream_window: bytes of one
 * body that a client may send ahead; 0 for the usual. */
apns_h2_session *apns_h2_server_create(const apns_h2_session_options *options, uint32_t streams_max,
                                       uint32_t stream_window);

/* Announces a new MAX_CONCURRENT_STREAMS. */
int apns_h2_server_streams_max_set(apns_h2_session *session, uint32_t streams_max);

/* The exchange of a stream of the peer that is not closed, or NULL. */
apns_h2_exchange *apns_h2_server_find(apns_h2_session *session, int32_t stream);

/* Answers an exchange that is complete and not closed. fields: copied. exchange->body: set before, borrowed until
 * closed. */
int apns_h2_server_respond(apns_h2_session *session, apns_h2_exchange *exchange, uint16_t status,
                           const apns_h2_field *fields, uint32_t count);

/* Resets a stream. */
int apns_h2_server_reset(apns_h2_session *session, apns_h2_exchange *exchange, uint32_t code);

/* ---------------------------------------------------------------- faults */

typedef struct apns_h2_setting {
    uint16_t id; /* RFC 9113, section 6.5.2 */
    uint16_t reserved;
    uint32_t value;
} apns_h2_setting;
_Static_assert(sizeof(apns_h2_setting) == 8, "fixed layout");

enum { APNS_H2_FAULT_SETTINGS_MAX = 8 };

/* Sends GOAWAY with any last-stream-id. The session forgets streams above it and passes over later ones. debug:
 * borrowed until return. */
int apns_h2_fault_goaway(apns_h2_session *session, int32_t last_stream, uint32_t code, const uint8_t *debug,
                         size_t length);

/* Announces settings, which hold here too once the peer has acknowledged them. settings: borrowed until return. */
int apns_h2_fault_settings(apns_h2_session *session, const apns_h2_setting *settings, uint32_t count);

/* Sends bytes as they are, in one piece and behind the frames that wait now. stream: 0, or the request that they
 * answer: the session forgets it as they begin to leave. bytes: copied. Not 0 when too much waits already. */
int apns_h2_fault_bytes(apns_h2_session *session, int32_t stream, const uint8_t *bytes, size_t length);

/* Passes over PINGs, or answers them again. */
void apns_h2_fault_pings_mute(apns_h2_session *session, bool muted);

/* Shows APNS_H2_FIELDS as soon as the fields of a request have come; it may be answered then. */
void apns_h2_fault_early_set(apns_h2_session *session, bool early);

#endif
