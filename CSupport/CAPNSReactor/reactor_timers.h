/*
 * reactor_timers: one-shot timers of fixed number, a binary heap over a table of slots. Start and stop cost O(log n);
 * looking at the next deadline is free. Timers due at the same time fire in the order of their starts.
 */
#ifndef APNS_BATCH_REACTOR_TIMERS_H
#define APNS_BATCH_REACTOR_TIMERS_H

#include "apns_reactor.h"

struct reactor_timer_slot {
    uint64_t context;
    uint32_t generation; /* never 0 */
    uint32_t place;      /* running: position in the heap; free: next free slot */
    bool running;
};

struct reactor_timer_entry {
    uint64_t at_ns;
    uint64_t order; /* number of the start */
    uint32_t slot;
    uint32_t reserved;
};

struct reactor_timers {
    struct reactor_timer_slot *slots;
    struct reactor_timer_entry *heap;
    uint64_t starts;
    uint32_t capacity;
    uint32_t running;
    uint32_t free_head;
};

/* Makes capacity timers (0 is allowed): 0 or -ENOMEM. */
int apns_reactor_timers_create(struct reactor_timers *timers, uint32_t capacity);
void apns_reactor_timers_destroy(struct reactor_timers *timers);

/* -ENOSPC when all run. */
int apns_reactor_timers_start(struct reactor_timers *timers, uint64_t at_ns, uint64_t context, apns_reactor_timer *out);

/* -ENOENT when it does not run. */
int apns_reactor_timers_stop(struct reactor_timers *timers, apns_reactor_timer timer);

/* Makes APNS_REACTOR_TIMER events of the timers due, earliest first. Returns how many. */
uint32_t apns_reactor_timers_collect(struct reactor_timers *timers, uint64_t now_ns, apns_reactor_event *events,
                                     uint32_t capacity);

/* The next deadline; UINT64_MAX when no timer runs. */
static inline uint64_t reactor_timers_next(const struct reactor_timers *timers) {
    return timers->running == 0 ? UINT64_MAX : timers->heap[0].at_ns;
}

#endif
