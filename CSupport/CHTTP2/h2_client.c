#include "h2_internal.h"
#include <stdlib.h>
#include <string.h>

static const uint8_t name_path[] = ":path";

/* The fields of one request, assembled on the stack. */
enum { ASSEMBLED_MAX = H2_SET_FIELDS_MAX + 1 + H2_SET_FIELDS_MAX + H2_REQUEST_FIELDS_MAX };

static const uint8_t *copy(uint8_t **place, const uint8_t *bytes, uint32_t length) {
    const uint8_t *start = *place;
    if (length > 0) memcpy(*place, bytes, length);
    *place += length;
    return start;
}

static void set_fill(h2_header_set *set, const h2_field *fields, uint32_t count) {
    uint8_t *place = set->bytes;
    bool pseudo = true;
    for (uint32_t i = 0; i < count; i++) {
        const h2_field *field = &fields[i];
        pseudo = pseudo && field->name_length > 0 && field->name[0] == ':';
        set->pseudo_count += pseudo;
        set->name_once += field->indexing == H2_NAME_ONCE;
        set->indexing[i] = (uint8_t)field->indexing;
        set->fields[i].name = (uint8_t *)(uintptr_t)copy(&place, field->name, field->name_length);
        set->fields[i].value = (uint8_t *)(uintptr_t)copy(&place, field->value, field->value_length);
        set->fields[i].namelen = field->name_length;
        set->fields[i].valuelen = field->value_length;
        set->fields[i].flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
        if (field->indexing == H2_LITERAL) set->fields[i].flags |= NGHTTP2_NV_FLAG_NO_INDEX;
    }
    set->count = count;
}

h2_header_set *h2_header_set_create(const h2_field *fields, uint32_t count) {
    if (count > H2_SET_FIELDS_MAX) return NULL;
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += (size_t)fields[i].name_length + fields[i].value_length;
    h2_header_set *set = calloc(1, sizeof(*set) + bytes);
    if (set != NULL) set_fill(set, fields, count);
    return set;
}

void h2_header_set_destroy(h2_header_set *set) {
    free(set);
}

/* True when the name was sent with indexing before; remembers it otherwise. */
static bool name_seen(h2_session *session, const uint8_t *name, size_t length) {
    for (uint32_t i = 0; i < session->names_once_count; i++)
        if (session->names_once[i].length == length && memcmp(session->names_once[i].bytes, name, length) == 0)
            return true;
    if (session->names_once_count == NAMES_ONCE_MAX || length > NAME_ONCE_BYTES_MAX) return true;
    h2_name_once *once = &session->names_once[session->names_once_count++];
    once->length = (uint32_t)length;
    memcpy(once->bytes, name, length);
    return false;
}

static void names_once_resolve(h2_session *session, const h2_header_set *set, nghttp2_nv *fields, uint32_t first,
                               uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (set->indexing[first + i] == H2_NAME_ONCE && name_seen(session, fields[i].name, fields[i].namelen))
            fields[i].flags |= NGHTTP2_NV_FLAG_NO_INDEX;
}

/* Copies count prepared fields; without borrow the library makes its own copy of names and values. */
static nghttp2_nv *set_add(h2_session *session, nghttp2_nv *place, const h2_header_set *set, uint32_t first,
                           uint32_t count, bool borrow) {
    memcpy(place, &set->fields[first], count * sizeof(*place));
    if (set->name_once > 0) names_once_resolve(session, set, place, first, count);
    if (!borrow)
        for (uint32_t i = 0; i < count; i++)
            place[i].flags =
                (uint8_t)(place[i].flags & ~(NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE));
    return place + count;
}

static uint8_t flags_for(h2_session *session, const h2_field *field) {
    uint8_t flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
    if (field->indexing == H2_LITERAL ||
        (field->indexing == H2_NAME_ONCE && name_seen(session, field->name, field->name_length)))
        flags |= NGHTTP2_NV_FLAG_NO_INDEX;
    return flags;
}

static nghttp2_nv field_make(const uint8_t *name, size_t name_length, const uint8_t *value, size_t value_length,
                             uint8_t flags) {
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, name_length, value_length, flags};
}

static size_t assemble(h2_session *session, const h2_request *request, nghttp2_nv *fields, bool borrow) {
    const h2_header_set *set = request->set;
    nghttp2_nv *place = set_add(session, fields, set, 0, set->pseudo_count, borrow);
    *place++ = field_make(name_path, sizeof(name_path) - 1, request->path, request->path_length,
                          NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE);
    place = set_add(session, place, set, set->pseudo_count, set->count - set->pseudo_count, borrow);
    if (request->shared != NULL) place = set_add(session, place, request->shared, 0, request->shared->count, borrow);
    for (uint32_t i = 0; i < request->field_count; i++) {
        const h2_field *field = &request->fields[i];
        *place++ =
            field_make(field->name, field->name_length, field->value, field->value_length, flags_for(session, field));
    }
    return (size_t)(place - fields);
}

/* Writing each request as it is submitted keeps everything that the library allocates for it in the cache, and lets it
 * borrow the fields: they are encoded before this function returns. Only when the output is paused does a request wait
 * inside the library, with copies of the shared fields. */
int h2_client_submit(h2_session *session, h2_exchange *exchange, const h2_request *request) {
    if (!session->drained && h2_session_pump(session) != 0) return -1;
    bool direct = session->drained && !session->output->paused;
    nghttp2_nv fields[ASSEMBLED_MAX];
    size_t count = assemble(session, request, fields, direct);
    nghttp2_data_provider body = {.source.ptr = exchange, .read_callback = h2_send_read};
    int32_t stream =
        nghttp2_submit_request(session->ng, NULL, fields, count, exchange->body_length > 0 ? &body : NULL, exchange);
    if (stream == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE) return 1;
    if (stream < 0) return h2_session_fail_library(session, stream);
    exchange->stream = stream;
    session->open_count++;
    session->drained = false;
    if (!direct) return 0;
    if (h2_session_pump(session) != 0) return -1;
    /* Borrowed fields must not stay behind in the library. */
    return session->written_stream == stream
               ? 0
               : h2_session_fail(session, H2_FAILURE_MEMORY, NGHTTP2_ERR_INTERNAL, "a request was not written");
}

int h2_client_abandon(h2_session *session, h2_exchange *exchange, uint32_t code) {
    nghttp2_session_set_stream_user_data(session->ng, exchange->stream, NULL);
    if (exchange == session->current) session->current = NULL;
    session->drained = false;
    int result = nghttp2_submit_rst_stream(session->ng, NGHTTP2_FLAG_NONE, exchange->stream, code);
    return result < 0 ? h2_session_fail_library(session, result) : 0;
}
