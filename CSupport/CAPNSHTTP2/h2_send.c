#include "h2_internal.h"
#include <string.h>

__attribute__((noinline)) int apns_h2_send_append_flushing(apns_h2_output *output, const uint8_t *bytes,
                                                           size_t length) {
    APNS_REQUIRE(output->length <= output->capacity && output->capacity > 0);
    size_t room = output->capacity - output->length;
    while (length > room) {
        memcpy(output->bytes + output->length, bytes, room);
        output->length += (uint32_t)room;
        bytes += room;
        length -= room;
        if (output->flush(output->context) != 0) return APNS_RESOURCE;
        room = output->capacity - output->length;
    }
    if (length > 0) memcpy(output->bytes + output->length, bytes, length);
    output->length += (uint32_t)length;
    return 0;
}

/* Tells nghttp2 how much of the body may be sent, without copying it; apns_h2_send_data writes it. */
ssize_t apns_h2_send_read(nghttp2_session *ng, int32_t stream, uint8_t *buffer, size_t length, uint32_t *flags,
                          nghttp2_data_source *source, void *user) {
    (void)ng;
    (void)stream;
    (void)buffer;
    (void)user;
    const apns_h2_exchange *exchange = source->ptr;
    APNS_REQUIRE(exchange->body_sent <= exchange->body_length);
    size_t left = exchange->body_length - exchange->body_sent;
    size_t now = left < length ? left : length;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (now == left) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)now;
}

/* Writes a DATA frame. It never returns WOULDBLOCK, because a frame held back inside nghttp2 would outlive its
 * exchange; the output has room for the frame that makes it pause. Since a request is submitted only while nghttp2 has
 * nothing else to send, nghttp2 need not look for another frame after the end of the body. */
int apns_h2_send_data(nghttp2_session *ng, nghttp2_frame *frame, const uint8_t *header, size_t length,
                      nghttp2_data_source *source, void *user) {
    (void)ng;
    (void)frame;
    apns_h2_session *session = user;
    apns_h2_exchange *exchange = source->ptr;
    if (h2_send_append(session->output, header, H2_FRAME_HEADER_BYTES) != 0 ||
        h2_send_append(session->output, exchange->body + exchange->body_sent, length) != 0)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    exchange->body_sent += (uint32_t)length;
    APNS_REQUIRE(exchange->body_sent <= exchange->body_length);
    bool last = session->request != NULL && exchange->body_sent == exchange->body_length;
    return last || session->output->paused ? NGHTTP2_ERR_PAUSE : 0;
}

/* Records a failure if nghttp2 sends a GOAWAY with an error code that the caller did not request: the peer has violated
 * the protocol. */
__attribute__((noinline)) static void goaway_note(apns_h2_session *session, uint32_t code) {
    if (code == NGHTTP2_NO_ERROR || session->goaway_own) return;
    int32_t kind = code == NGHTTP2_ENHANCE_YOUR_CALM ? APNS_H2_FAILURE_LIMIT : APNS_H2_FAILURE_PROTOCOL;
    const char *text = session->invalid_text[0] != '\0' ? session->invalid_text : nghttp2_http2_strerror(code);
    apns_h2_session_fail(session, kind, session->invalid_code != 0 ? session->invalid_code : NGHTTP2_ERR_PROTO, text);
}

/* nghttp2 passes frames one at a time. */
void apns_h2_send_note(apns_h2_session *session, const uint8_t *frame, size_t length) {
    if (length < H2_FRAME_HEADER_BYTES) return;
    if (frame[3] == NGHTTP2_HEADERS)
        session->written_stream = h2_frame_stream(frame);
    else if (frame[3] == NGHTTP2_GOAWAY && length >= H2_FRAME_HEADER_BYTES + 8)
        goaway_note(session, h2_big_endian(frame + H2_FRAME_HEADER_BYTES + 4));
}

static void frame_header_write(uint8_t *place, size_t length, uint8_t type, uint8_t flags, const uint8_t *stream) {
    place[0] = (uint8_t)(length >> 16);
    place[1] = (uint8_t)(length >> 8);
    place[2] = (uint8_t)length;
    place[3] = type;
    place[4] = flags;
    memcpy(place + 5, stream, 4);
}

