#include "apns_h2_server.h"
#include "h2_request.h"
#include <stdlib.h>
#include <string.h>

/* The window of a stream, and the size of a client's preface (RFC 9113, section 3.4). */
enum { STREAM_WINDOW = 1 << 18, PREFACE_BYTES = 24 };

/* Limit on the queued bytes of apns_h2_fault_bytes, and the number of bytes written before the output is checked for a
 * pause. */
enum { RAW_BYTES_MAX = 64 << 20, PIECE_BYTES = 16384 };

/* An error code that is never sent: its RST_STREAM frame only closes the stream locally. */
enum { CODE_SILENT = 0x7fffff5a };

/* Queued bytes of one apns_h2_fault_bytes. */
typedef struct raw_piece {
    struct raw_piece *next;
    size_t length;
    size_t begun; /* number of bytes already written */
    int32_t stream;
    bool started;
    uint8_t bytes[];
} raw_piece;

typedef struct server_session {
    apns_h2_session base;
    raw_piece *raw_first;
    raw_piece **raw_last;
    size_t raw_bytes;
    bool pings_muted;
    bool early;
} server_session;

static server_session *server_of(apns_h2_session *session) {
    return (server_session *)(void *)session;
}

int apns_h2_server_streams_max_set(apns_h2_session *session, uint32_t streams_max) {
    if (h2_failed(session)) return session->failure.status;
    const h2_setting setting = {H2_MAX_CONCURRENT_STREAMS, streams_max};
    return apns_h2_session_submitted(session, apns_h2_library_settings(session, &setting, 1));
}

apns_h2_exchange *apns_h2_server_find(apns_h2_session *session, int32_t stream) {
    return apns_h2_library_exchange(session, stream);
}

int apns_h2_server_respond(apns_h2_session *session, apns_h2_exchange *exchange, uint16_t status,
                           const apns_h2_field *fields, uint32_t count) {
    if (h2_failed(session)) return session->failure.status;
    return apns_h2_session_submitted(session, apns_h2_library_respond(session, exchange, status, fields, count));
}

int apns_h2_server_reset(apns_h2_session *session, apns_h2_exchange *exchange, uint32_t code) {
    if (h2_failed(session)) return session->failure.status;
    return apns_h2_session_submitted(session, apns_h2_library_reset(session, exchange->stream, code));
}

/* ---------------------------------------------------------------- faults */

int apns_h2_fault_goaway(apns_h2_session *session, int32_t last_stream, uint32_t code, const uint8_t *debug,
                         size_t length) {
    if (h2_failed(session)) return session->failure.status;
    session->goaway_code = code;
    return apns_h2_session_submitted(session, apns_h2_library_goaway(session, last_stream, code, debug, length));
}

int apns_h2_fault_settings(apns_h2_session *session, const apns_h2_setting *settings, uint32_t count) {
    h2_setting entries[APNS_H2_FAULT_SETTINGS_MAX];
    if (count > APNS_H2_FAULT_SETTINGS_MAX) return APNS_MISUSE;
    if (h2_failed(session)) return session->failure.status;
    for (uint32_t i = 0; i < count; i++)
        entries[i] = (h2_setting){settings[i].id, settings[i].value};
    return apns_h2_session_submitted(session, apns_h2_library_settings(session, entries, count));
}

int apns_h2_fault_bytes(apns_h2_session *session, int32_t stream, const uint8_t *bytes, size_t length) {
    server_session *server = server_of(session);
    if (h2_failed(session)) return session->failure.status;
    if (length > RAW_BYTES_MAX - server->raw_bytes) return APNS_RESOURCE;
    raw_piece *raw = malloc(sizeof(*raw) + length);
    if (raw == NULL) return APNS_RESOURCE;
    *raw = (raw_piece){.length = length, .stream = stream};
    if (length > 0) memcpy(raw->bytes, bytes, length);
    server->raw_bytes += length;
    *server->raw_last = raw;
    server->raw_last = &raw->next;
    session->waiting++;
    session->drained = false;
    return 0;
}

/* Closes a stream locally, so that the client's next stream does not exceed the limit. nghttp2 has nothing else to send
 * at this time. */
static int forget(apns_h2_session *session, int32_t stream) {
    int result = apns_h2_library_reset(session, stream, CODE_SILENT);
    return result != 0 ? result : apns_h2_send_library(session);
}

static void raw_drop(apns_h2_session *session) {
    server_session *server = server_of(session);
    raw_piece *raw = server->raw_first;
    server->raw_first = raw->next;
    server->raw_bytes -= raw->length;
    session->waiting--;
    if (raw->next == NULL) server->raw_last = &server->raw_first;
    free(raw);
}

static void raw_clear(apns_h2_session *session) {
    while (server_of(session)->raw_first != NULL)
        raw_drop(session);
}

