/*
 * fuzz_listing: the fields of a header block, in a form that can be compared.
 */
#pragma once

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LISTING_FIELDS_MAX = 1024 };

typedef struct listing {
    uint32_t count;
    uint32_t lengths[LISTING_FIELDS_MAX][2];
    uint64_t hashes[LISTING_FIELDS_MAX];
} listing;

static inline uint64_t listing_hash_add(uint64_t hash, const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

static inline void listing_add(listing *fields, const uint8_t *name, size_t name_length, const uint8_t *value,
                               size_t value_length) {
    if (fields->count == LISTING_FIELDS_MAX) return;
    fields->lengths[fields->count][0] = (uint32_t)name_length;
    fields->lengths[fields->count][1] = (uint32_t)value_length;
    uint64_t hash = listing_hash_add(14695981039346656037u, name, name_length);
    fields->hashes[fields->count++] = listing_hash_add(hash, value, value_length);
}

static inline bool listing_equal(const listing *a, const listing *b) {
    return a->count == b->count && memcmp(a->lengths, b->lengths, a->count * sizeof(a->lengths[0])) == 0 &&
           memcmp(a->hashes, b->hashes, a->count * sizeof(a->hashes[0])) == 0;
}

/* Adds the fields that nghttp2 finds in a block; returns whether it decodes. */
static inline bool listing_inflate(nghttp2_hd_inflater *inflater, const uint8_t *bytes, size_t length,
                                   listing *fields) {
    for (;;) {
        nghttp2_nv field;
        int flags = 0;
        ssize_t used = nghttp2_hd_inflate_hd2(inflater, &field, &flags, bytes, length, 1);
        if (used < 0) return false;
        bytes += used;
        length -= (size_t)used;
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0)
            listing_add(fields, field.name, field.namelen, field.value, field.valuelen);
        if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) return nghttp2_hd_inflate_end_headers(inflater) == 0;
    }
}
