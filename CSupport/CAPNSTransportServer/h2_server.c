#include "apns_h2_server.h"
#include "h2_request.h"
#include <stdlib.h>
#include <string.h>

enum { STREAM_WINDOW = 1 << 18 };

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
    nghttp2_settings_entry entry = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams_max};
    return apns_h2_session_submitted(session, nghttp2_submit_settings(session->ng, NGHTTP2_FLAG_NONE, &entry, 1));
}

apns_h2_exchange *apns_h2_server_find(apns_h2_session *session, int32_t stream) {
    return nghttp2_session_get_stream_user_data(session->ng, stream);
}

/* Tells nghttp2 how much of the body may be sent, without copying it; data_send writes it. */
static ssize_t data_read(nghttp2_session *ng, int32_t stream, uint8_t *buffer, size_t length, uint32_t *flags,
                         nghttp2_data_source *source, void *user) {
    (void)ng, (void)stream, (void)buffer, (void)user;
    const apns_h2_exchange *exchange = source->ptr;
    APNS_REQUIRE(exchange->body_sent <= exchange->body_length);
    size_t left = exchange->body_length - exchange->body_sent;
    size_t now = left < length ? left : length;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (now == left) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)now;
}

/* Writes a DATA frame. It never returns WOULDBLOCK, because a frame held back inside nghttp2 would outlive its
 * exchange; the output has room for the frame that makes it pause. */
static int data_send(nghttp2_session *ng, nghttp2_frame *frame, const uint8_t *header, size_t length,
                     nghttp2_data_source *source, void *user) {
    (void)ng, (void)frame;
    apns_h2_session *session = user;
    apns_h2_exchange *exchange = source->ptr;
    if (h2_send_append(session->output, header, H2_FRAME_HEADER_BYTES) != 0 ||
        h2_send_append(session->output, exchange->body + exchange->body_sent, length) != 0)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    exchange->body_sent += (uint32_t)length;
    APNS_REQUIRE(exchange->body_sent <= exchange->body_length);
    return session->output->paused ? NGHTTP2_ERR_PAUSE : 0;
}

int apns_h2_server_respond(apns_h2_session *session, apns_h2_exchange *exchange, uint16_t status,
                           const apns_h2_field *fields, uint32_t count) {
    uint8_t digits[3] = {(uint8_t)('0' + status / 100 % 10), (uint8_t)('0' + status / 10 % 10),
                         (uint8_t)('0' + status % 10)};
    nghttp2_nv assembled[1 + APNS_H2_REQUEST_FIELDS_MAX];
    assembled[0] = (nghttp2_nv){(uint8_t *)(uintptr_t) ":status", digits, 7, 3, NGHTTP2_NV_FLAG_NO_COPY_NAME};
    for (uint32_t i = 0; i < count; i++)
        assembled[1 + i] =
            (nghttp2_nv){(uint8_t *)(uintptr_t)fields[i].name, (uint8_t *)(uintptr_t)fields[i].value,
                         fields[i].name_length, fields[i].value_length,
                         fields[i].indexing == APNS_H2_LITERAL ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE};
    nghttp2_data_provider body = {.source.ptr = exchange, .read_callback = data_read};
    return apns_h2_session_submitted(session,
                                     nghttp2_submit_response(session->ng, exchange->stream, assembled, 1 + count,
                                                             exchange->body_length > 0 ? &body : NULL));
}

int apns_h2_server_reset(apns_h2_session *session, apns_h2_exchange *exchange, uint32_t code) {
    return apns_h2_session_submitted(session,
                                     nghttp2_submit_rst_stream(session->ng, NGHTTP2_FLAG_NONE, exchange->stream, code));
}

/* ---------------------------------------------------------------- faults */

int apns_h2_fault_goaway(apns_h2_session *session, int32_t last_stream, uint32_t code, const uint8_t *debug,
                         size_t length) {
    session->goaway_own = true;
    session->goaway_own_code = code;
    return apns_h2_session_submitted(
        session, nghttp2_submit_goaway(session->ng, NGHTTP2_FLAG_NONE, last_stream, code, debug, length));
}

int apns_h2_fault_settings(apns_h2_session *session, const apns_h2_setting *settings, uint32_t count) {
    nghttp2_settings_entry entries[APNS_H2_FAULT_SETTINGS_MAX];
    if (count > APNS_H2_FAULT_SETTINGS_MAX) return APNS_MISUSE;
    for (uint32_t i = 0; i < count; i++)
        entries[i] = (nghttp2_settings_entry){settings[i].id, settings[i].value};
    return apns_h2_session_submitted(session, nghttp2_submit_settings(session->ng, NGHTTP2_FLAG_NONE, entries, count));
}

int apns_h2_fault_bytes(apns_h2_session *session, int32_t stream, const uint8_t *bytes, size_t length) {
    server_session *server = server_of(session);
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
    int result = nghttp2_submit_rst_stream(session->ng, NGHTTP2_FLAG_NONE, stream, CODE_SILENT);
    return result < 0 ? apns_h2_session_fail_library(session, result) : apns_h2_send_library(session);
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
            apns_h2_session_fail(session, APNS_H2_FAILURE_OUTPUT, 0, "the output failed");
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
    return session->waiting == 0 ? apns_h2_send_library(session) : session->failure.status;
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
    if (frame[3] == NGHTTP2_RST_STREAM) return memcmp(frame + 9, silent, sizeof(silent)) == 0;
    return frame[3] == NGHTTP2_PING && (frame[4] & NGHTTP2_FLAG_ACK) != 0 && server_of(session)->pings_muted;
}

/* ---------------------------------------------------------------- the server's side of a session */

static int stream_begin(apns_h2_session *session, int32_t stream) {
    apns_h2_exchange *exchange = apns_h2_pool_take(session->pool);
    int result;
    session->current = NULL;
    if (exchange == NULL) {
        result = nghttp2_submit_rst_stream(session->ng, NGHTTP2_FLAG_NONE, stream, NGHTTP2_REFUSED_STREAM);
        return result == 0 ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    exchange->stream = stream;
    exchange->message = apns_h2_message_take(session->pool);
    if (exchange->message == NULL) {
        apns_h2_pool_give(session->pool, exchange);
        return apns_h2_receive_memory_limit(session);
    }
    session->current = exchange;
    apns_h2_session_changed_add(session, exchange);
    result = nghttp2_session_set_stream_user_data(session->ng, stream, exchange);
    return result == 0 ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
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
    .library_new = nghttp2_session_server_new3,
    .data_send = data_send,
    .pseudo_read = apns_h2_request_pseudo_read,
    .host_read = apns_h2_request_host_read,
    .head_take = apns_h2_request_head_take,
    .keep = apns_h2_request_keep,
    .stream_begin = stream_begin,
    .fields_end = fields_end,
    .body_begin = body_begin,
    .frame_append = frame_append,
    .pump = pump,
    .waiting_clear = raw_clear,
};

apns_h2_session *apns_h2_server_create(const apns_h2_session_options *options, uint32_t streams_max,
                                       uint32_t stream_window) {
    apns_h2_session *session = apns_h2_session_open(&apns_server_side, options);
    if (session == NULL) return NULL;
    server_of(session)->raw_last = &server_of(session)->raw_first;
    session->inbound.passing = NGHTTP2_CLIENT_MAGIC_LEN; /* the client's preface precedes its frames */
    const nghttp2_settings_entry streams = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams_max};
    return apns_h2_session_settle(session, stream_window != 0 ? stream_window : (uint32_t)STREAM_WINDOW, streams);
}
