/*
 * reactor_epoll: shared by the files of the epoll back end.
 *
 * Every socket is registered once, edge-triggered, for both directions. Edges are recorded as bits of the slot, and
 * slots with work to do are in a queue. A slot leaves the queue only when the kernel has returned EAGAIN or the like.
 * When events, buffers or slots run out, it stays there for the next wait, so that no edge is lost.
 */
#pragma once

#include "reactor_platform.h" /* must come first */

#include "reactor_buffers.h"
#include "reactor_internal.h"

#include <sys/epoll.h>

/* Bits of reactor_slot.active. */
enum epoll_bits {
    EPOLL_READABLE = 1,   /* reading may return bytes, an end of stream, or a connection to accept */
    EPOLL_ENDING = 2,     /* an end of stream or an error follows the bytes: read until it is returned */
    EPOLL_ENDED = 4,      /* it was returned: nothing more to read */
    EPOLL_SEND = 8,       /* there is something to send, and the kernel may take it */
    EPOLL_SEND_FULL = 16, /* there is something to send, but the kernel's buffer is full */
    EPOLL_SENT = 32,      /* an APNS_REACTOR_SENT event is due */
    EPOLL_CONNECTED = 64, /* an APNS_REACTOR_CONNECTED event is due */
};

#define EPOLL_BATCH 256 /* maximum number of readiness records per system call */

struct epoll {
    int descriptor;
    int wake_descriptor;
    uint32_t *free_buffers; /* stack: the buffer used last, which is in the cache, is used next */
    uint32_t free_count;
    uint32_t *queue; /* ring of the numbers of slots with work to do, each at most once */
    uint32_t queue_mask;
    uint32_t queue_head;
    uint32_t queue_count;
    uint32_t *sends; /* slots for which EPOLL_SEND was set since the last wait */
    uint32_t sends_count;
    bool nanoseconds; /* epoll_pwait2 is available */
    struct reactor_buffers buffers;
    struct epoll_event ready[EPOLL_BATCH];
};

static inline struct epoll *epoll_of(const apns_reactor *r) {
    return r->backend_state;
}

/* Adds a slot to the queue unless it is there. */
void apns_epoll_enqueue(apns_reactor *r, struct reactor_slot *slot);

/* ---- reactor_epoll_serve.c: reading, writing, accepting */

/* Registers the descriptor of a slot. Returns 0 or a negative errno. */
int apns_epoll_register(apns_reactor *r, struct reactor_slot *slot);

/* Performs the sends that were started since the last wait. */
void apns_epoll_send_started(apns_reactor *r);

/* Records an edge in the bits of a slot. */
void apns_epoll_note(apns_reactor *r, struct reactor_slot *slot, uint32_t edges);

/* Serves the queue until capacity events are filled or nothing more can be done. Returns the number of events. */
uint32_t apns_epoll_serve(apns_reactor *r, apns_reactor_event *events, uint32_t capacity);

/* ---- reactor_epoll_wait.c: sleeping */

/* Waits for edges according to the plan and records them. linger: sleep until plan->linger_ns first. Returns 0, -EINTR,
 * or another negative errno if the loop failed. */
int apns_epoll_sleep(apns_reactor *r, const struct reactor_plan *plan, bool wait, bool linger);
