#include "h2_fault.h"
#include "h2_internal.h"
#include <stdlib.h>
#include <string.h>

/* What the server may owe the peer of h2_fault_bytes. */
enum { RAW_BYTES_MAX = 4 << 20 };

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

static bool raw_reserve(h2_raw *raw, size_t more) {
    if (raw->begun > 0) {
        memmove(raw->bytes, raw->bytes + raw->begun, raw->length - raw->begun);
        raw->length -= raw->begun;
        raw->begun = 0;
    }
    if (raw->length + more <= raw->capacity) return true;
    if (raw->length + more > RAW_BYTES_MAX) return false;
    size_t capacity = 2 * raw->capacity > raw->length + more ? 2 * raw->capacity : raw->length + more;
    uint8_t *bytes = realloc(raw->bytes, capacity);
    if (bytes == NULL) return false;
    raw->bytes = bytes;
    raw->capacity = capacity;
    return true;
}

int h2_fault_bytes(h2_session *session, const uint8_t *bytes, size_t length) {
    if (length == 0) return 0;
    if (session->raw.length == 0 && h2_send_library(session) != 0) return -1;
    if (length > H2_FAULT_BYTES_MAX || !raw_reserve(&session->raw, length)) return -1;
    memcpy(session->raw.bytes + session->raw.length, bytes, length);
    session->raw.length += length;
    return h2_fault_flush(session);
}

/* Until there is no more or the output is paused; the library writes nothing before all is out. */
int h2_fault_flush(h2_session *session) {
    h2_raw *raw = &session->raw;
    while (raw->begun < raw->length && !session->output->paused) {
        size_t left = raw->length - raw->begun;
        size_t now = left < H2_FAULT_BYTES_MAX ? left : (size_t)H2_FAULT_BYTES_MAX;
        if (h2_send_append(session->output, raw->bytes + raw->begun, now) != 0)
            return h2_session_fail(session, H2_FAILURE_OUTPUT, 0, "the output failed");
        raw->begun += now;
    }
    if (raw->begun == raw->length) raw->begun = raw->length = 0;
    return 0;
}

int h2_fault_forget(h2_session *session, h2_exchange *exchange) {
    return finished(session, nghttp2_submit_rst_stream(session->ng, NGHTTP2_FLAG_NONE, exchange->stream, CODE_SILENT));
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
