#include "h2_fault.h"
#include "h2_internal.h"
#include <stdlib.h>
#include <string.h>

/* What the server may owe the peer of h2_fault_bytes, and how much of it is written before looking whether the output
 * is paused. */
enum { RAW_BYTES_MAX = 64 << 20, PIECE_BYTES = 16384 };

/* An error code that never leaves: its RST_STREAM only closes the stream here. */
enum { CODE_SILENT = 0x7fffff5a };

static int finished(h2_session *session, int result) {
    session->drained = false;
    return result < 0 ? h2_session_fail_library(session, result) : 0;
}

int h2_fault_goaway(h2_session *session, int32_t last_stream, uint32_t code, const uint8_t *debug, size_t length) {
    session->goaway_own = true;
    return finished(session, nghttp2_submit_goaway(session->ng, NGHTTP2_FLAG_NONE, last_stream, code, debug, length));
}

int h2_fault_settings(h2_session *session, const h2_setting *settings, uint32_t count) {
    nghttp2_settings_entry entries[H2_FAULT_SETTINGS_MAX];
    if (count > H2_FAULT_SETTINGS_MAX) return -1;
    for (uint32_t i = 0; i < count; i++)
        entries[i] = (nghttp2_settings_entry){settings[i].id, settings[i].value};
    return finished(session, nghttp2_submit_settings(session->ng, NGHTTP2_FLAG_NONE, entries, count));
}

int h2_fault_bytes(h2_session *session, int32_t stream, const uint8_t *bytes, size_t length) {
    if (length > RAW_BYTES_MAX - session->raw_bytes) return -1;
    h2_raw *raw = malloc(sizeof(*raw) + length);
    if (raw == NULL) return -1;
    *raw = (h2_raw){.length = length, .stream = stream};
    if (length > 0) memcpy(raw->bytes, bytes, length);
    session->raw_bytes += length;
    *session->raw_last = raw;
    session->raw_last = &raw->next;
    session->drained = false;
    return 0;
}

/* Closes the stream here, so that the peer's next one is not one too many. The library has nothing else to write by
 * now. */
static int forget(h2_session *session, int32_t stream) {
    int result = nghttp2_submit_rst_stream(session->ng, NGHTTP2_FLAG_NONE, stream, CODE_SILENT);
    return result < 0 ? h2_session_fail_library(session, result) : h2_send_library(session);
}

static void raw_drop(h2_session *session) {
    h2_raw *raw = session->raw_first;
    session->raw_first = raw->next;
    session->raw_bytes -= raw->length;
    if (raw->next == NULL) session->raw_last = &session->raw_first;
    free(raw);
}

void h2_fault_clear(h2_session *session) {
    while (session->raw_first != NULL)
        raw_drop(session);
}

/* Goes on with one piece; false when it is not all out. */
static bool raw_write(h2_session *session, h2_raw *raw) {
    while (raw->begun < raw->length && !session->output->paused) {
        size_t left = raw->length - raw->begun;
        size_t now = left < PIECE_BYTES ? left : (size_t)PIECE_BYTES;
        if (h2_send_append(session->output, raw->bytes + raw->begun, now) != 0) {
            h2_session_fail(session, H2_FAILURE_OUTPUT, 0, "the output failed");
            return false;
        }
        raw->begun += now;
    }
    return raw->begun == raw->length;
}

int h2_fault_flush(h2_session *session) {
    while (session->raw_first != NULL && !session->output->paused) {
        h2_raw *raw = session->raw_first;
        if (!raw->started) {
            if (h2_send_library(session) != 0) return -1;
            if (session->output->paused) return 0;
            raw->started = true;
            if (raw->stream != 0 && forget(session, raw->stream) != 0) return -1;
        }
        if (!raw_write(session, raw)) return session->failure.kind == H2_FAILURE_NONE ? 0 : -1;
        raw_drop(session);
    }
    return 0;
}

void h2_fault_pings_mute(h2_session *session, bool muted) {
    session->pings_muted = muted;
}

void h2_fault_early_set(h2_session *session, bool early) {
    session->early = early;
}

bool h2_fault_withholds(const h2_session *session, const uint8_t *frame, size_t length) {
    static const uint8_t silent[] = {CODE_SILENT >> 24, CODE_SILENT >> 16 & 0xff, CODE_SILENT >> 8 & 0xff,
                                     CODE_SILENT & 0xff};
    if (length < 13) return false;
    if (frame[3] == NGHTTP2_RST_STREAM) return memcmp(frame + 9, silent, sizeof(silent)) == 0;
    return frame[3] == NGHTTP2_PING && (frame[4] & NGHTTP2_FLAG_ACK) != 0 && session->pings_muted;
}
