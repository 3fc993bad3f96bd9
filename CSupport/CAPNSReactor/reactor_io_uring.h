/*
 * reactor_io_uring: what the files of the io_uring back end share.
 *
 * Operations are queued in the submission ring and reach the kernel with the next apns_reactor_wait, which is one
 * system call for submitting, waiting and running the kernel's deferred work. A completion carries slot, generation and
 * kind of operation. A slot's bits say which of its operations the kernel holds; a closing slot is closed when the last
 * of them has completed.
 *
 * Receiving is one multishot operation per connection into a ring of buffers that all connections share.
 */
#ifndef APNS_BATCH_REACTOR_IO_URING_H
#define APNS_BATCH_REACTOR_IO_URING_H

#include "reactor_platform.h" /* before the others */

#include "reactor_buffers.h"
#include "reactor_internal.h"

#include <liburing.h>
#include <netinet/in.h>

/* Bits of reactor_slot's active (the kernel holds it) and wanted (found no room in the submission ring). */
enum uring_operation {
    URING_RECEIVE = 1,
    URING_SEND = 2,
    URING_ACCEPT = 4,
    URING_CONNECT = 8,
    URING_CANCEL = 16,
    URING_WAKE = 32, /* no slot's: the wake-up descriptor's poll */
};

/* What the running kernel has beyond the least that is needed (Linux 5.19). */
struct uring_features {
    bool multishot;   /* receive (Linux 6.0) and accept (5.19) */
    bool min_timeout; /* a wait with a batch time and a limit in one call (6.12) */
};

/* A multishot accept goes on in the kernel until it is cancelled, so connections still come when the slots have just
 * run out. They wait parked; should a storm bring more than this at once, the rest is closed. */
#define URING_PARKED_MAX 1024U

struct uring_parked {
    int descriptor;
    uint32_t listener; /* slot */
};

struct uring {
    struct io_uring ring;
    struct io_uring_buf_ring *buffer_ring;
    union uring_address *addresses; /* by slot: of a connect that is not yet submitted */
    struct uring_parked *parked;
    uint32_t parked_count;
    int wake_descriptor;
    unsigned enter_flags;
    struct uring_features features;
    bool starved; /* some slot, or the wake-up, has wanted operations */
    bool wake_wanted;
    bool wake_active; /* the kernel holds the poll of the wake-up descriptor */
    struct reactor_buffers buffers;
};

union uring_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static inline struct uring *uring_of(const apns_reactor *r) {
    return r->backend_state;
}

/* ---- reactor_io_uring_ring.c: the rings themselves */

/* Sets up rings and buffers; plain: with nothing newer than Linux 5.19. 0 or a negative errno, then nothing is left. */
int apns_uring_ring_create(struct uring *u, const apns_reactor_options *options, bool plain);
void apns_uring_ring_destroy(struct uring *u);

/* Submits everything queued and waits as planned. 0, -EINTR, or a failure of the loop. */
int apns_uring_ring_enter(struct uring *u, const struct reactor_plan *plan);

/* Submits everything queued without waiting. */
int apns_uring_ring_flush(struct uring *u);

/* Gives a receive buffer to the kernel once apns_uring_buffers_publish is called with the number given. */
void apns_uring_buffers_give(struct uring *u, uint32_t number, uint32_t position);
void apns_uring_buffers_publish(struct uring *u, uint32_t count);

/* ---- reactor_io_uring_start.c: operations */

/* Queues an operation of a slot, from the slot's own fields. */
void apns_uring_start(apns_reactor *r, struct reactor_slot *slot, enum uring_operation operation);

/* Queues what found no room before. */
void apns_uring_start_wanted(apns_reactor *r);

/* Queues the poll of the wake-up descriptor, or its end. */
void apns_uring_start_wake(apns_reactor *r);
void apns_uring_end_wake(apns_reactor *r);

/* Closes the descriptor of a closing slot if none of its operations is left. */
void apns_uring_join(apns_reactor *r, struct reactor_slot *slot);

/* ---- reactor_io_uring_accept.c: accepted connections */

/* Completion of an accept; more: the operation goes on. Returns events made, 0 or 1. */
uint32_t apns_uring_accept_complete(apns_reactor *r, struct reactor_slot *listener, int result, bool more,
                                    apns_reactor_event *event);

/* Hands over parked connections as slots are free. Returns events made. */
uint32_t apns_uring_accept_unpark(apns_reactor *r, apns_reactor_event *events, uint32_t capacity);

/* Closes the parked connections of a listener. */
void apns_uring_accept_drop(apns_reactor *r, const struct reactor_slot *listener);

/* ---- reactor_io_uring_complete.c: completions */

/* Takes completions until capacity events are made or none is left. Returns events made. */
uint32_t apns_uring_complete(apns_reactor *r, apns_reactor_event *events, uint32_t capacity);

#endif
