#include "h2_internal.h"
#include <string.h>

enum { FRAME_HEADER_BYTES = 9 };

static int append(h2_output *output, const uint8_t *bytes, size_t length) {
    size_t room = output->capacity - output->length;
    while (length > room) {
        memcpy(output->bytes + output->length, bytes, room);
        output->length += (uint32_t)room;
        bytes += room;
        length -= room;
        if (output->flush(output->context) != 0) return -1;
        room = output->capacity - output->length;
    }
    memcpy(output->bytes + output->length, bytes, length);
    output->length += (uint32_t)length;
    return 0;
}

/* Says that the next length bytes of the body may go, without copying them: h2_send_data does. */
ssize_t h2_send_read(nghttp2_session *ng, int32_t stream, uint8_t *buffer, size_t length, uint32_t *flags,
                     nghttp2_data_source *source, void *user) {
    (void)ng;
    (void)stream;
    (void)buffer;
    (void)user;
    const h2_exchange *exchange = source->ptr;
    size_t left = exchange->body_length - exchange->body_sent;
    size_t now = left < length ? left : length;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (now == left) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)now;
}

/* Never says WOULDBLOCK: a frame held back inside the library would outlive its exchange. The output has room for the
 * frame that makes it pause. */
int h2_send_data(nghttp2_session *ng, nghttp2_frame *frame, const uint8_t *header, size_t length,
                 nghttp2_data_source *source, void *user) {
    (void)ng;
    (void)frame;
    h2_session *session = user;
    h2_exchange *exchange = source->ptr;
    if (append(session->output, header, FRAME_HEADER_BYTES) != 0 ||
        append(session->output, exchange->body + exchange->body_sent, length) != 0)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    exchange->body_sent += (uint32_t)length;
    return session->output->paused ? NGHTTP2_ERR_PAUSE : 0;
}

static uint32_t big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* A GOAWAY with an error code that the caller did not ask for: the library found fault with the peer. */
static void goaway_note(h2_session *session, uint32_t code) {
    if (code == NGHTTP2_NO_ERROR || session->goaway_own) return;
    int32_t kind = code == NGHTTP2_ENHANCE_YOUR_CALM ? H2_FAILURE_LIMIT : H2_FAILURE_PROTOCOL;
    const char *text = session->invalid_text[0] != '\0' ? session->invalid_text : nghttp2_http2_strerror(code);
    h2_session_fail(session, kind, session->invalid_code != 0 ? session->invalid_code : NGHTTP2_ERR_PROTO, text);
}

/* Notes which frame goes out: the library hands frames over one by one. */
static void note(h2_session *session, const uint8_t *frame, size_t length) {
    if (length < FRAME_HEADER_BYTES) return;
    if (frame[3] == NGHTTP2_HEADERS)
        session->written_stream = (int32_t)(big_endian(frame + 5) & 0x7fffffff);
    else if (frame[3] == NGHTTP2_GOAWAY && length >= FRAME_HEADER_BYTES + 8)
        goaway_note(session, big_endian(frame + FRAME_HEADER_BYTES + 4));
}

int h2_session_pump(h2_session *session) {
    while (!session->output->paused) {
        const uint8_t *bytes;
        ssize_t length = nghttp2_session_mem_send(session->ng, &bytes);
        if (length < 0) return h2_session_fail_library(session, (int)length);
        if (length == 0) {
            session->drained = !session->output->paused;
            return 0;
        }
        note(session, bytes, (size_t)length);
        if (append(session->output, bytes, (size_t)length) != 0)
            return h2_session_fail(session, H2_FAILURE_OUTPUT, 0, "the output failed");
    }
    return 0;
}
