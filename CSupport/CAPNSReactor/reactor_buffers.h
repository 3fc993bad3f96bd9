/*
 * reactor_buffers: the receive buffers, one mapping divided into buffers of equal size, and the list of those that the
 * caller may still read. Pages take no memory until something is received into them.
 */
#pragma once

#include "apns_check.h"
#include <stddef.h>
#include <stdint.h>

struct reactor_buffers {
    uint8_t *memory;
    uint16_t *held; /* buffers returned to the caller by the last wait */
    uint32_t held_count;
    uint32_t bytes; /* size of one buffer */
    uint32_t count;
};

/* Returns 0 or -ENOMEM. */
int apns_reactor_buffers_create(struct reactor_buffers *buffers, uint32_t bytes, uint32_t count);
void apns_reactor_buffers_destroy(struct reactor_buffers *buffers);

static inline uint8_t *reactor_buffers_at(const struct reactor_buffers *buffers, uint32_t number) {
    return buffers->memory + (size_t)number * buffers->bytes;
}

static inline void reactor_buffers_hold(struct reactor_buffers *buffers, uint32_t number) {
    APNS_REQUIRE(buffers->held_count < buffers->count && number < buffers->count);
    buffers->held[buffers->held_count++] = (uint16_t)number;
}
