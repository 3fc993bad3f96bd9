/*
 * reactor_io_uring: shared by the files of the io_uring back end.
 *
 * Operations are queued in the submission ring and reach the kernel with the next apns_reactor_wait, in one system call
 * that submits, waits and runs the kernel's deferred work. A completion carries slot number, generation and kind of
 * operation. The bits of a slot show which of its operations are in the kernel; a closing slot is closed when the last
 * of them has completed.
 *
 * Each connection receives through one multishot operation into a ring of buffers that all connections share.
 */
#pragma once

#include "reactor_platform.h" /* must come first */

#include "reactor_buffers.h"
#include "reactor_internal.h"

#include <liburing.h>
#include <netinet/in.h>

/* Bits of reactor_slot.active (in the kernel) and reactor_slot.wanted (the submission ring was full). */
enum uring_operation {
    URING_RECEIVE = 1,
    URING_SEND = 2,
    URING_ACCEPT = 4,
    URING_CONNECT = 8,
    URING_CANCEL = 16,
    URING_WAKE = 32, /* not of a slot: poll of the wake-up descriptor */
};

/* Features of the running kernel beyond Linux 5.19, the oldest supported one. */
struct uring_features {
    bool multishot;   /* multishot receive (Linux 6.0) and accept (5.19) */
    bool min_timeout; /* wait with a batch time and a time limit in one call (6.12) */
};

/* Limit on parked connections. A multishot accept continues until it is cancelled, so connections may arrive when no
 * slot is free. They are parked; those beyond this limit are closed. */
#define URING_PARKED_MAX 1024U

struct uring_parked {
    int descriptor;
    uint32_t listener; /* slot number */
};

struct uring {
    struct io_uring ring;
    struct io_uring_buf_ring *buffer_ring;
    union uring_address *addresses; /* by slot number: address of a connect that is not yet submitted */
    struct uring_parked *parked;
    uint32_t parked_count;
    int wake_descriptor;
    unsigned enter_flags;
    struct uring_features features;
    bool starved; /* some slot, or the wake-up, has wanted operations */
    bool wake_wanted;
    bool wake_active; /* the poll of the wake-up descriptor is in the kernel */
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

/* Creates rings and buffers; plain: without features newer than Linux 5.19. Returns 0, or a negative errno after
 * releasing everything. */
int apns_uring_ring_create(struct uring *u, const apns_reactor_options *options, bool plain);
void apns_uring_ring_destroy(struct uring *u);

/* Submits everything queued and waits according to the plan. Returns 0, -EINTR, or another negative errno if the loop
 * failed. */
int apns_uring_ring_enter(struct uring *u, const struct reactor_plan *plan);

/* Submits everything queued without waiting. */
int apns_uring_ring_flush(struct uring *u);

/* give adds a receive buffer at a position after the tail of the ring; publish passes count of them to the kernel. */
void apns_uring_buffers_give(struct uring *u, uint32_t number, uint32_t position);
void apns_uring_buffers_publish(struct uring *u, uint32_t count);

/* ---- reactor_io_uring_start.c: operations */

/* Queues an operation of a slot, with the parameters in the slot. */
void apns_uring_start(apns_reactor *r, struct reactor_slot *slot, enum uring_operation operation);

/* Queues the operations that did not fit into the submission ring before. */
void apns_uring_start_wanted(apns_reactor *r);

/* Queue the poll of the wake-up descriptor, or its cancellation. */
void apns_uring_start_wake(apns_reactor *r);
void apns_uring_end_wake(apns_reactor *r);

/* Closes the descriptor of a closing slot if no operation is left. */
void apns_uring_join(apns_reactor *r, struct reactor_slot *slot);

/* ---- reactor_io_uring_accept.c: accepted connections */

/* Handles the completion of an accept; more: the operation continues. Returns the number of events, 0 or 1. */
uint32_t apns_uring_accept_complete(apns_reactor *r, struct reactor_slot *listener, int result, bool more,
                                    apns_reactor_event *event);

/* Returns parked connections while slots are free. Returns the number of events. */
uint32_t apns_uring_accept_unpark(apns_reactor *r, apns_reactor_event *events, uint32_t capacity);

/* Closes the parked connections of a listener. */
void apns_uring_accept_drop(apns_reactor *r, const struct reactor_slot *listener);

/* ---- reactor_io_uring_complete.c: completions */

/* Handles completions until capacity events are filled or none is left. Returns the number of events. */
uint32_t apns_uring_complete(apns_reactor *r, apns_reactor_event *events, uint32_t capacity);
