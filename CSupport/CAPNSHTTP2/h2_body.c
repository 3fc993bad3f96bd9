#include "h2_internal.h"
#include <string.h>

/* Bodies of requests: DATA frames, and the peer's flow control (RFC 9113, sections 5.2 and 6.9). nghttp2 takes each
 * request for one without a body, and is shown a WINDOW_UPDATE only if it does not fit a stream that was begun. */

/* A body that waits for a window to open, or for the output. */
struct h2_body {
    struct h2_body *next;
    apns_h2_exchange *exchange;
};

static bool is_sent(const apns_h2_exchange *exchange) {
    return exchange->body_sent == exchange->body_length;
}

static int64_t stream_window(const apns_h2_session *session, const apns_h2_exchange *exchange) {
    return session->flow.stream_window + exchange->window_added - exchange->body_sent;
}

void apns_h2_flow_init(h2_flow *flow) {
    flow->window = H2_WINDOW_INITIAL;
    flow->stream_window = H2_WINDOW_INITIAL;
    flow->last = &flow->first;
}

/* Returns how much the next frame may have of a body; 0 or less for nothing. */
static int64_t frame_room(const apns_h2_session *session, const apns_h2_exchange *exchange) {
    int64_t room = exchange->body_length - exchange->body_sent;
    int64_t window = stream_window(session, exchange);
    if (room > H2_FRAME_BYTES_MAX) room = H2_FRAME_BYTES_MAX;
    if (room > session->flow.window) room = session->flow.window;
    return room > window ? window : room;
}

/* Writes what may be sent of a body, until the output is paused. */
static int body_write(apns_h2_session *session, apns_h2_exchange *exchange) {
    while (!is_sent(exchange) && !session->output->paused) {
        int64_t room = frame_room(session, exchange);
        if (room <= 0) break;
        uint32_t now = (uint32_t)room;
        const uint8_t *bytes = exchange->body + exchange->body_sent;
        exchange->body_sent += now;
        session->flow.window -= now;
        uint8_t header[H2_FRAME_HEADER_BYTES];
        h2_frame_header_write(header, now, H2_DATA, is_sent(exchange) ? H2_FLAG_END_STREAM : 0,
                              (uint32_t)exchange->stream);
        if (h2_send_append(session->output, header, sizeof(header)) != 0 ||
            h2_send_append(session->output, bytes, now) != 0)
            return apns_h2_session_fail_output(session);
    }
    APNS_ASSERT(exchange->body_sent <= exchange->body_length && session->flow.window >= 0);
    return 0;
}

/* What stops the bodies that come next, too. */
static bool is_stopped(const apns_h2_session *session) {
    return session->flow.window <= 0 || session->output->paused;
}

/* A paused output is a reason to pump again; a closed window is not, because the peer's frame that opens it is one. */
static void rest_note(apns_h2_session *session) {
    if (session->output->paused) session->drained = false;
}

int apns_h2_body_begin(apns_h2_session *session, apns_h2_exchange *exchange) {
    h2_flow *flow = &session->flow;
    APNS_ASSERT(exchange->stream == session->written_stream && exchange->body_sent == 0 && *flow->last == NULL);
    bool waits = flow->first != NULL && is_stopped(session); /* after those that have waited longer */
    if (!waits && body_write(session, exchange) != 0) return session->failure.status;
    if (is_sent(exchange)) return 0;
    h2_body *body = apns_h2_memory_take(session->memory, sizeof(*body));
    if (body == NULL)
        return apns_h2_session_fail(session, APNS_H2_FAILURE_MEMORY, APNS_H2_INTERNAL_ERROR,
                                    "no memory for a request's body that waits");
    *body = (h2_body){.exchange = exchange};
    *flow->last = body;
    flow->last = &body->next;
    rest_note(session);
    return 0;
}

