/* The library's allocator over ours. Part of both kinds of memory, and no file of its own, so that the compiler can put
 * the bodies of apns_h2_memory_take and apns_h2_memory_give here: the library calls these a dozen times for each
 * request. */
#ifndef APNS_BATCH_H2_MEMORY_LIBRARY_H
#define APNS_BATCH_H2_MEMORY_LIBRARY_H

#include "h2_internal.h"
#include <string.h>

static void *library_take(size_t bytes, void *memory) {
    return apns_h2_memory_take(memory, bytes);
}

static void library_give(void *block, void *memory) {
    apns_h2_memory_give(memory, block);
}

static void *library_take_cleared(size_t count, size_t bytes, void *memory) {
    if (bytes != 0 && count > SIZE_MAX / bytes) return NULL;
    void *block = apns_h2_memory_take(memory, count * bytes);
    return block == NULL ? NULL : memset(block, 0, count * bytes);
}

static void *library_grow(void *block, size_t bytes, void *memory) {
    return apns_h2_memory_grow_reserved(memory, block, bytes);
}

nghttp2_mem apns_h2_memory_library(apns_h2_memory *memory) {
    return (nghttp2_mem){memory, library_take, library_give, library_take_cleared, library_grow};
}

#endif
