#include "h2_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Windows so large that responses never wait for WINDOW_UPDATE. */
enum { CLIENT_STREAM_WINDOW = 1 << 20, CONNECTION_WINDOW = 1 << 30 };

/* Streams that a client may reset in a burst, and per second afterwards, before our server closes the connection. */
enum { RESET_BURST = 10000, RESET_RATE = 1000 };

/* nghttp2's limit of streams before the peer's SETTINGS; of no effect, as no request is submitted until then. */
enum { PEER_STREAMS_BEFORE_SETTINGS = 100 };

static nghttp2_option *options_make(void) {
    nghttp2_option *options;
    if (nghttp2_option_new(&options) != 0) return NULL;
    nghttp2_option_set_peer_max_concurrent_streams(options, PEER_STREAMS_BEFORE_SETTINGS);
    nghttp2_option_set_no_closed_streams(options, 1);
    nghttp2_option_set_no_http_messaging(options, 1);
    nghttp2_option_set_stream_reset_rate_limit(options, RESET_BURST, RESET_RATE);
    return options;
}

static int ng_create(apns_h2_session *session) {
    nghttp2_mem mem = apns_h2_memory_library(session->memory);
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *options = options_make();
    int result = NGHTTP2_ERR_NOMEM;
    if (options != NULL && nghttp2_session_callbacks_new(&callbacks) == 0) {
        apns_h2_receive_callbacks_set(callbacks);
        nghttp2_session_callbacks_set_send_data_callback(callbacks, session->side->data_send);
        result = session->side->library_new(&session->ng, callbacks, session, options, &mem);
    }
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(options);
    return result;
}

apns_h2_session *apns_h2_session_open(const h2_side *side, const apns_h2_session_options *options) {
    apns_h2_session *session = calloc(1, side->session_bytes);
    if (session == NULL) return NULL;
    session->side = side;
    session->memory = options->memory;
    session->pool = options->pool;
    session->output = options->output;
    session->captures = options->captures;
    session->capture_count = options->capture_count;
    for (uint32_t i = 0; i < options->capture_count; i++)
        if (options->captures[i].name_length < 64)
            session->capture_lengths |= UINT64_C(1) << options->captures[i].name_length;
    session->body_received_max = options->body_received_max;
    session->changed_last = &session->changed_first;
    session->deferred_last = &session->deferred_first;
    apns_h2_flow_init(&session->flow);
    apns_h2_encoder_init(&session->encoder, options->memory);
    apns_h2_decoder_init(&session->decoder, options->memory);
    if (ng_create(session) == 0) return session;
    apns_h2_session_destroy(session);
    return NULL;
}

apns_h2_session *apns_h2_session_settle(apns_h2_session *session, uint32_t window, nghttp2_settings_entry own) {
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, APNS_H2_HEADER_LIST_BYTES_MAX},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window},
        own,
    };
    if (nghttp2_submit_settings(session->ng, NGHTTP2_FLAG_NONE, settings, 4) == 0 &&
        nghttp2_session_set_local_window_size(session->ng, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW) == 0)
        return session;
    apns_h2_session_destroy(session);
    return NULL;
}

apns_h2_session *apns_h2_session_create(const apns_h2_session_options *options) {
    apns_h2_session *session = apns_h2_session_open(&apns_h2_client_side, options);
    const nghttp2_settings_entry no_push = {NGHTTP2_SETTINGS_ENABLE_PUSH, 0};
    return session == NULL ? NULL : apns_h2_session_settle(session, CLIENT_STREAM_WINDOW, no_push);
}

void apns_h2_session_destroy(apns_h2_session *session) {
    if (session == NULL) return;
    nghttp2_session_del(session->ng);
    session->side->waiting_clear(session);
    apns_h2_encoder_clear(&session->encoder);
    apns_h2_decoder_clear(&session->decoder);
    apns_h2_inbound_clear(session);
    apns_h2_pool_message_give(session->pool, session->kept);
    free(session);
}

