#include "h2_internal.h"

int apns_h2_receive_field_limit(apns_h2_session *session) {
    return apns_h2_session_fail(session, APNS_H2_FAILURE_LIMIT, APNS_H2_ENHANCE_YOUR_CALM,
                                "the peer sent too large a header list");
}

int apns_h2_receive_memory_limit(apns_h2_session *session) {
    return apns_h2_session_fail(session, APNS_H2_FAILURE_MEMORY, APNS_H2_INTERNAL_ERROR,
                                "no memory for what the peer sent");
}

void apns_h2_receive_fact_add(apns_h2_session *session, apns_h2_exchange *exchange, uint8_t fact) {
    if (exchange == NULL) return;
    exchange->facts |= fact;
    apns_h2_session_changed_add(session, exchange);
}

/* Resets a stream whose message is malformed (RFC 9113, section 8.1.1). nghttp2 still has the stream: it closes those
 * that end only after this. */
static void message_refuse(apns_h2_session *session, apns_h2_exchange *exchange) {
    exchange->facts |= APNS_H2_MALFORMED;
    apns_h2_library_reset(session, exchange->stream, APNS_H2_PROTOCOL_ERROR);
}

/* ---------------------------------------------------------------- header blocks */

void apns_h2_receive_headers_begin(apns_h2_session *session, int32_t stream, bool is_request) {
    if (!is_request || session->side->stream_begin == NULL) {
        session->current = apns_h2_library_exchange(session, stream);
        return;
    }
    session->streams++;
    session->side->stream_begin(session, stream);
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

void apns_h2_receive_headers_end(apns_h2_session *session, bool last) {
    apns_h2_exchange *exchange = session->current;
    if (exchange == NULL) return;
    bool trailers = (exchange->facts & APNS_H2_HEAD) != 0;
    bool good =
        trailers ? trailers_take(&session->head, exchange, last) : session->side->head_take(&session->head, exchange);
    if (!good || (last && !end_fits(exchange))) {
        message_refuse(session, exchange);
        return;
    }
    session->side->fields_end(session, exchange);
    if (last) apns_h2_receive_fact_add(session, exchange, APNS_H2_COMPLETE);
}

/* ---------------------------------------------------------------- bodies */

apns_h2_message *apns_h2_receive_response_body(apns_h2_session *session, apns_h2_exchange *exchange) {
    exchange->message = apns_h2_message_take(session->pool);
    if (exchange->message == NULL) apns_h2_receive_memory_limit(session);
    return exchange->message;
}

/* Adds to the number of body bytes received; returns whether the message may have this many. */
static bool body_count(apns_h2_exchange *exchange, size_t length) {
    uint32_t room = UINT32_MAX - exchange->body_received;
    exchange->body_received = length > room ? UINT32_MAX : exchange->body_received + (uint32_t)length;
    if ((exchange->facts & APNS_H2_HEAD) == 0) return false;
    return exchange->content_length == -1 || exchange->body_received <= exchange->content_length;
}

void apns_h2_receive_data(apns_h2_session *session, apns_h2_exchange *exchange, const uint8_t *bytes, size_t length) {
    if ((exchange->facts & APNS_H2_MALFORMED) != 0) return;
    if (!body_count(exchange, length)) {
        message_refuse(session, exchange);
        return;
    }
    if (exchange->message == NULL && session->side->body_begin(session, exchange) == NULL) return;
    APNS_REQUIRE(exchange->message->body_length <= session->body_received_max);
    size_t room = session->body_received_max - exchange->message->body_length;
    size_t kept = length < room ? length : room;
    if (kept > 0 && !apns_h2_message_body_add(session->pool, exchange->message, bytes, kept))
        apns_h2_receive_memory_limit(session);
}

void apns_h2_receive_data_end(apns_h2_session *session, apns_h2_exchange *exchange) {
    if (exchange == NULL) return;
    if (end_fits(exchange))
        apns_h2_receive_fact_add(session, exchange, APNS_H2_COMPLETE);
    else
        message_refuse(session, exchange);
}

/* ---------------------------------------------------------------- streams and connection */

void apns_h2_receive_reset(apns_h2_session *session, int32_t stream) {
    session->last_reset = stream;
    apns_h2_body_drop(session, stream);
    apns_h2_reset_drop(session, stream);
}

void apns_h2_receive_close(apns_h2_session *session, int32_t stream, apns_h2_exchange *exchange, uint32_t code) {
    if (session->streams == 0) {
        apns_h2_session_fail(session, APNS_H2_FAILURE_LIBRARY, APNS_H2_INTERNAL_ERROR,
                             "nghttp2 has closed a stream that was not open");
        return;
    }
    session->streams--;
    if (exchange != NULL && exchange == session->current) session->current = NULL;
    if (exchange != NULL) {
        /* A stream that ends with a malformed answer is closed before it is reset. */
        bool malformed = (exchange->facts & APNS_H2_MALFORMED) != 0 && code == APNS_H2_NO_ERROR;
        exchange->error_code = malformed ? (uint32_t)APNS_H2_PROTOCOL_ERROR : code;
        apns_h2_receive_fact_add(session, exchange, APNS_H2_CLOSED);
    }
    if (session->side->stream_end != NULL) session->side->stream_end(session, stream, exchange, code);
}

/* Settings take effect one after the other, each value of one that stands there twice, too (RFC 9113, section 6.5.3):
 * the encoder has to send the peer the smallest size of its table. */
void apns_h2_receive_settings(apns_h2_session *session, const h2_setting *settings, size_t count) {
    if (session->facts.settings_count < UINT32_MAX) session->facts.settings_count++;
    for (size_t i = 0; i < count; i++) {
        if (settings[i].id == H2_INITIAL_WINDOW_SIZE) session->flow.stream_window = settings[i].value;
        if (settings[i].id == H2_HEADER_TABLE_SIZE) apns_h2_encoder_table_allow(&session->encoder, settings[i].value);
    }
}

void apns_h2_receive_pong(apns_h2_session *session, const uint8_t *opaque) {
    memcpy(&session->facts.pong_opaque, opaque, sizeof(session->facts.pong_opaque));
    session->facts.pong_count++;
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
