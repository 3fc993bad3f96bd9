#include "floor_internal.h"
#include <stdlib.h>
#include <string.h>

/* As in CAPNSHTTP2. */
enum {
    CLIENT_STREAM_WINDOW = 1 << 20,
    SERVER_STREAM_WINDOW = 1 << 18,
    CONNECTION_WINDOW = 1 << 30,
    HEADER_LIST_BYTES_MAX = 32768,
};

static bool settings_submit(nghttp2_session *session, uint32_t streams) {
    bool server = streams > 0;
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEADER_LIST_BYTES_MAX},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, server ? SERVER_STREAM_WINDOW : CLIENT_STREAM_WINDOW},
        {server ? NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS : NGHTTP2_SETTINGS_ENABLE_PUSH, streams},
    };
    size_t count = sizeof(settings) / sizeof(settings[0]);
    return nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, count) == 0 &&
           nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW) == 0;
}

bool floor_side_open(floor_side *side, void (*callbacks_set)(nghttp2_session_callbacks *), void *user,
                     uint32_t streams) {
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    int result = NGHTTP2_ERR_NOMEM;
    if (nghttp2_session_callbacks_new(&callbacks) == 0 && nghttp2_option_new(&option) == 0) {
        callbacks_set(callbacks);
        nghttp2_option_set_no_closed_streams(option, 1);
        result = streams > 0 ? nghttp2_session_server_new2(&side->session, callbacks, user, option)
                             : nghttp2_session_client_new2(&side->session, callbacks, user, option);
    }
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return result == 0 && settings_submit(side->session, streams);
}

void floor_side_close(floor_side *side) {
    nghttp2_session_del(side->session);
    free(side->bytes);
}

bool floor_side_append(floor_side *side, const uint8_t *bytes, size_t length) {
    if (length > side->capacity - side->length) {
        size_t capacity = (side->length + length) * 2;
        uint8_t *grown = realloc(side->bytes, capacity);
        if (grown == NULL) return false;
        side->bytes = grown;
        side->capacity = capacity;
    }
    if (length > 0) memcpy(side->bytes + side->length, bytes, length);
    side->length += length;
    return true;
}

bool floor_side_send(floor_side *side) {
    for (;;) {
        const uint8_t *bytes;
        ssize_t length = nghttp2_session_mem_send(side->session, &bytes);
        if (length <= 0) return length == 0;
        if (!floor_side_append(side, bytes, (size_t)length)) return false;
    }
}

bool floor_side_receive(floor_side *side, floor_side *other) {
    ssize_t taken = nghttp2_session_mem_recv(side->session, other->bytes, other->length);
    bool whole = taken >= 0 && (size_t)taken == other->length;
    other->length = 0;
    return whole;
}
