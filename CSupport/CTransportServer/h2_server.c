#include "h2_internal.h"

static int finished(h2_session *session, int result) {
    session->drained = false;
    return result < 0 ? h2_session_fail_library(session, result) : 0;
}

int h2_server_streams_max_set(h2_session *session, uint32_t streams_max) {
    nghttp2_settings_entry entry = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams_max};
    return finished(session, nghttp2_submit_settings(session->ng, NGHTTP2_FLAG_NONE, &entry, 1));
}

h2_exchange *h2_server_find(h2_session *session, int32_t stream) {
    return nghttp2_session_get_stream_user_data(session->ng, stream);
}

int h2_server_respond(h2_session *session, h2_exchange *exchange, uint16_t status, const h2_field *fields,
                      uint32_t count) {
    uint8_t digits[3] = {(uint8_t)('0' + status / 100 % 10), (uint8_t)('0' + status / 10 % 10),
                         (uint8_t)('0' + status % 10)};
    nghttp2_nv assembled[1 + H2_REQUEST_FIELDS_MAX];
    assembled[0] = (nghttp2_nv){(uint8_t *)(uintptr_t) ":status", digits, 7, 3, NGHTTP2_NV_FLAG_NO_COPY_NAME};
    for (uint32_t i = 0; i < count; i++)
        assembled[1 + i] = (nghttp2_nv){
            (uint8_t *)(uintptr_t)fields[i].name, (uint8_t *)(uintptr_t)fields[i].value, fields[i].name_length,
            fields[i].value_length, fields[i].indexing == H2_LITERAL ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE};
    nghttp2_data_provider body = {.source.ptr = exchange, .read_callback = h2_send_read};
    return finished(session, nghttp2_submit_response(session->ng, exchange->stream, assembled, 1 + count,
                                                     exchange->body_length > 0 ? &body : NULL));
}

int h2_server_reset(h2_session *session, h2_exchange *exchange, uint32_t code) {
    return finished(session, nghttp2_submit_rst_stream(session->ng, NGHTTP2_FLAG_NONE, exchange->stream, code));
}
