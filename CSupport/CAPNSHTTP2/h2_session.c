#include "h2_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Windows so large that responses never wait for WINDOW_UPDATE. */
enum { CLIENT_STREAM_WINDOW = 1 << 20, CONNECTION_WINDOW = 1 << 30 };

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
    if (apns_h2_library_open(session, side->serves)) return session;
    apns_h2_session_destroy(session);
    return NULL;
}

apns_h2_session *apns_h2_session_settle(apns_h2_session *session, uint32_t window, h2_setting own) {
    const h2_setting settings[] = {
        {H2_NO_RFC7540_PRIORITIES, 1},
        {H2_MAX_HEADER_LIST_SIZE, APNS_H2_HEADER_LIST_BYTES_MAX},
        {H2_INITIAL_WINDOW_SIZE, window},
        own,
    };
    if (apns_h2_library_settings(session, settings, 4) == 0 && apns_h2_library_window(session, CONNECTION_WINDOW) == 0)
        return session;
    apns_h2_session_destroy(session);
    return NULL;
}

apns_h2_session *apns_h2_session_create(const apns_h2_session_options *options) {
    apns_h2_session *session = apns_h2_session_open(&apns_h2_client_side, options);
    const h2_setting no_push = {H2_ENABLE_PUSH, 0};
    return session == NULL ? NULL : apns_h2_session_settle(session, CLIENT_STREAM_WINDOW, no_push);
}

void apns_h2_session_destroy(apns_h2_session *session) {
    if (session == NULL) return;
    apns_h2_library_close(session);
    session->side->waiting_clear(session);
    apns_h2_resets_clear(session);
    apns_h2_encoder_clear(&session->encoder);
    apns_h2_decoder_clear(&session->decoder);
    apns_h2_inbound_clear(session);
    apns_h2_pool_message_give(session->pool, session->kept);
    free(session);
}

int apns_h2_session_fail(apns_h2_session *session, int32_t kind, uint32_t code, const char *text) {
    if (h2_failed(session)) return session->failure.status;
    char whole[sizeof(session->failure.text)];
    snprintf(whole, sizeof(whole), "HTTP/2: %s", text);
    bool by_peer = kind == APNS_H2_FAILURE_PROTOCOL || kind == APNS_H2_FAILURE_LIMIT;
    return apns_error_set(&session->failure, by_peer ? APNS_PEER : APNS_RESOURCE, kind, code, whole);
}

int apns_h2_session_fail_output(apns_h2_session *session) {
    return apns_h2_session_fail(session, APNS_H2_FAILURE_OUTPUT, APNS_H2_INTERNAL_ERROR, "the output failed");
}

int apns_h2_session_receive(apns_h2_session *session, const uint8_t *bytes, size_t length) {
    session->drained = false;
    return apns_h2_inbound_receive(session, bytes, length);
}

int apns_h2_session_pump(apns_h2_session *session) {
    return h2_failed(session) ? session->failure.status : session->side->pump(session);
}

bool apns_h2_session_pending(const apns_h2_session *session) {
    return !session->drained || session->waiting > 0 || h2_failed(session);
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
    return apns_h2_library_peer_streams_max(session);
}

uint32_t apns_h2_session_open_count(const apns_h2_session *session) {
    return session->streams + (session->side->serves ? 0 : session->waiting);
}

int32_t apns_h2_session_written_stream(const apns_h2_session *session) {
    return session->written_stream;
}

int apns_h2_session_submitted(apns_h2_session *session, int result) {
    session->drained = false;
    return result;
}

int apns_h2_session_ping(apns_h2_session *session, uint64_t opaque) {
    if (h2_failed(session)) return session->failure.status;
    uint8_t bytes[8];
    memcpy(bytes, &opaque, sizeof(bytes));
    return apns_h2_session_submitted(session, apns_h2_library_ping(session, bytes));
}

int apns_h2_session_goaway(apns_h2_session *session, uint32_t code, const uint8_t *debug, size_t debug_length) {
    if (h2_failed(session)) return session->failure.status;
    session->goaway_code = code;
    int32_t last = apns_h2_library_last_stream(session);
    return apns_h2_session_submitted(session, apns_h2_library_goaway(session, last, code, debug, debug_length));
}