static void body_unlink(apns_h2_session *session, h2_body **link) {
    h2_body *body = *link;
    *link = body->next;
    if (body->next == NULL) session->flow.last = link;
    apns_h2_memory_give(session->memory, body);
}

int apns_h2_bodies_continue(apns_h2_session *session) {
    h2_body **link = &session->flow.first;
    while (*link != NULL && !is_stopped(session)) {
        if (body_write(session, (*link)->exchange) != 0) return session->failure.status;
        if (is_sent((*link)->exchange))
            body_unlink(session, link);
        else
            link = &(*link)->next;
    }
    if (session->flow.first != NULL) rest_note(session);
    return 0;
}

bool apns_h2_session_waits_for_window(const apns_h2_session *session) {
    const h2_body *first = session->flow.first;
    return first != NULL && frame_room(session, first->exchange) <= 0;
}

void apns_h2_body_drop(apns_h2_session *session, int32_t stream) {
    for (h2_body **link = &session->flow.first; *link != NULL; link = &(*link)->next)
        if ((*link)->exchange->stream == stream) {
            body_unlink(session, link);
            return;
        }
}

/* What the stream of an answer that has ended is still to be reset with, if at all. */
static bool is_to_be_reset(const apns_h2_exchange *exchange, uint32_t *code) {
    *code = APNS_H2_CANCEL;
    if (exchange == NULL) return true; /* abandoned, and the peer may not have been informed yet */
    bool malformed = (exchange->facts & APNS_H2_MALFORMED) != 0;
    *code = malformed ? APNS_H2_PROTOCOL_ERROR : APNS_H2_NO_ERROR;
    return malformed || !is_sent(exchange);
}

void apns_h2_body_end(apns_h2_session *session, int32_t stream, const apns_h2_exchange *exchange, uint32_t code) {
    if (exchange != NULL && !is_sent(exchange)) apns_h2_body_drop(session, stream);
    bool by_its_end = code == APNS_H2_NO_ERROR && stream != session->last_reset && stream <= session->written_stream;
    if (by_its_end && is_to_be_reset(exchange, &code)) apns_h2_reset_add(session, stream, code);
}

void apns_h2_bodies_clear(apns_h2_session *session) {
    while (session->flow.first != NULL)
        body_unlink(session, &session->flow.first);
    APNS_ASSERT(session->flow.last == &session->flow.first);
}

/* RFC 9113, section 6.9.1: a window that becomes too large is an error of its stream. */
static int stream_update(apns_h2_session *session, int32_t stream, uint32_t increment) {
    apns_h2_exchange *exchange = apns_h2_library_exchange(session, stream);
    if (exchange == NULL) return 0; /* closed or abandoned */
    if (stream_window(session, exchange) + increment > H2_WINDOW_MAX)
        return apns_h2_library_reset(session, stream, APNS_H2_FLOW_CONTROL_ERROR);
    exchange->window_added += increment;
    return 0;
}

/* Likewise, of the connection. */
static int connection_update(apns_h2_session *session, uint32_t increment) {
    if (session->flow.window + increment > H2_WINDOW_MAX)
        return apns_h2_session_fail(session, APNS_H2_FAILURE_PROTOCOL, APNS_H2_FLOW_CONTROL_ERROR,
                                    "WINDOW_UPDATE: the window of the connection is too large");
    session->flow.window += increment;
    return 0;
}

int apns_h2_window_update(apns_h2_session *session, const uint8_t *frame) {
    int32_t stream = h2_frame_stream(frame);
    uint32_t increment = h2_big_endian(frame + H2_FRAME_HEADER_BYTES) & H2_WINDOW_MAX;
    bool known = stream == 0 || (stream % 2 == 1 && stream <= session->written_stream);
    if (!known || increment == 0) return apns_h2_library_feed(session, frame, H2_WINDOW_UPDATE_BYTES);
    return stream == 0 ? connection_update(session, increment) : stream_update(session, stream, increment);
}
