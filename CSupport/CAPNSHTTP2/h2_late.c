#include "h2_internal.h"

/* What comes after a GOAWAY when no stream is open. The library passes over it (nghttp2_session_want_read), but servers
 * say GOAWAY twice, and perhaps only the second one has the reason. So frames are taken apart here: GOAWAY is noted,
 * the others are skipped, and what is no frame ends the looking. */

enum { FRAME_HEADER_BYTES = 9, FRAME_PAYLOAD_MAX = 16384, GOAWAY_FIXED_BYTES = 8 };

static uint32_t big_endian(const uint8_t *bytes, uint32_t count) {
    uint32_t value = 0;
    for (uint32_t i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

static bool frame_plausible(const uint8_t *frame) {
    uint32_t length = big_endian(frame, 3);
    if (length > FRAME_PAYLOAD_MAX || frame[3] > NGHTTP2_CONTINUATION) return false;
    return frame[3] != NGHTTP2_GOAWAY || (length >= GOAWAY_FIXED_BYTES && big_endian(frame + 5, 4) == 0);
}

static void frame_take(apns_h2_session *session, const uint8_t *frame) {
    if (frame[3] != NGHTTP2_GOAWAY) return;
    const uint8_t *payload = frame + FRAME_HEADER_BYTES;
    int32_t last_stream = (int32_t)(big_endian(payload, 4) & 0x7fffffff);
    apns_h2_goaway_note(&session->facts, last_stream, big_endian(payload + 4, 4), payload + GOAWAY_FIXED_BYTES,
                        big_endian(frame, 3) - GOAWAY_FIXED_BYTES);
}

void apns_h2_late_receive(apns_h2_session *session, const uint8_t *bytes, size_t length) {
    h2_late *late = &session->late;
    for (size_t i = 0; i < length && !late->lost; i++) {
        if (late->length < sizeof(late->frame)) late->frame[late->length] = bytes[i];
        late->length++;
        if (late->length < FRAME_HEADER_BYTES) continue;
        if (late->length == FRAME_HEADER_BYTES) late->lost = !frame_plausible(late->frame);
        if (late->lost || late->length < FRAME_HEADER_BYTES + big_endian(late->frame, 3)) continue;
        frame_take(session, late->frame);
        late->length = 0;
    }
}
