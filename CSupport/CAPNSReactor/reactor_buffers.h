/*
 * reactor_buffers: the memory that is received into, one mapping cut into equal buffers, and the list of those whose
 * bytes the caller may still read. Pages never received into take no memory.
 */
#ifndef APNS_BATCH_REACTOR_BUFFERS_H
#define APNS_BATCH_REACTOR_BUFFERS_H

#include "apns_check.h"
#include <stddef.h>
#include <stdint.h>

struct reactor_buffers {
    uint8_t *memory;
    uint16_t *held; /* handed to the caller by the last wait */
    uint32_t held_count;
    uint32_t bytes; /* of one buffer */
    uint32_t count;
};

/* 0 or -ENOMEM. */
int apns_reactor_buffers_create(struct reactor_buffers *buffers, uint32_t bytes, uint32_t count);
void apns_reactor_buffers_destroy(struct reactor_buffers *buffers);

static inline uint8_t *reactor_buffers_at(const struct reactor_buffers *buffers, uint32_t number) {
    return buffers->memory + (size_t)number * buffers->bytes;
}

static inline void reactor_buffers_hold(struct reactor_buffers *buffers, uint32_t number) {
    APNS_REQUIRE(buffers->held_count < buffers->count && number < buffers->count);
    buffers->held[buffers->held_count++] = (uint16_t)number;
}

#endif
