#include "floor_internal.h"
#include <stdlib.h>
#include <string.h>

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    floor_server *server = user;
    int32_t stream = frame->hd.stream_id;
    floor_arrival *arrival = &server->arrivals[(uint32_t)stream / 2 % server->streams];
    memset(arrival, 0, sizeof(*arrival));
    return nghttp2_session_set_stream_user_data(session, stream, arrival);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
                     const uint8_t *value, size_t value_length, uint8_t flags, void *user) {
    (void)flags;
    (void)user;
    floor_arrival *arrival = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (name_length == 7 && memcmp(name, "apns-id", 7) == 0 && value_length == FLOOR_ID_BYTES)
        memcpy(arrival->id, value, FLOOR_ID_BYTES);
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes, size_t length,
                   void *user) {
    (void)flags;
    const floor_request *request = ((const floor_server *)user)->request;
    floor_arrival *arrival = nghttp2_session_get_stream_user_data(session, stream);
    if (length > request->body_length - arrival->body_received) return NGHTTP2_ERR_CALLBACK_FAILURE;
    if (memcmp(request->body + arrival->body_received, bytes, length) != 0) arrival->damaged = true;
    arrival->body_received += length;
    return 0;
}

/* As the simulator does: the name of the id enters HPACK's table with the first answer. */
static int respond(floor_server *server, int32_t stream, floor_arrival *arrival) {
    nghttp2_nv_flag index = server->answers++ == 0 ? NGHTTP2_NV_FLAG_NONE : NGHTTP2_NV_FLAG_NO_INDEX;
    const nghttp2_nv fields[] = {
        {(uint8_t *)(uintptr_t) ":status", (uint8_t *)(uintptr_t) "200", 7, 3, NGHTTP2_NV_FLAG_NONE},
        {(uint8_t *)(uintptr_t) "apns-id", arrival->id, 7, FLOOR_ID_BYTES, (uint8_t)index},
    };
    return nghttp2_submit_response(server->side.session, stream, fields, 2, NULL);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    floor_server *server = user;
    if (frame->hd.type != NGHTTP2_DATA || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    floor_arrival *arrival = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (arrival->body_received == server->request->body_length && !arrival->damaged) server->delivered++;
    return respond(server, frame->hd.stream_id, arrival);
}

static void callbacks_set(nghttp2_session_callbacks *callbacks) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
}

bool floor_server_open(floor_server *server, const floor_request *request, uint32_t streams) {
    server->request = request;
    server->streams = streams;
    server->arrivals = calloc(streams, sizeof(floor_arrival));
    return server->arrivals != NULL && floor_side_open(&server->side, callbacks_set, server, streams);
}

void floor_server_clear(floor_server *server) {
    floor_side_close(&server->side);
    free(server->arrivals);
}