int apns_h2_session_fail(apns_h2_session *session, int32_t kind, int32_t code, const char *text) {
    if (session->failure.scope != APNS_H2_FAILURE_NONE) return session->failure.status;
    char whole[sizeof(session->failure.text)];
    snprintf(whole, sizeof(whole), "HTTP/2: %s", text);
    int status = kind == APNS_H2_FAILURE_PROTOCOL || kind == APNS_H2_FAILURE_LIMIT ? APNS_PEER : APNS_RESOURCE;
    return apns_error_set(&session->failure, status, kind, code, whole);
}

int apns_h2_session_fail_library(apns_h2_session *session, int code) {
    int32_t kind = APNS_H2_FAILURE_PROTOCOL;
    if (code == NGHTTP2_ERR_NOMEM)
        kind = APNS_H2_FAILURE_MEMORY;
    else if (code == NGHTTP2_ERR_FLOODED || code == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS)
        kind = APNS_H2_FAILURE_LIMIT;
    else if (code == NGHTTP2_ERR_CALLBACK_FAILURE)
        kind = APNS_H2_FAILURE_OUTPUT;
    return apns_h2_session_fail(session, kind, code, nghttp2_strerror(code));
}

int apns_h2_session_receive(apns_h2_session *session, const uint8_t *bytes, size_t length) {
    session->drained = false;
    return apns_h2_inbound_receive(session, bytes, length);
}

int apns_h2_session_pump(apns_h2_session *session) {
    return session->side->pump(session);
}

bool apns_h2_session_waits(const apns_h2_session *session) {
    return session->waiting > 0;
}

bool apns_h2_session_pending(const apns_h2_session *session) {
    return !session->drained || session->waiting > 0;
}

void apns_h2_session_changed_add(apns_h2_session *session, apns_h2_exchange *exchange) {
    APNS_ASSERT(*session->changed_last == NULL);
    if ((exchange->facts & APNS_H2_LISTED) != 0) return;
    exchange->facts |= APNS_H2_LISTED;
    exchange->next = NULL;
    *session->changed_last = exchange;
    session->changed_last = &exchange->next;
}

apns_h2_exchange *apns_h2_session_changed_take(apns_h2_session *session) {
    apns_h2_exchange *first = session->changed_first;
    session->changed_first = NULL;
    session->changed_last = &session->changed_first;
    return first;
}

apns_h2_facts *apns_h2_session_facts(apns_h2_session *session) {
    return &session->facts;
}

const apns_error *apns_h2_session_failure(const apns_h2_session *session) {
    return &session->failure;
}

uint32_t apns_h2_session_peer_streams_max(const apns_h2_session *session) {
    return nghttp2_session_get_remote_settings(session->ng, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

uint32_t apns_h2_session_open_count(const apns_h2_session *session) {
    return session->open_count;
}

int32_t apns_h2_session_written_stream(const apns_h2_session *session) {
    return session->written_stream;
}

int apns_h2_session_submitted(apns_h2_session *session, int result) {
    session->drained = false;
    return result < 0 ? apns_h2_session_fail_library(session, result) : 0;
}

int apns_h2_session_ping(apns_h2_session *session, uint64_t opaque) {
    uint8_t bytes[8];
    memcpy(bytes, &opaque, sizeof(bytes));
    return apns_h2_session_submitted(session, nghttp2_submit_ping(session->ng, NGHTTP2_FLAG_NONE, bytes));
}

int apns_h2_session_goaway(apns_h2_session *session, uint32_t code, const uint8_t *debug, size_t debug_length) {
    session->goaway_own = true;
    session->goaway_own_code = code;
    int32_t last = nghttp2_session_get_last_proc_stream_id(session->ng);
    return apns_h2_session_submitted(
        session, nghttp2_submit_goaway(session->ng, NGHTTP2_FLAG_NONE, last, code, debug, debug_length));
}
