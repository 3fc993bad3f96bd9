#include "h2_internal.h"
#include <string.h>

static int field_limit(h2_session *session) {
    h2_session_fail(session, H2_FAILURE_LIMIT, NGHTTP2_ERR_FRAME_SIZE_ERROR, "the peer sent too large a header list");
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int memory_limit(h2_session *session) {
    h2_session_fail(session, H2_FAILURE_MEMORY, NGHTTP2_ERR_NOMEM, "no memory for what the peer sent");
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

/* Server: a request begins. */
static int request_begin(h2_session *session, int32_t stream) {
    h2_exchange *exchange = h2_pool_take(session->pool);
    if (exchange == NULL) {
        session->current = NULL;
        return nghttp2_submit_rst_stream(session->ng, NGHTTP2_FLAG_NONE, stream, NGHTTP2_REFUSED_STREAM);
    }
    exchange->stream = stream;
    exchange->message = h2_message_take(session->pool);
    if (exchange->message == NULL) {
        h2_pool_give(session->pool, exchange);
        return memory_limit(session);
    }
    session->current = exchange;
    h2_session_changed_add(session, exchange);
    return nghttp2_session_set_stream_user_data(session->ng, stream, exchange);
}

static int on_begin_headers(nghttp2_session *ng, const nghttp2_frame *frame, void *user) {
    h2_session *session = user;
    session->header_bytes = 0;
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        session->open_count++;
        return request_begin(session, frame->hd.stream_id) == 0 ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    session->current = nghttp2_session_get_stream_user_data(ng, frame->hd.stream_id);
    return 0;
}

static uint16_t status_parse(const uint8_t *digits) {
    return (uint16_t)((digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0'));
}

/* The only pseudo-header field of a response is :status, three digits: the library has checked it. */
static void status_begin(h2_exchange *exchange, nghttp2_vec value) {
    exchange->status = value.len == 3 ? status_parse(value.base) : 0;
    if (exchange->message != NULL) h2_message_fields_clear(exchange->message); /* an interim response came before */
}

static bool wanted(const h2_session *session, nghttp2_vec name) {
    if (name.len > 63 || (session->capture_lengths >> name.len & 1) == 0) return false;
    for (uint32_t i = 0; i < session->capture_count; i++)
        if (session->captures[i].name_length == name.len && memcmp(session->captures[i].name, name.base, name.len) == 0)
            return true;
    return false;
}

static int response_field(h2_session *session, h2_exchange *exchange, nghttp2_rcbuf *name, nghttp2_rcbuf *value,
                          nghttp2_vec text, nghttp2_vec content) {
    if (text.base[0] == ':') {
        status_begin(exchange, content);
        return 0;
    }
    if (!wanted(session, text) || content.len > H2_CAPTURE_BYTES_MAX) return 0;
    if (exchange->message == NULL && (exchange->message = h2_message_take(session->pool)) == NULL)
        return memory_limit(session);
    if (exchange->message->field_count == H2_CAPTURES_MAX) return 0;
    return h2_message_field_add(session->pool, exchange->message, name, value) ? 0 : memory_limit(session);
}

static int on_header(nghttp2_session *ng, const nghttp2_frame *frame, nghttp2_rcbuf *name, nghttp2_rcbuf *value,
                     uint8_t flags, void *user) {
    (void)ng;
    (void)frame;
    (void)flags;
    h2_session *session = user;
    h2_exchange *exchange = session->current;
    nghttp2_vec text = nghttp2_rcbuf_get_buf(name);
    nghttp2_vec content = nghttp2_rcbuf_get_buf(value);
    session->header_bytes += (uint32_t)(text.len + content.len) + 32;
    if (session->header_bytes > H2_HEADER_LIST_BYTES_MAX) return field_limit(session);
    if (exchange == NULL) return 0;
    if (!session->server) return response_field(session, exchange, name, value, text, content);
    if (exchange->message == NULL) return 0; /* trailer fields of a request that was handed on before its end */
    if (exchange->message->field_count == H2_FIELDS_RECEIVED_MAX) return field_limit(session);
    return h2_message_field_add(session->pool, exchange->message, name, value) ? 0 : memory_limit(session);
}

static int on_data(nghttp2_session *ng, uint8_t flags, int32_t stream, const uint8_t *bytes, size_t length,
                   void *user) {
    (void)flags;
    h2_session *session = user;
    h2_exchange *exchange = nghttp2_session_get_stream_user_data(ng, stream);
    if (exchange == NULL) return 0;
    exchange->body_received =
        length > UINT32_MAX - exchange->body_received ? UINT32_MAX : exchange->body_received + (uint32_t)length;
    if (exchange->message == NULL) {
        if (session->server) return 0; /* of a request that was handed on before its end */
        exchange->message = h2_message_take(session->pool);
        if (exchange->message == NULL) return memory_limit(session);
    }
    size_t room = session->body_received_max - exchange->message->body_length;
    size_t kept = length < room ? length : room;
    if (kept == 0) return 0;
    return h2_message_body_add(session->pool, exchange->message, bytes, kept) ? 0 : memory_limit(session);
}

void h2_goaway_note(h2_facts *facts, int32_t last_stream, uint32_t code, const uint8_t *debug, size_t length) {
    uint32_t i = facts->goaway_count < H2_GOAWAYS_KEPT ? facts->goaway_count++ : H2_GOAWAYS_KEPT - 1;
    h2_goaway *goaway = &facts->goaways[i];
    size_t kept = length < H2_DEBUG_BYTES_MAX ? length : (size_t)H2_DEBUG_BYTES_MAX;
    goaway->last_stream = last_stream;
    goaway->code = code;
    goaway->debug_length = (uint32_t)kept;
    if (kept > 0) memcpy(goaway->debug, debug, kept);
}

static void settings_note(h2_session *session) {
    if (session->facts.settings_count < UINT32_MAX) session->facts.settings_count++;
    h2_encoder_table_allow(&session->encoder,
                           nghttp2_session_get_remote_settings(session->ng, NGHTTP2_SETTINGS_HEADER_TABLE_SIZE));
}

static void end_note(h2_session *session, h2_exchange *exchange) {
    if (exchange == NULL) return;
    exchange->facts |= H2_COMPLETE;
    h2_session_changed_add(session, exchange);
}

static void fields_note(h2_session *session, h2_exchange *exchange) {
    if (exchange == NULL) return;
    exchange->facts |= H2_FIELDS;
    h2_session_changed_add(session, exchange);
}

static int on_frame(nghttp2_session *ng, const nghttp2_frame *frame, void *user) {
    h2_session *session = user;
    bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
        if (session->early) fields_note(session, session->current);
        if (last) end_note(session, session->current);
        break;
    case NGHTTP2_DATA:
        if (last) end_note(session, nghttp2_session_get_stream_user_data(ng, frame->hd.stream_id));
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
        h2_goaway_note(&session->facts, frame->goaway.last_stream_id, frame->goaway.error_code,
                       frame->goaway.opaque_data, frame->goaway.opaque_data_len);
        break;
    default:
        break;
    }
    return 0;
}

static int on_close(nghttp2_session *ng, int32_t stream, uint32_t error_code, void *user) {
    h2_session *session = user;
    /* Most streams close at the end of the header block that was just received. */
    h2_exchange *exchange = session->current;
    if (exchange == NULL || exchange->stream != stream) exchange = nghttp2_session_get_stream_user_data(ng, stream);
    session->open_count--;
    if (exchange == NULL) return 0;
    if (exchange == session->current) session->current = NULL;
    exchange->facts |= H2_CLOSED;
    exchange->error_code = error_code;
    h2_session_changed_add(session, exchange);
    return 0;
}

static int on_invalid_frame(nghttp2_session *ng, const nghttp2_frame *frame, int code, void *user) {
    (void)ng;
    (void)frame;
    h2_session *session = user;
    session->invalid_code = code;
    return 0;
}

static int on_error(nghttp2_session *ng, int code, const char *text, size_t length, void *user) {
    (void)ng;
    h2_session *session = user;
    size_t kept = length < sizeof(session->invalid_text) - 1 ? length : sizeof(session->invalid_text) - 1;
    session->invalid_code = code;
    memcpy(session->invalid_text, text, kept);
    session->invalid_text[kept] = '\0';
    return 0;
}

void h2_receive_callbacks_set(nghttp2_session_callbacks *callbacks) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback2(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, on_invalid_frame);
    nghttp2_session_callbacks_set_error_callback2(callbacks, on_error);
}
