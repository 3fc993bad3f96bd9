#include "h2_internal.h"
#include <string.h>

static void changed_closed(apns_h2_session *session, apns_h2_exchange *exchange, uint32_t error_code) {
    APNS_REQUIRE(session->open_count > 0);
    session->open_count--;
    exchange->facts |= APNS_H2_CLOSED;
    exchange->error_code = error_code;
    apns_h2_session_changed_add(session, exchange);
}

/* Submits a request to nghttp2 and writes it at once, so that its memory is still in the cache and nghttp2 queues
 * nothing. Returns 1 if no stream number is left. */
static int submit(apns_h2_session *session, apns_h2_exchange *exchange, const apns_h2_request *request) {
    int32_t stream = nghttp2_submit_request(session->ng, NULL, NULL, 0, NULL, exchange);
    if (stream == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE) return 1;
    if (stream < 0) return apns_h2_session_fail_library(session, stream);
    APNS_ASSERT(stream > session->written_stream && session->request == NULL);
    exchange->stream = stream;
    session->drained = false;
    session->request = request;
    session->request_body_length = exchange->body_length;
    int result = apns_h2_send_library_until(session, stream);
    session->request = NULL;
    if (result != 0 || (exchange->facts & APNS_H2_CLOSED) != 0) return result;
    if (session->written_stream < stream)
        return apns_h2_session_fail(session, APNS_H2_FAILURE_MEMORY, NGHTTP2_ERR_INTERNAL, "a request was not written");
    return exchange->body_length > 0 ? apns_h2_body_begin(session, exchange) : 0;
}

static int defer(apns_h2_session *session, apns_h2_exchange *exchange, const apns_h2_request *request) {
    h2_deferred *deferred = apns_h2_memory_take(session->memory, sizeof(*deferred));
    if (deferred == NULL)
        return apns_h2_session_fail(session, APNS_H2_FAILURE_MEMORY, 0, "no memory for a request that waits");
    deferred->next = NULL;
    deferred->exchange = exchange;
    deferred->request = *request;
    deferred->request.fields = deferred->fields;
    if (request->field_count > 0)
        memcpy(deferred->fields, request->fields, request->field_count * sizeof(apns_h2_field));
    request->set->references++;
    if (request->shared != NULL) request->shared->references++;
    *session->deferred_last = deferred;
    session->deferred_last = &deferred->next;
    return 0;
}

static void deferred_free(apns_h2_session *session, h2_deferred *deferred) {
    apns_h2_header_set_destroy(deferred->request.set);
    apns_h2_header_set_destroy(deferred->request.shared);
    apns_h2_memory_give(session->memory, deferred);
}

static h2_deferred *deferred_unlink(apns_h2_session *session, h2_deferred **link) {
    h2_deferred *deferred = *link;
    *link = deferred->next;
    if (deferred->next == NULL) session->deferred_last = link;
    return deferred;
}

/* Submits the oldest deferred request, or closes it with REFUSED_STREAM if the peer has lowered its limit of streams in
 * the meantime. */
static int deferred_submit(apns_h2_session *session) {
    h2_deferred *deferred = deferred_unlink(session, &session->deferred_first);
    APNS_REQUIRE(session->waiting > 0 && session->waiting <= session->open_count);
    session->waiting--;
    int result = 1;
    if (session->open_count - session->waiting <= apns_h2_session_peer_streams_max(session))
        result = submit(session, deferred->exchange, &deferred->request);
    if (result > 0) changed_closed(session, deferred->exchange, APNS_H2_REFUSED_STREAM);
    deferred_free(session, deferred);
    return result < 0 ? result : 0;
}

static void deferred_clear(apns_h2_session *session) {
    while (session->deferred_first != NULL)
        deferred_free(session, deferred_unlink(session, &session->deferred_first));
    APNS_ASSERT(session->deferred_last == &session->deferred_first);
    session->waiting = 0;
    apns_h2_bodies_clear(session);
}

int apns_h2_client_submit(apns_h2_session *session, apns_h2_exchange *exchange, const apns_h2_request *request) {
    APNS_REQUIRE(request->set != NULL && request->field_count <= APNS_H2_REQUEST_FIELDS_MAX && exchange->stream == 0);
    if (!session->drained && apns_h2_session_pump(session) != 0) return session->failure.status;
    if (session->failure.scope != APNS_H2_FAILURE_NONE) return session->failure.status;
    int result = 0;
    if (session->output->paused || session->deferred_first != NULL || !session->drained) {
        result = defer(session, exchange, request);
        session->waiting += result == 0;
    } else {
        result = submit(session, exchange, request);
    }
    session->open_count += result == 0;
    return result;
}

static int deferred_cancel(apns_h2_session *session, const apns_h2_exchange *exchange) {
    for (h2_deferred **link = &session->deferred_first; *link != NULL; link = &(*link)->next) {
        if ((*link)->exchange != exchange) continue;
        deferred_free(session, deferred_unlink(session, link));
        APNS_REQUIRE(session->waiting > 0 && session->open_count > 0);
        session->waiting--;
        session->open_count--;
        break;
    }
    return 0;
}

int apns_h2_client_abandon(apns_h2_session *session, apns_h2_exchange *exchange, uint32_t code) {
    if (exchange->stream == 0) return deferred_cancel(session, exchange);
    nghttp2_session_set_stream_user_data(session->ng, exchange->stream, NULL);
    if (exchange == session->current) session->current = NULL;
    apns_h2_body_drop(session, exchange->stream);
    session->drained = false;
    int result = nghttp2_submit_rst_stream(session->ng, NGHTTP2_FLAG_NONE, exchange->stream, code);
    return result < 0 ? apns_h2_session_fail_library(session, result) : 0;
}

static int pump(apns_h2_session *session) {
    int result = session->flow.first == NULL ? 0 : apns_h2_bodies_reset(session);
    if (result == 0) result = apns_h2_send_library(session);
    if (result == 0) result = apns_h2_bodies_continue(session);
    while (result == 0 && session->deferred_first != NULL && !session->output->paused)
        result = deferred_submit(session);
    return result;
}

const h2_side apns_h2_client_side = {
    .session_bytes = sizeof(apns_h2_session),
    .library_new = nghttp2_session_client_new3,
    .late_receive = apns_h2_late_receive,
    .window_update = apns_h2_window_update,
    .pseudo_read = apns_h2_answer_pseudo_read,
    .keep = apns_h2_answer_keep,
    .head_take = apns_h2_answer_head_take,
    .fields_end = apns_h2_answer_fields_end,
    .body_begin = apns_h2_receive_response_body,
    .body_end = apns_h2_body_end,
    .frame_append = apns_h2_send_client_frame,
    .pump = pump,
    .waiting_clear = deferred_clear,
};
