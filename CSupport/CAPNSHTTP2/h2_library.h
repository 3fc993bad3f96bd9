/*
 * h2_library: nghttp2. No other file calls it, includes its header or uses its types, so that h2_library.c shows what
 * we rely on; docs/decisions/0021-bodies-and-messages.md names the promises.
 *
 * Four kinds of functions: submit (what nghttp2 is to send), feed (what the peer has sent), take (the frames that
 * nghttp2 sends), and facts (its state). What it finds in the frames it is fed it passes to the functions of
 * h2_receive.c, which only record facts and submit nothing but a reset.
 *
 * Errors. Functions that return int return 0 unless the comment differs, or a negative status, after which the
 * session has failed.
 */
#pragma once

#include "apns_h2.h"

/* A session of nghttp2. */
typedef struct nghttp2_session h2_library;

typedef struct h2_setting {
    int32_t id; /* enum h2_setting_id */
    uint32_t value;
} h2_setting;

/* The functions through which nghttp2 gets memory; context: the apns_h2_memory. */
typedef struct h2_allocator {
    void *(*take)(size_t bytes, void *context);
    void (*give)(void *block, void *context);
    void *(*take_cleared)(size_t count, size_t bytes, void *context);
    void *(*grow)(void *block, size_t bytes, void *context);
} h2_allocator;

/* Creates session->library, for the client's side, or for the server's if serves; returns false if there is no memory.
 * Owned by the session: apns_h2_library_close (a session without library is allowed). */
bool apns_h2_library_open(apns_h2_session *session, bool serves);
void apns_h2_library_close(apns_h2_session *session);

/* The version of nghttp2 that the process has loaded. */
const char *apns_h2_library_version(void);

/* Describes an error code (RFC 9113, section 7). */
const char *apns_h2_library_code_text(uint32_t code);

/* ---- submit */

/* settings: borrowed until return. */
int apns_h2_library_settings(apns_h2_session *session, const h2_setting *settings, uint32_t count);

/* Widens the window of the connection to bytes, which is more than it has. */
int apns_h2_library_window(apns_h2_session *session, int32_t bytes);

int apns_h2_library_ping(apns_h2_session *session, const uint8_t *opaque);

/* debug: borrowed until return. */
int apns_h2_library_goaway(apns_h2_session *session, int32_t last_stream, uint32_t code, const uint8_t *debug,
                           size_t length);

/* Resets a stream that nghttp2 has. If the peer ends the stream before the frame is taken, some versions drop the
 * frame. */
int apns_h2_library_reset(apns_h2_session *session, int32_t stream, uint32_t code);

/* Begins a request with an empty header block and without a body, and returns its stream, or 0 if no stream number is
 * left. The HEADERS frame follows by apns_h2_library_take. */
int32_t apns_h2_library_request(apns_h2_session *session, apns_h2_exchange *exchange);

/* Answers a request: status, fields, and exchange->body. */
int apns_h2_library_respond(apns_h2_session *session, apns_h2_exchange *exchange, uint16_t status,
                            const apns_h2_field *fields, uint32_t count);

/* ---- feed */

/* Processes bytes of the peer, all of them. */
int apns_h2_library_feed(apns_h2_session *session, const uint8_t *bytes, size_t length);

/* ---- take */

/* Returns 1 and the next whole frame to send (or the client's preface, the first time), which is borrowed until the
 * next call, or 0 if there is none. */
int apns_h2_library_take(apns_h2_session *session, const uint8_t **frame, size_t *length);

/* ---- facts */

/* The exchange of a stream, or NULL if nghttp2 does not have the stream or has forgotten the exchange on request. */
apns_h2_exchange *apns_h2_library_exchange(const apns_h2_session *session, int32_t stream);

/* Sets the exchange of a stream that nghttp2 has; NULL: forget it. Returns false if nghttp2 does not have the stream.
 */
bool apns_h2_library_exchange_set(apns_h2_session *session, int32_t stream, apns_h2_exchange *exchange);

/* The peer's SETTINGS_MAX_CONCURRENT_STREAMS. */
uint32_t apns_h2_library_peer_streams_max(const apns_h2_session *session);

/* The last stream of the peer that was processed. */
int32_t apns_h2_library_last_stream(const apns_h2_session *session);

/* Whether nghttp2 still reads; after a GOAWAY it stops when its last stream has ended. */
bool apns_h2_library_reads(const apns_h2_session *session);

/* ---- the grammar of fields (RFC 9113, section 8.2.1; RFC 9110; RFC 3986) */

bool apns_h2_library_name_valid(const apns_h2_field *field);
bool apns_h2_library_value_valid(const apns_h2_field *field);
bool apns_h2_library_method_valid(const apns_h2_field *field);
bool apns_h2_library_path_valid(const apns_h2_field *field);
bool apns_h2_library_authority_valid(const apns_h2_field *field);
