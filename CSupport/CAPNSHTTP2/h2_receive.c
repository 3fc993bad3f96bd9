#include "h2_internal.h"
#include <string.h>

int apns_h2_receive_field_limit(apns_h2_session *session) {
    apns_h2_session_fail(session, APNS_H2_FAILURE_LIMIT, NGHTTP2_ERR_FRAME_SIZE_ERROR,
                         "the peer sent too large a header list");
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

int apns_h2_receive_memory_limit(apns_h2_session *session) {
    apns_h2_session_fail(session, APNS_H2_FAILURE_MEMORY, NGHTTP2_ERR_NOMEM, "no memory for what the peer sent");
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_begin_headers(nghttp2_session *ng, const nghttp2_frame *frame, void *user) {
    apns_h2_session *session = user;
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST && session->side->stream_begin != NULL) {
        session->open_count++;
        return session->side->stream_begin(session, frame->hd.stream_id);
    }
    session->current = nghttp2_session_get_stream_user_data(ng, frame->hd.stream_id);
    return 0;
}

apns_h2_message *apns_h2_receive_response_body(apns_h2_session *session, apns_h2_exchange *exchange) {
    exchange->message = apns_h2_message_take(session->pool);
    if (exchange->message == NULL) apns_h2_receive_memory_limit(session);
    return exchange->message;
}

/* Resets a stream whose message is malformed (RFC 9113, section 8.1.1). */
static int message_refuse(apns_h2_session *session, apns_h2_exchange *exchange) {
    exchange->facts |= APNS_H2_MALFORMED;
    int result = nghttp2_submit_rst_stream(session->ng, NGHTTP2_FLAG_NONE, exchange->stream, NGHTTP2_PROTOCOL_ERROR);
    return result < 0 ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

/* Adds to the number of body bytes received; returns whether the message may have so many. */
static bool body_count(apns_h2_exchange *exchange, size_t length) {
    uint32_t room = UINT32_MAX - exchange->body_received;
    exchange->body_received = length > room ? UINT32_MAX : exchange->body_received + (uint32_t)length;
    if ((exchange->facts & APNS_H2_HEAD) == 0) return false;
    return exchange->content_length == -1 || exchange->body_received <= exchange->content_length;
}

/* Whether a message may end here. The length of a body beyond 4 GiB is not compared. */
static bool end_fits(const apns_h2_exchange *exchange) {
    if ((exchange->facts & APNS_H2_HEAD) == 0) return false; /* the final answer is missing */
    return exchange->content_length == -1 || exchange->content_length == exchange->body_received ||
           exchange->body_received == UINT32_MAX;
}

/* Applies trailers (RFC 9113, section 8.1). */
static bool trailers_take(const h2_head *head, apns_h2_exchange *exchange, bool last) {
    if (head->malformed || head->pseudo != 0 || !last) return false;
    if (head->content_length == -1) return true;
    bool first = exchange->content_length == -1;
    exchange->content_length = head->content_length;
    return first;
}

static int on_data(nghttp2_session *ng, uint8_t flags, int32_t stream, const uint8_t *bytes, size_t length,
                   void *user) {
    (void)flags;
    apns_h2_session *session = user;
    apns_h2_exchange *exchange = nghttp2_session_get_stream_user_data(ng, stream);
    if (exchange == NULL || (exchange->facts & APNS_H2_MALFORMED) != 0) return 0;
    if (!body_count(exchange, length)) return message_refuse(session, exchange);
    if (exchange->message == NULL && session->side->body_begin(session, exchange) == NULL)
        return session->failure.scope == APNS_H2_FAILURE_NONE ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
    APNS_REQUIRE(exchange->message->body_length <= session->body_received_max);
    size_t room = session->body_received_max - exchange->message->body_length;
    size_t kept = length < room ? length : room;
    if (kept == 0) return 0;
    return apns_h2_message_body_add(session->pool, exchange->message, bytes, kept)
               ? 0
               : apns_h2_receive_memory_limit(session);
}

void apns_h2_goaway_note(apns_h2_facts *facts, int32_t last_stream, uint32_t code, const uint8_t *debug,
                         size_t length) {
    uint32_t i = facts->goaway_count < APNS_H2_GOAWAYS_KEPT ? facts->goaway_count++ : APNS_H2_GOAWAYS_KEPT - 1;
    apns_h2_goaway *goaway = &facts->goaways[i];
    size_t kept = length < APNS_H2_DEBUG_BYTES_MAX ? length : (size_t)APNS_H2_DEBUG_BYTES_MAX;
    goaway->last_stream = last_stream;
    goaway->code = code;
    goaway->debug_length = (uint32_t)kept;
    if (kept > 0) memcpy(goaway->debug, debug, kept);
}

static void settings_note(apns_h2_session *session) {
    if (session->facts.settings_count < UINT32_MAX) session->facts.settings_count++;
    session->flow.stream_window =
        nghttp2_session_get_remote_settings(session->ng, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE);
    apns_h2_encoder_table_allow(&session->encoder,
                                nghttp2_session_get_remote_settings(session->ng, NGHTTP2_SETTINGS_HEADER_TABLE_SIZE));
}

void apns_h2_receive_fact_add(apns_h2_session *session, apns_h2_exchange *exchange, uint8_t fact) {
    if (exchange == NULL) return;
    exchange->facts |= fact;
    apns_h2_session_changed_add(session, exchange);
}

static int body_end(apns_h2_session *session, apns_h2_exchange *exchange) {
    if (exchange == NULL) return 0;
    if (!end_fits(exchange)) return message_refuse(session, exchange);
    apns_h2_receive_fact_add(session, exchange, APNS_H2_COMPLETE);
    return 0;
}

/* The header block that was received last belongs to an open stream. */
static int headers_end(apns_h2_session *session, apns_h2_exchange *exchange, bool last) {
    if (exchange == NULL) return 0;
    bool trailers = (exchange->facts & APNS_H2_HEAD) != 0;
    bool good =
        trailers ? trailers_take(&session->head, exchange, last) : session->side->head_take(&session->head, exchange);
    if (!good || (last && !end_fits(exchange))) return message_refuse(session, exchange);
    session->side->fields_end(session, exchange);
    if (last) apns_h2_receive_fact_add(session, exchange, APNS_H2_COMPLETE);
    return 0;
}

static int on_frame(nghttp2_session *ng, const nghttp2_frame *frame, void *user) {
    apns_h2_session *session = user;
    bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
        return headers_end(session, session->current, last);
    case NGHTTP2_DATA:
        return last ? body_end(session, nghttp2_session_get_stream_user_data(ng, frame->hd.stream_id)) : 0;
    case NGHTTP2_RST_STREAM:
        apns_h2_body_drop(session, frame->hd.stream_id);
        break;
    case NGHTTP2_SETTINGS:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) settings_note(session);
        break;
    case NGHTTP2_PING:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) {
            memcpy(&session->facts.pong_opaque, frame->ping.opaque_data, sizeof(session->facts.pong_opaque));
            session->facts.pong_count++;
        }
        break;
    case NGHTTP2_GOAWAY:
        apns_h2_goaway_note(&session->facts, frame->goaway.last_stream_id, frame->goaway.error_code,
                            frame->goaway.opaque_data, frame->goaway.opaque_data_len);
        break;
    default:
        break;
    }
    return 0;
}