static int request_fail(apns_h2_session *session) {
    return apns_h2_session_fail(session, APNS_H2_FAILURE_MEMORY, NGHTTP2_ERR_NOMEM, "no memory for a request");
}

/* Writes HEADERS, and CONTINUATION for what exceeds one frame (RFC 9113, section 6.10). */
static int block_append(apns_h2_session *session, const uint8_t *frame, const uint8_t *block, size_t length) {
    int result = 0;
    for (size_t sent = 0; sent < length && result == 0;) {
        size_t now = length - sent < H2_FRAME_BYTES_MAX ? length - sent : H2_FRAME_BYTES_MAX;
        bool first = sent == 0;
        uint8_t flags = first ? (uint8_t)(frame[4] & NGHTTP2_FLAG_END_STREAM) : 0;
        if (sent + now == length) flags |= NGHTTP2_FLAG_END_HEADERS;
        uint8_t header[H2_FRAME_HEADER_BYTES];
        frame_header_write(header, now, first ? NGHTTP2_HEADERS : NGHTTP2_CONTINUATION, flags, frame + 5);
        result = h2_send_append(session->output, header, sizeof(header)) |
                 h2_send_append(session->output, block + sent, now);
        sent += now;
    }
    return result;
}

/* Encodes the header block in a buffer of its own, if it might not fit into the output. */
__attribute__((noinline)) static int headers_append_apart(apns_h2_session *session, const uint8_t *frame, size_t most) {
    uint8_t *block = apns_h2_memory_take(session->memory, most);
    if (block == NULL) return request_fail(session);
    const uint8_t *end =
        apns_h2_encoder_request(&session->encoder, session->request, session->request_body_length, block);
    int result = end == NULL ? request_fail(session) : block_append(session, frame, block, (size_t)(end - block));
    apns_h2_memory_give(session->memory, block);
    return result;
}

/* Replaces a HEADERS frame of nghttp2, which is empty because nghttp2 was given no fields, by one with the header block
 * of our encoder. The peer receives header blocks of our encoder only. The block is written directly into the
 * output. */
static int headers_append(apns_h2_session *session, const uint8_t *frame) {
    if (session->request == NULL) return request_fail(session);
    apns_h2_output *output = session->output;
    size_t room = output->capacity - output->length;
    size_t most = apns_h2_encoder_bound(session->request);
    if (H2_FRAME_HEADER_BYTES + most > room || most > H2_FRAME_BYTES_MAX)
        return headers_append_apart(session, frame, most);
    uint8_t *header = output->bytes + output->length;
    const uint8_t *end = apns_h2_encoder_request(&session->encoder, session->request, session->request_body_length,
                                                 header + H2_FRAME_HEADER_BYTES);
    if (end == NULL) return request_fail(session);
    APNS_ASSERT((size_t)(end - header) <= H2_FRAME_HEADER_BYTES + most);
    frame_header_write(header, (size_t)(end - header) - H2_FRAME_HEADER_BYTES, NGHTTP2_HEADERS, frame[4], frame + 5);
    output->length += (uint32_t)(end - header);
    return 0;
}

int apns_h2_send_client_frame(apns_h2_session *session, const uint8_t *frame, size_t length) {
    apns_h2_send_note(session, frame, length);
    bool request = length >= H2_FRAME_HEADER_BYTES && frame[3] == NGHTTP2_HEADERS;
    return request ? headers_append(session, frame) : h2_send_append(session->output, frame, length);
}

int apns_h2_send_library(apns_h2_session *session) {
    while (!session->output->paused) {
        const uint8_t *bytes;
        ssize_t length = nghttp2_session_mem_send(session->ng, &bytes);
        if (length < 0) return apns_h2_session_fail_library(session, (int)length);
        if (length == 0) {
            session->drained = !session->output->paused;
            return 0;
        }
        if (session->side->frame_append(session, bytes, (size_t)length) != 0)
            return apns_h2_session_fail(session, APNS_H2_FAILURE_OUTPUT, 0, "the output failed");
    }
    return 0;
}
