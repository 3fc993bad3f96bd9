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

/* Records a failure if nghttp2 sends a GOAWAY with an error code that is not the caller's: the peer has violated the
 * protocol. */
__attribute__((noinline)) static void goaway_note(apns_h2_session *session, uint32_t code) {
    session->goaway_written = true;
    if (code == APNS_H2_NO_ERROR || code == session->goaway_code) return;
    int32_t kind = code == APNS_H2_ENHANCE_YOUR_CALM ? APNS_H2_FAILURE_LIMIT : APNS_H2_FAILURE_PROTOCOL;
    const char *text = session->invalid_text[0] != '\0' ? session->invalid_text : apns_h2_library_code_text(code);
    apns_h2_session_fail(session, kind, code, text);
}

static void reset_note(apns_h2_session *session, int32_t stream) {
    session->last_reset = stream;
    apns_h2_reset_drop(session, stream);
}

void apns_h2_send_note(apns_h2_session *session, const uint8_t *frame, size_t length) {
    if (frame[3] == H2_HEADERS)
        session->written_stream = h2_frame_stream(frame);
    else if (frame[3] == H2_RST_STREAM)
        reset_note(session, h2_frame_stream(frame));
    else if (frame[3] == H2_GOAWAY && length >= H2_FRAME_HEADER_BYTES + H2_GOAWAY_FIXED_BYTES)
        goaway_note(session, h2_big_endian(frame + H2_FRAME_HEADER_BYTES + 4));
}

static int request_fail(apns_h2_session *session) {
    return apns_h2_session_fail(session, APNS_H2_FAILURE_MEMORY, APNS_H2_INTERNAL_ERROR, "no memory for a request");
}

/* The flags of the HEADERS frame in place of one of nghttp2, which has no bodies. */
static uint8_t headers_flags(const apns_h2_session *session, const uint8_t *frame) {
    return session->request_body_length > 0 ? frame[4] & (uint8_t)~H2_FLAG_END_STREAM : frame[4];
}

/* Writes HEADERS, and CONTINUATION for what exceeds one frame (RFC 9113, section 6.10). */
static int block_append(apns_h2_session *session, const uint8_t *frame, const uint8_t *block, size_t length) {
    uint32_t stream = (uint32_t)h2_frame_stream(frame);
    int result = 0;
    for (size_t sent = 0; sent < length && result == 0;) {
        size_t now = length - sent < H2_FRAME_BYTES_MAX ? length - sent : H2_FRAME_BYTES_MAX;
        bool first = sent == 0;
        uint8_t flags = first ? headers_flags(session, frame) & H2_FLAG_END_STREAM : 0;
        if (sent + now == length) flags |= H2_FLAG_END_HEADERS;
        uint8_t header[H2_FRAME_HEADER_BYTES];
        h2_frame_header_write(header, (uint32_t)now, first ? H2_HEADERS : H2_CONTINUATION, flags, stream);
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
    if (session->request == NULL)
        return apns_h2_session_fail(session, APNS_H2_FAILURE_LIBRARY, APNS_H2_INTERNAL_ERROR,
                                    "nghttp2 has begun a request that was not submitted");
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
    h2_frame_header_write(header, (uint32_t)(end - header) - H2_FRAME_HEADER_BYTES, H2_HEADERS,
                          headers_flags(session, frame), (uint32_t)h2_frame_stream(frame));
    output->length += (uint32_t)(end - header);
    return 0;
}

int apns_h2_send_client_frame(apns_h2_session *session, const uint8_t *frame, size_t length) {
    /* Whether a request was sent is known by the number of its stream. */
    APNS_ASSERT(frame[3] != H2_HEADERS || h2_frame_stream(frame) > session->written_stream);
    apns_h2_send_note(session, frame, length);
    return frame[3] == H2_HEADERS ? headers_append(session, frame) : h2_send_append(session->output, frame, length);
}

/* Writes a frame of nghttp2, if it has one. Returns 1 if it has, 0, or a negative status, also if the frame itself says
 * that the session has failed. */
static int library_frame_send(apns_h2_session *session) {
    const uint8_t *frame;
    size_t length;
    bool preface = session->preface_due;
    int result = apns_h2_library_take(session, &frame, &length);
    if (result <= 0) return result;
    int appended =
        preface ? h2_send_append(session->output, frame, length) : session->side->frame_append(session, frame, length);
    if (appended != 0) return apns_h2_session_fail_output(session);
    return h2_failed(session) ? session->failure.status : 1;
}

int apns_h2_send_library(apns_h2_session *session) {
    int result = 1;
    while (result > 0 && !session->output->paused)
        result = library_frame_send(session);
    if (result == 0) session->drained = !session->output->paused;
    return result < 0 ? result : 0;
}

int apns_h2_send_library_until(apns_h2_session *session, int32_t stream) {
    int result = 1;
    while (result > 0 && session->written_stream < stream)
        result = library_frame_send(session);
    if (result >= 0) session->drained = !session->output->paused;
    return result < 0 ? result : 0;
}

/* The GOAWAY of a session that has failed: nghttp2 is not called any more. */
static void goaway_write(apns_h2_session *session) {
    uint8_t frame[H2_FRAME_HEADER_BYTES + H2_GOAWAY_FIXED_BYTES];
    int32_t last = session->side->serves ? apns_h2_library_last_stream(session) : 0;
    h2_frame_header_write(frame, H2_GOAWAY_FIXED_BYTES, H2_GOAWAY, 0, 0);
    h2_big_endian_write(frame + H2_FRAME_HEADER_BYTES, (uint32_t)last);
    h2_big_endian_write(frame + H2_FRAME_HEADER_BYTES + 4, (uint32_t)session->failure.code);
    session->goaway_written = true;
    h2_send_append(session->output, frame, sizeof(frame)); /* the failure cannot be reported to anyone */
}

void apns_h2_session_farewell(apns_h2_session *session) {
    if (!h2_failed(session)) session->side->finish(session);
    bool can_write = !session->output->paused && session->failure.scope != APNS_H2_FAILURE_OUTPUT;
    if (h2_failed(session) && !session->goaway_written && !session->preface_due && can_write) goaway_write(session);
}
