#include "h2_internal.h"

/* Reads what arrives after a GOAWAY when no stream is open. nghttp2 ignores it (nghttp2_session_want_read), but some
 * servers send GOAWAY twice, and only the second one contains the reason. This parser keeps GOAWAY, skips other frames,
 * and stops at anything that is not a frame. */

static bool frame_plausible(const uint8_t *frame) {
    uint32_t length = h2_frame_length(frame);
    if (length > H2_FRAME_BYTES_MAX || frame[3] > H2_CONTINUATION) return false;
    return frame[3] != H2_GOAWAY || (length >= H2_GOAWAY_FIXED_BYTES && h2_big_endian(frame + 5) == 0);
}

static void frame_take(apns_h2_session *session, const uint8_t *frame) {
    if (frame[3] != H2_GOAWAY) return;
    const uint8_t *payload = frame + H2_FRAME_HEADER_BYTES;
    int32_t last_stream = (int32_t)(h2_big_endian(payload) & 0x7fffffff);
    apns_h2_goaway_note(&session->facts, last_stream, h2_big_endian(payload + 4), payload + H2_GOAWAY_FIXED_BYTES,
                        h2_frame_length(frame) - H2_GOAWAY_FIXED_BYTES);
}

void apns_h2_late_receive(apns_h2_session *session, const uint8_t *bytes, size_t length) {
    h2_late *late = &session->late;
    for (size_t i = 0; i < length && !late->lost; i++) {
        if (late->length < sizeof(late->frame)) late->frame[late->length] = bytes[i];
        late->length++;
        if (late->length < H2_FRAME_HEADER_BYTES) continue;
        if (late->length == H2_FRAME_HEADER_BYTES) late->lost = !frame_plausible(late->frame);
        if (late->lost || late->length < H2_FRAME_HEADER_BYTES + h2_frame_length(late->frame)) continue;
        frame_take(session, late->frame);
        late->length = 0;
    }
}