static int on_close(nghttp2_session *ng, int32_t stream, uint32_t error_code, void *user) {
    apns_h2_session *session = user;
    /* Most streams close at the end of the header block just received. */
    apns_h2_exchange *exchange = session->current;
    if (exchange == NULL || exchange->stream != stream) exchange = nghttp2_session_get_stream_user_data(ng, stream);
    APNS_REQUIRE(session->open_count > 0);
    session->open_count--;
    if (exchange == NULL) return 0;
    if (exchange == session->current) session->current = NULL;
    /* nghttp2 closes the stream of a malformed answer at its end, before RST_STREAM is sent. */
    bool malformed = (exchange->facts & APNS_H2_MALFORMED) != 0 && error_code == NGHTTP2_NO_ERROR;
    exchange->error_code = malformed ? NGHTTP2_PROTOCOL_ERROR : error_code;
    apns_h2_receive_fact_add(session, exchange, APNS_H2_CLOSED);
    if (exchange->body_sent < exchange->body_length && session->side->body_end != NULL)
        session->side->body_end(session, exchange);
    return 0;
}

static int on_invalid_frame(nghttp2_session *ng, const nghttp2_frame *frame, int code, void *user) {
    (void)ng;
    (void)frame;
    apns_h2_session *session = user;
    session->invalid_code = code;
    return 0;
}

static int on_error(nghttp2_session *ng, int code, const char *text, size_t length, void *user) {
    (void)ng;
    apns_h2_session *session = user;
    size_t kept = length < sizeof(session->invalid_text) - 1 ? length : sizeof(session->invalid_text) - 1;
    session->invalid_code = code;
    memcpy(session->invalid_text, text, kept);
    session->invalid_text[kept] = '\0';
    return 0;
}

void apns_h2_receive_callbacks_set(nghttp2_session_callbacks *callbacks) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, on_invalid_frame);
    nghttp2_session_callbacks_set_error_callback2(callbacks, on_error);
}
