#include "h2_internal.h"

/* Streams that we reset by frames of our own, because nghttp2 has closed them at the end of their answers, and a frame
 * for a stream that it does not have is dropped by some of its versions. */

struct h2_reset {
    struct h2_reset *next;
    int32_t stream;
    uint32_t code;
};

int apns_h2_reset_add(apns_h2_session *session, int32_t stream, uint32_t code) {
    h2_reset *reset = apns_h2_memory_take(session->memory, sizeof(*reset));
    if (reset == NULL)
        return apns_h2_session_fail(session, APNS_H2_FAILURE_MEMORY, APNS_H2_INTERNAL_ERROR, "no memory for a reset");
    *reset = (h2_reset){.next = session->resets, .stream = stream, .code = code};
    session->resets = reset;
    session->drained = false;
    return 0;
}

static void unlink_at(apns_h2_session *session, h2_reset **link) {
    h2_reset *reset = *link;
    *link = reset->next;
    apns_h2_memory_give(session->memory, reset);
}

void apns_h2_reset_drop(apns_h2_session *session, int32_t stream) {
    for (h2_reset **link = &session->resets; *link != NULL; link = &(*link)->next)
        if ((*link)->stream == stream) {
            unlink_at(session, link);
            return;
        }
}

void apns_h2_resets_clear(apns_h2_session *session) {
    while (session->resets != NULL)
        unlink_at(session, &session->resets);
}

int apns_h2_resets_write(apns_h2_session *session) {
    while (session->resets != NULL && !session->output->paused) {
        uint8_t frame[H2_RST_STREAM_BYTES];
        h2_frame_header_write(frame, sizeof(frame) - H2_FRAME_HEADER_BYTES, H2_RST_STREAM, 0,
                              (uint32_t)session->resets->stream);
        h2_big_endian_write(frame + H2_FRAME_HEADER_BYTES, session->resets->code);
        unlink_at(session, &session->resets);
        if (h2_send_append(session->output, frame, sizeof(frame)) != 0) return apns_h2_session_fail_output(session);
    }
    if (session->resets != NULL) session->drained = false;
    return 0;
}
