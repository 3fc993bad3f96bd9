#include "fuzz_hpack.h"
#include "h2_hpack.h"
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_BYTES = 8 << 20, FIELDS_MAX = 1024 };

/* The fields of a block, in a form that can be compared. */
typedef struct listing {
    uint32_t count;
    uint32_t lengths[FIELDS_MAX][2];
    uint64_t hashes[FIELDS_MAX];
} listing;

static uint64_t hash_add(uint64_t hash, const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

static void add(listing *fields, const uint8_t *name, size_t name_length, const uint8_t *value, size_t value_length) {
    if (fields->count == FIELDS_MAX) return;
    fields->lengths[fields->count][0] = (uint32_t)name_length;
    fields->lengths[fields->count][1] = (uint32_t)value_length;
    fields->hashes[fields->count++] = hash_add(hash_add(14695981039346656037u, name, name_length), value, value_length);
}

static bool visit(void *context, const apns_h2_field *field) {
    add(context, field->name, field->name_length, field->value, field->value_length);
    return true;
}

static bool library_read(nghttp2_hd_inflater *inflater, const uint8_t *bytes, size_t length, listing *fields) {
    for (;;) {
        nghttp2_nv field;
        int flags = 0;
        ssize_t used = nghttp2_hd_inflate_hd2(inflater, &field, &flags, bytes, length, 1);
        if (used < 0) return false;
        bytes += used;
        length -= (size_t)used;
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) add(fields, field.name, field.namelen, field.value, field.valuelen);
        if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) return nghttp2_hd_inflate_end_headers(inflater) == 0;
    }
}

void fuzz_hpack(const uint8_t *bytes, size_t length) {
    static listing ours, theirs;
    apns_h2_memory *memory = apns_h2_memory_create(MEMORY_BYTES);
    h2_decoder decoder;
    nghttp2_hd_inflater *inflater;
    if (memory == NULL || nghttp2_hd_inflate_new(&inflater) != 0) abort();
    memset(&decoder, 0, sizeof(decoder));
    apns_h2_decoder_init(&decoder, memory);
    while (length > 0) {
        size_t now = bytes[0] < length - 1 ? bytes[0] : length - 1;
        uint8_t *block = malloc(now + 1); /* of its own size, for the sanitizer */
        if (block == NULL) abort();
        uint8_t *begin = block + 1;
        memcpy(begin, bytes + 1, now);
        ours.count = theirs.count = 0;
        int result = apns_h2_decoder_read(&decoder, begin, now, visit, &ours);
        bool good = library_read(inflater, begin, now, &theirs);
        free(block);
        if (result != H2_DECODED && result != H2_DECODED_INVALID) break;
        if (good != (result == H2_DECODED) || ours.count != theirs.count) abort();
        if (memcmp(ours.lengths, theirs.lengths, ours.count * sizeof(ours.lengths[0])) != 0) abort();
        if (memcmp(ours.hashes, theirs.hashes, ours.count * sizeof(ours.hashes[0])) != 0) abort();
        if (!good) break;
        bytes += now + 1;
        length -= now + 1;
    }
    nghttp2_hd_inflate_del(inflater);
    apns_h2_decoder_clear(&decoder);
    apns_h2_memory_destroy(memory);
}
