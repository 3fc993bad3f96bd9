/*
 * h2_server: server-side HTTP/2 sessions, and deliberate faults for tests of clients. Pointers, threads and errors are
 * as in apns_h2.h.
 */
#pragma once

#include "apns_h2.h"

/* Creates a server session with its SETTINGS ready to be pumped. options: borrowed until return. streams_max:
 * MAX_CONCURRENT_STREAMS to announce. stream_window: initial window size of streams, in bytes; 0 for the default of 256
 * KiB. Returns NULL if there is no memory. Owned by the caller: apns_h2_session_destroy. */
apns_h2_session *apns_h2_server_create(const apns_h2_session_options *options, uint32_t streams_max,
                                       uint32_t stream_window);

/* Announces another MAX_CONCURRENT_STREAMS. Returns 0 or a negative value. */
int apns_h2_server_streams_max_set(apns_h2_session *session, uint32_t streams_max);

/* Returns the exchange of a stream that is not closed, or NULL. */
apns_h2_exchange *apns_h2_server_find(apns_h2_session *session, int32_t stream);

/* Responds to an exchange that is complete and not closed. fields: copied; at most APNS_H2_REQUEST_FIELDS_MAX.
 * exchange->body: set by the caller before, borrowed until closed. Returns 0 or a negative value. */
int apns_h2_server_respond(apns_h2_session *session, apns_h2_exchange *exchange, uint16_t status,
                           const apns_h2_field *fields, uint32_t count);

/* Resets the stream of an exchange with an error code. Returns 0 or a negative value. */
int apns_h2_server_reset(apns_h2_session *session, apns_h2_exchange *exchange, uint32_t code);

/* ---------------------------------------------------------------- faults */

typedef struct apns_h2_setting {
    uint16_t id; /* RFC 9113, section 6.5.2 */
    uint16_t reserved;
    uint32_t value;
} apns_h2_setting;
_Static_assert(sizeof(apns_h2_setting) == 8, "fixed layout");

enum { APNS_H2_FAULT_SETTINGS_MAX = 8 };

/* Sends GOAWAY with an arbitrary last-stream-id. The session drops streams above it and ignores later ones. debug:
 * borrowed until return. Returns 0 or a negative value. */
int apns_h2_fault_goaway(apns_h2_session *session, int32_t last_stream, uint32_t code, const uint8_t *debug,
                         size_t length);

/* Announces settings, which the session applies when the peer has acknowledged them. settings: borrowed until return;
 * at most APNS_H2_FAULT_SETTINGS_MAX. Returns 0 or a negative value. */
int apns_h2_fault_settings(apns_h2_session *session, const apns_h2_setting *settings, uint32_t count);

/* Sends arbitrary bytes in one piece, after the frames that are queued now. stream: 0, or the stream of a request that
 * they answer; the session closes it, without sending RST_STREAM, when it begins to send them. bytes: copied. Returns
 * APNS_RESOURCE if more than 64 MiB would be queued or there is no memory. */
int apns_h2_fault_bytes(apns_h2_session *session, int32_t stream, const uint8_t *bytes, size_t length);

/* Sets whether PINGs are left unanswered. */
void apns_h2_fault_pings_mute(apns_h2_session *session, bool muted);

/* Sets whether APNS_H2_FIELDS is set as soon as the header fields of a request are complete. Such a request may be
 * answered before its end. */
void apns_h2_fault_early_set(apns_h2_session *session, bool early);
