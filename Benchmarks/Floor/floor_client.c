#include "floor_internal.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_HEADER_BYTES = 9, PATH_BYTES = sizeof("/3/device/") - 1 + 64 };

/* SplitMix64. */
static uint64_t mixed(uint64_t number) {
    uint64_t z = number + 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

void floor_client_prepare(floor_client *client) {
    client->answered = 0;
    for (uint32_t i = 0; i < client->streams; i++) {
        floor_exchange *exchange = &client->exchanges[i];
        uint64_t seed = 4 * (client->made + i);
        uint64_t words[4] = {mixed(seed), mixed(seed + 1), mixed(seed + 2), mixed(seed + 3)};
        snprintf(exchange->path, sizeof(exchange->path),
                 "/3/device/%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "%016" PRIx64, words[0], words[1], words[2],
                 words[3]);
        snprintf(exchange->id, sizeof(exchange->id), "%08x-%04x-8%03x-8%03x-%012" PRIx64, (uint32_t)words[1],
                 (uint32_t)(words[2] & 0xffff), (uint32_t)(words[2] >> 52), (uint32_t)(words[3] >> 52), words[0] >> 16);
        exchange->accepted = exchange->id_returned = false;
    }
}

static ssize_t body_read(nghttp2_session *session, int32_t stream, uint8_t *buffer, size_t length, uint32_t *flags,
                         nghttp2_data_source *source, void *user) {
    (void)session;
    (void)stream;
    (void)buffer;
    (void)source;
    const floor_client *client = user;
    if (client->request->body_length > length) return NGHTTP2_ERR_CALLBACK_FAILURE; /* a payload fits a frame */
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY | NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)client->request->body_length;
}

static int body_send(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *header, size_t length,
                     nghttp2_data_source *source, void *user) {
    (void)session;
    (void)frame;
    (void)source;
    floor_client *client = user;
    bool sent = floor_side_append(&client->side, header, FRAME_HEADER_BYTES) &&
                floor_side_append(&client->side, client->request->body, length);
    return sent ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    floor_client *client = user;
    client->current = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    return client->current == NULL ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static bool same(const uint8_t *bytes, size_t length, const char *text, size_t text_length) {
    return length == text_length && memcmp(bytes, text, length) == 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
                     const uint8_t *value, size_t value_length, uint8_t flags, void *user) {
    (void)session;
    (void)frame;
    (void)flags;
    const floor_client *client = user;
    floor_exchange *exchange = client->current;
    if (same(name, name_length, ":status", 7))
        exchange->accepted = same(value, value_length, "200", 3);
    else if (same(name, name_length, "apns-id", 7))
        exchange->id_returned = same(value, value_length, exchange->id, FLOOR_ID_BYTES);
    return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t error_code, void *user) {
    floor_client *client = user;
    const floor_exchange *exchange = nghttp2_session_get_stream_user_data(session, stream);
    if (exchange != NULL && error_code == 0 && exchange->accepted && exchange->id_returned) client->answered++;
    return 0;
}

static void callbacks_set(nghttp2_session_callbacks *callbacks) {
    nghttp2_session_callbacks_set_send_data_callback(callbacks, body_send);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
}

/* Names and values stay where they are until the request is serialized. */
static nghttp2_nv field_make(const void *name, size_t name_length, const void *value, size_t value_length,
                             bool indexed) {
    int flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, name_length, value_length,
                        (uint8_t)(indexed ? flags : flags | NGHTTP2_NV_FLAG_NO_INDEX)};
}

static void fields_make(floor_client *client) {
    const floor_request *request = client->request;
    client->fields[0] = field_make(":path", 5, "", PATH_BYTES, false);
    for (size_t i = 0; i < request->field_count; i++) {
        const floor_field *field = &request->fields[i];
        client->fields[i + 1] =
            field_make(field->name, field->name_length, field->value, field->value_length, field->indexed);
    }
    client->fields[request->field_count + 1] = field_make("apns-id", 7, "", FLOOR_ID_BYTES, false);
}

bool floor_client_open(floor_client *client, const floor_request *request, uint32_t streams) {
    client->request = request;
    client->streams = streams;
    client->exchanges = calloc(streams, sizeof(floor_exchange));
    if (client->exchanges == NULL || request->field_count > FLOOR_FIELDS_MAX) return false;
    fields_make(client);
    return floor_side_open(&client->side, callbacks_set, client, 0);
}

void floor_client_clear(floor_client *client) {
    floor_side_close(&client->side);
    free(client->exchanges);
}

/* The first id is indexed, so that the name is in HPACK's table from then on. */
static bool one_submit(floor_client *client, floor_exchange *exchange) {
    nghttp2_data_provider body = {.source.ptr = exchange, .read_callback = body_read};
    size_t last = client->request->field_count + 1;
    nghttp2_nv id = field_make("apns-id", 7, exchange->id, FLOOR_ID_BYTES, client->made == 0);
    client->fields[0].value = (uint8_t *)exchange->path;
    client->fields[last] = id;
    client->made++;
    return nghttp2_submit_request(client->side.session, NULL, client->fields, last + 1, &body, exchange) > 0;
}

bool floor_client_submit(floor_client *client) {
    for (uint32_t i = 0; i < client->streams; i++)
        if (!one_submit(client, &client->exchanges[i])) return false;
    return true;
}
