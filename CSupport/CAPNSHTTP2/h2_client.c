#include "h2_internal.h"

/* Submits a request to nghttp2 and writes it at once, so that its memory is still in the cache and nghttp2 queues
 * nothing. Returns 1 if no stream number is left. */
static int submit(apns_h2_session *session, apns_h2_exchange *exchange, const apns_h2_request *request) {
    int32_t stream = apns_h2_library_request(session, exchange);
    if (stream <= 0) return stream == 0 ? 1 : stream;
    APNS_ASSERT(session->request == NULL && stream > session->written_stream);
    exchange->stream = stream;
    session->streams++;
    session->drained = false;
    session->request = request;
    session->request_body_length = exchange->body_length;
    int result = apns_h2_send_library_until(session, stream);
    session->request = NULL;
    if (result != 0 || (exchange->facts & APNS_H2_CLOSED) != 0) return result;
    if (session->written_stream != stream)
        return apns_h2_session_fail(session, APNS_H2_FAILURE_LIBRARY, APNS_H2_INTERNAL_ERROR,
                                    "nghttp2 has not written a request");
    return exchange->body_length > 0 ? apns_h2_body_begin(session, exchange) : 0;
}

static int defer(apns_h2_session *session, apns_h2_exchange *exchange, const apns_h2_request *request) {
    h2_deferred *deferred = apns_h2_memory_take(session->memory, sizeof(*deferred));
    if (deferred == NULL)
        return apns_h2_session_fail(session, APNS_H2_FAILURE_MEMORY, APNS_H2_INTERNAL_ERROR,
                                    "no memory for a request that waits");
    deferred->next = NULL;
    deferred->exchange = exchange;
    deferred->request = *request;
    deferred->request.fields = deferred->fields;
    if (request->field_count > 0)
        memcpy(deferred->fields, request->fields, request->field_count * sizeof(apns_h2_field));
    request->set->references++;
    if (request->shared != NULL) request->shared->references++;
    APNS_ASSERT(*session->deferred_last == NULL);
    *session->deferred_last = deferred;
    session->deferred_last = &deferred->next;
    session->waiting++;
    return 0;
}

static void deferred_free(apns_h2_session *session, h2_deferred *deferred) {
    apns_h2_header_set_destroy(deferred->request.set);
    apns_h2_header_set_destroy(deferred->request.shared);
    apns_h2_memory_give(session->memory, deferred);
}

static h2_deferred *deferred_unlink(apns_h2_session *session, h2_deferred **link) {
    h2_deferred *deferred = *link;
    APNS_REQUIRE(session->waiting > 0);
    session->waiting--;
    *link = deferred->next;
    if (deferred->next == NULL) session->deferred_last = link;
    APNS_ASSERT((session->deferred_first == NULL) == (session->waiting == 0));
    return deferred;
}

/* Closes a request that has no stream: the peer's limit or the numbers do not allow one. */
static void refuse(apns_h2_session *session, apns_h2_exchange *exchange) {
    exchange->error_code = APNS_H2_REFUSED_STREAM;
    apns_h2_receive_fact_add(session, exchange, APNS_H2_CLOSED);
}

/* Submits the oldest deferred request, or closes it with REFUSED_STREAM if the peer has lowered its limit of streams in
 * the meantime. */
static int deferred_submit(apns_h2_session *session) {
    h2_deferred *deferred = deferred_unlink(session, &session->deferred_first);
    int result = 1;
    if (session->streams < apns_h2_session_peer_streams_max(session))
        result = submit(session, deferred->exchange, &deferred->request);
    if (result > 0) refuse(session, deferred->exchange);
    deferred_free(session, deferred);
    return result < 0 ? result : 0;
}

static void deferred_clear(apns_h2_session *session) {
    while (session->deferred_first != NULL)
        deferred_free(session, deferred_unlink(session, &session->deferred_first));
    APNS_ASSERT(session->deferred_last == &session->deferred_first && session->waiting == 0);
    apns_h2_bodies_clear(session);
}

int apns_h2_client_submit(apns_h2_session *session, apns_h2_exchange *exchange, const apns_h2_request *request) {
    APNS_REQUIRE(request->set != NULL && request->field_count <= APNS_H2_REQUEST_FIELDS_MAX && exchange->stream == 0);
    if (h2_failed(session)) return session->failure.status;
    if (!session->drained && apns_h2_session_pump(session) != 0) return session->failure.status;
    bool at_once = session->drained && !session->output->paused && session->deferred_first == NULL;
    return at_once ? submit(session, exchange, request) : defer(session, exchange, request);
}

static void deferred_cancel(apns_h2_session *session, const apns_h2_exchange *exchange) {
    for (h2_deferred **link = &session->deferred_first; *link != NULL; link = &(*link)->next) {
        if ((*link)->exchange != exchange) continue;
        deferred_free(session, deferred_unlink(session, link));
        return;
    }
}

int apns_h2_client_abandon(apns_h2_session *session, apns_h2_exchange *exchange, uint32_t code) {
    if (exchange->stream == 0) {
        deferred_cancel(session, exchange);
        return session->failure.status;
    }
    /* The session refers to the exchange no longer, even if it has failed. */
    if (exchange == session->current) session->current = NULL;
    apns_h2_body_drop(session, exchange->stream);
    apns_h2_library_exchange_set(session, exchange->stream, NULL);
    if (h2_failed(session)) return session->failure.status;
    return apns_h2_session_submitted(session, apns_h2_library_reset(session, exchange->stream, code));
}

/* Writes the frames that are no part of a request. */
static int finish(apns_h2_session *session) {
    return apns_h2_send_library(session) != 0 ? session->failure.status : apns_h2_resets_write(session);
}

static int pump(apns_h2_session *session) {
    if (finish(session) != 0 || apns_h2_bodies_continue(session) != 0) return session->failure.status;
    while (session->deferred_first != NULL && !session->output->paused)
        if (deferred_submit(session) != 0) return session->failure.status;
    return 0;
}

const h2_side apns_h2_client_side = {
    .session_bytes = sizeof(apns_h2_session),
    .late_receive = apns_h2_late_receive,
    .window_update = apns_h2_window_update,
    .pseudo_read = apns_h2_answer_pseudo_read,
    .keep = apns_h2_answer_keep,
    .head_take = apns_h2_answer_head_take,
    .fields_end = apns_h2_answer_fields_end,
    .body_begin = apns_h2_receive_response_body,
    .stream_end = apns_h2_body_end,
    .frame_append = apns_h2_send_client_frame,
    .pump = pump,
    .finish = finish,
    .waiting_clear = deferred_clear,
};