/* Continues to write a piece; returns whether it is complete. */
static bool raw_write(apns_h2_session *session, raw_piece *raw) {
    while (raw->begun < raw->length && !session->output->paused) {
        size_t left = raw->length - raw->begun;
        size_t now = left < PIECE_BYTES ? left : (size_t)PIECE_BYTES;
        if (h2_send_append(session->output, raw->bytes + raw->begun, now) != 0) {
            apns_h2_session_fail_output(session);
            return false;
        }
        raw->begun += now;
    }
    return raw->begun == raw->length;
}

static int pump(apns_h2_session *session) {
    while (server_of(session)->raw_first != NULL && !session->output->paused) {
        raw_piece *raw = server_of(session)->raw_first;
        if (!raw->started) {
            if (apns_h2_send_library(session) != 0) break;
            if (session->output->paused) break;
            raw->started = true;
            if (raw->stream != 0 && forget(session, raw->stream) != 0) break;
        }
        if (!raw_write(session, raw)) break;
        raw_drop(session);
    }
    return session->waiting == 0 && !h2_failed(session) ? apns_h2_send_library(session) : session->failure.status;
}

void apns_h2_fault_pings_mute(apns_h2_session *session, bool muted) {
    server_of(session)->pings_muted = muted;
}

void apns_h2_fault_early_set(apns_h2_session *session, bool early) {
    server_of(session)->early = early;
}

/* Whether a frame must not be sent. */
static bool withholds(apns_h2_session *session, const uint8_t *frame, size_t length) {
    static const uint8_t silent[] = {CODE_SILENT >> 24, CODE_SILENT >> 16 & 0xff, CODE_SILENT >> 8 & 0xff,
                                     CODE_SILENT & 0xff};
    if (length < 13) return false;
    if (frame[3] == H2_RST_STREAM) return memcmp(frame + 9, silent, sizeof(silent)) == 0;
    return frame[3] == H2_PING && (frame[4] & H2_FLAG_ACK) != 0 && server_of(session)->pings_muted;
}

/* ---------------------------------------------------------------- the server's side of a session */

static void stream_begin(apns_h2_session *session, int32_t stream) {
    apns_h2_exchange *exchange = apns_h2_pool_take(session->pool);
    session->current = NULL;
    if (exchange == NULL) {
        apns_h2_library_reset(session, stream, APNS_H2_REFUSED_STREAM);
        return;
    }
    exchange->stream = stream;
    exchange->message = apns_h2_message_take(session->pool);
    if (exchange->message == NULL) {
        apns_h2_pool_give(session->pool, exchange);
        apns_h2_receive_memory_limit(session);
        return;
    }
    session->current = exchange;
    apns_h2_session_changed_add(session, exchange);
    if (!apns_h2_library_exchange_set(session, stream, exchange))
        apns_h2_session_fail(session, APNS_H2_FAILURE_LIBRARY, APNS_H2_INTERNAL_ERROR,
                             "nghttp2 does not have a stream that it has begun");
}

/* Called only for requests that were returned before their end, because others have a message from the start. */
static apns_h2_message *body_begin(apns_h2_session *session, apns_h2_exchange *exchange) {
    (void)session;
    (void)exchange;
    return NULL;
}

static void fields_end(apns_h2_session *session, apns_h2_exchange *exchange) {
    apns_h2_request_fields_end(session, exchange);
    if (server_of(session)->early) apns_h2_receive_fact_add(session, exchange, APNS_H2_FIELDS);
}

static int frame_append(apns_h2_session *session, const uint8_t *frame, size_t length) {
    if (withholds(session, frame, length)) return 0;
    apns_h2_send_note(session, frame, length);
    return h2_send_append(session->output, frame, length);
}

static const h2_side apns_server_side = {
    .session_bytes = sizeof(server_session),
    .serves = true,
    .pseudo_read = apns_h2_request_pseudo_read,
    .host_read = apns_h2_request_host_read,
    .head_take = apns_h2_request_head_take,
    .keep = apns_h2_request_keep,
    .stream_begin = stream_begin,
    .fields_end = fields_end,
    .body_begin = body_begin,
    .frame_append = frame_append,
    .pump = pump,
    .finish = pump,
    .waiting_clear = raw_clear,
};

apns_h2_session *apns_h2_server_create(const apns_h2_session_options *options, uint32_t streams_max,
                                       uint32_t stream_window) {
    apns_h2_session *session = apns_h2_session_open(&apns_server_side, options);
    if (session == NULL) return NULL;
    server_of(session)->raw_last = &server_of(session)->raw_first;
    session->inbound.passing = PREFACE_BYTES; /* the client's preface precedes its frames */
    const h2_setting streams = {H2_MAX_CONCURRENT_STREAMS, streams_max};
    return apns_h2_session_settle(session, stream_window != 0 ? stream_window : (uint32_t)STREAM_WINDOW, streams);
}
