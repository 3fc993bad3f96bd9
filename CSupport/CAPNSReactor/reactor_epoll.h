/*
 * reactor_epoll: what the files of the epoll back end share.
 *
 * Every socket is registered once, edge-triggered, for both directions. What an edge says is kept as bits of the slot;
 * slots with something to do stand in a queue. A slot leaves it when the kernel has said EAGAIN or the like, so nothing
 * is lost when events, buffers or slots run out: it stays in the queue for the next wait.
 */
#ifndef APNS_BATCH_REACTOR_EPOLL_H
#define APNS_BATCH_REACTOR_EPOLL_H

#include "reactor_platform.h" /* before the others */

#include "reactor_buffers.h"
#include "reactor_internal.h"

#include <sys/epoll.h>

/* Bits of reactor_slot's active. */
enum epoll_bits {
    EPOLL_READABLE = 1,   /* reading may bring something: bytes, an end, a connection to accept */
    EPOLL_ENDING = 2,     /* the end of the stream or an error stands behind the bytes: read until it shows */
    EPOLL_ENDED = 4,      /* it has shown: nothing more to read */
    EPOLL_SEND = 8,       /* there is something to send and the kernel may take it */
    EPOLL_SEND_FULL = 16, /* there is something to send, the kernel's buffer is full */
    EPOLL_SENT = 32,      /* a APNS_REACTOR_SENT event is owed */
    EPOLL_CONNECTED = 64, /* a APNS_REACTOR_CONNECTED event is owed */
};

#define EPOLL_BATCH 256 /* readiness records taken from the kernel at once; the rest comes with the next call */

struct epoll {
    int descriptor;
    int wake_descriptor;
    uint32_t *free_buffers; /* a stack: the last one used is the next, for the cache */
    uint32_t free_count;
    uint32_t *queue; /* ring of slot numbers with something to do; each stands there once */
    uint32_t queue_mask;
    uint32_t queue_head;
    uint32_t queue_count;
    uint32_t *sends; /* slots with EPOLL_SEND set since the last wait */
    uint32_t sends_count;
    bool nanoseconds; /* epoll_pwait2 is there */
    struct reactor_buffers buffers;
    struct epoll_event ready[EPOLL_BATCH];
};

static inline struct epoll *epoll_of(const apns_reactor *r) {
    return r->backend_state;
}

/* Puts a slot into the queue unless it stands there. */
void apns_epoll_enqueue(apns_reactor *r, struct reactor_slot *slot);

/* ---- reactor_epoll_serve.c: reading, writing, accepting */

/* Registers a slot's descriptor. 0 or a negative errno. */
int apns_epoll_register(apns_reactor *r, struct reactor_slot *slot);

/* Sends what apns_reactor_send was given since the last wait. */
void apns_epoll_send_started(apns_reactor *r);

/* Takes note of an edge. */
void apns_epoll_note(apns_reactor *r, struct reactor_slot *slot, uint32_t edges);

/* Serves the queue until capacity events are made or nothing more can be done. Returns events made. */
uint32_t apns_epoll_serve(apns_reactor *r, apns_reactor_event *events, uint32_t capacity);

/* ---- reactor_epoll_wait.c: sleeping */

/* Waits as planned for edges and takes note of them. linger: sleep first. 0, -EINTR, or a failure of the loop. */
int apns_epoll_sleep(apns_reactor *r, const struct reactor_plan *plan, bool wait, bool linger);

#endif
