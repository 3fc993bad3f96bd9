/*
 * reactor_wake: the state behind apns_reactor_wake. A wake needs a system call only if the loop sleeps and no other
 * wake is pending; otherwise it is one atomic exchange.
 *
 *     IDLE ──reactor_wake_sleep──▶ SLEEPING ──reactor_wake_request (true: rouse)──▶ PENDING
 *       ▲ ╲──────────────────────reactor_wake_request (false)──────────────────────▶ │
 *       └────────────────────────────reactor_wake_collect────────────────────────────┘
 */
#pragma once

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { REACTOR_WAKE_IDLE = 0, REACTOR_WAKE_SLEEPING = 1, REACTOR_WAKE_PENDING = 2 };

struct apns_reactor_wake {
    alignas(64) atomic_int state;
};

/* Called from any thread. Returns true if the caller must wake the loop through its back end. */
static inline bool reactor_wake_request(struct apns_reactor_wake *wake) {
    return atomic_exchange_explicit(&wake->state, REACTOR_WAKE_PENDING, memory_order_acq_rel) == REACTOR_WAKE_SLEEPING;
}

/* Called by the loop before it sleeps. Returns false if a wake is pending; the loop must not sleep then. */
static inline bool reactor_wake_sleep(struct apns_reactor_wake *wake) {
    int expected = REACTOR_WAKE_IDLE;
    return atomic_compare_exchange_strong_explicit(&wake->state, &expected, REACTOR_WAKE_SLEEPING, memory_order_acq_rel,
                                                   memory_order_acquire) ||
           expected == REACTOR_WAKE_SLEEPING;
}

/* Called by the loop after a wait. Returns true if there is a wake to report, and clears it. If there is no room, a
 * pending wake is left for the next time. */
static inline bool reactor_wake_collect(struct apns_reactor_wake *wake, bool room) {
    int state = atomic_load_explicit(&wake->state, memory_order_relaxed);
    if (state == REACTOR_WAKE_SLEEPING) {
        if (atomic_compare_exchange_strong_explicit(&wake->state, &state, REACTOR_WAKE_IDLE, memory_order_acq_rel,
                                                    memory_order_relaxed))
            return false;
    }
    if (state != REACTOR_WAKE_PENDING || !room) return false;
    return atomic_exchange_explicit(&wake->state, REACTOR_WAKE_IDLE, memory_order_acq_rel) == REACTOR_WAKE_PENDING;
}
