#include "reactor_io_uring.h"

#include "apns_check.h"
#include <errno.h>
#include <unistd.h>

typedef struct io_uring_cqe completion;

static bool is_last(const completion *c) {
    return (c->flags & IORING_CQE_F_MORE) == 0;
}

/* ---------------------------------------------------------------- receiving */

static uint32_t received(apns_reactor *r, struct reactor_slot *slot, uint32_t index, const completion *c,
                         apns_reactor_event *event) {
    struct uring *u = uring_of(r);
    uint32_t number = c->flags >> IORING_CQE_BUFFER_SHIFT;
    reactor_buffers_hold(&u->buffers, number);
    *event = reactor_event_make(slot, index, APNS_REACTOR_RECEIVED);
    event->bytes = reactor_buffers_at(&u->buffers, number);
    event->length = (uint32_t)c->res;
    if (is_last(c)) apns_uring_start(r, slot, URING_RECEIVE);
    return 1;
}

/* Handles the end of a receive operation: end of stream, an error, or a reason to start it again. */
static uint32_t receive_ended(apns_reactor *r, struct reactor_slot *slot, uint32_t index, const completion *c,
                              apns_reactor_event *event) {
    struct uring *u = uring_of(r);
    switch (-c->res) {
    case EINVAL:
        if (!u->features.multishot) break;
        u->features.multishot = false; /* Linux 5.19 */
        apns_uring_start(r, slot, URING_RECEIVE);
        return 0;
    case ENOBUFS: /* submitted after the caller's buffers are returned */
    case EINTR:
    case EAGAIN:
        apns_uring_start(r, slot, URING_RECEIVE);
        return 0;
    default:
        break;
    }
    *event = reactor_event_make(slot, index, APNS_REACTOR_RECEIVED);
    event->error = -c->res;
    return 1;
}

static void buffer_give_back(struct uring *u, const completion *c) {
    if ((c->flags & IORING_CQE_F_BUFFER) == 0) return;
    apns_uring_buffers_give(u, c->flags >> IORING_CQE_BUFFER_SHIFT, 0);
    apns_uring_buffers_publish(u, 1);
}

static uint32_t receive_complete(apns_reactor *r, struct reactor_slot *slot, uint32_t index, const completion *c,
                                 apns_reactor_event *event) {
    if (c->res > 0) return received(r, slot, index, c, event);
    buffer_give_back(uring_of(r), c);
    return receive_ended(r, slot, index, c, event);
}

/* ---------------------------------------------------------------- sending, connecting, closing */

static uint32_t send_complete(apns_reactor *r, struct reactor_slot *slot, uint32_t index, const completion *c,
                              apns_reactor_event *event) {
    slot->send_done += c->res > 0 ? (uint32_t)c->res : 0;
    APNS_REQUIRE(slot->sending && slot->send_done <= slot->send_length);
    const bool again = c->res > 0 || c->res == -EAGAIN || c->res == -EINTR;
    if (again && slot->send_done < slot->send_length) {
        apns_uring_start(r, slot, URING_SEND);
        return 0;
    }
    slot->sending = false;
    *event = reactor_event_make(slot, index, APNS_REACTOR_SENT);
    event->length = slot->send_done;
    event->error = c->res > 0 ? 0 : c->res == 0 ? EPIPE : -c->res;
    APNS_REQUIRE(event->error != 0 || slot->send_done == slot->send_length); /* nothing of the bytes is left behind */
    return 1;
}

static uint32_t connect_complete(apns_reactor *r, struct reactor_slot *slot, uint32_t index, const completion *c,
                                 apns_reactor_event *event) {
    APNS_REQUIRE(slot->state == REACTOR_SLOT_CONNECTING);
    slot->state = c->res == 0 ? REACTOR_SLOT_OPEN : REACTOR_SLOT_FAILED;
    if (c->res == 0) apns_uring_start(r, slot, URING_RECEIVE);
    *event = reactor_event_make(slot, index, APNS_REACTOR_CONNECTED);
    event->error = -c->res;
    return 1;
}

/* Handles a completion of a closing slot. If nothing was found to cancel but operations are left (or the kernel cannot
 * cancel by descriptor), shutdown makes them complete. */
static void close_complete(apns_reactor *r, struct reactor_slot *slot, uint32_t operation, const completion *c) {
    buffer_give_back(uring_of(r), c);
    if (operation == URING_ACCEPT && c->res >= 0) close(c->res);
    if (operation == URING_CANCEL && c->res <= 0 && slot->active != 0) (void)shutdown(slot->descriptor, SHUT_RDWR);
    apns_uring_join(r, slot);
}

/* The poll continues until it is cancelled or the kernel had no room for a completion. */
static void wake_complete(apns_reactor *r, const completion *c) {
    if (!is_last(c)) return;
    uring_of(r)->wake_active = false;
    if (c->res != -ECANCELED) apns_uring_start_wake(r);
}

/* ---------------------------------------------------------------- dispatch */

static uint32_t complete(apns_reactor *r, const completion *c, apns_reactor_event *event) {
    const uint64_t tag = c->user_data;
    if (tag == URING_WAKE) wake_complete(r, c);
    if (tag == URING_WAKE || tag == URING_CANCEL) return 0; /* not of a slot */
    const uint32_t index = (uint32_t)tag >> 8;
    const uint32_t operation = tag & 0xff;
    APNS_REQUIRE(index < r->slots.count);
    struct reactor_slot *slot = &r->slots.all[index];
    /* A slot is not freed before its last operation has completed. */
    APNS_REQUIRE(slot->generation == (uint32_t)(tag >> 32) && (slot->active & operation) != 0);
    if (is_last(c)) slot->active &= (uint16_t)~operation;
    if (slot->state == REACTOR_SLOT_CLOSING) {
        close_complete(r, slot, operation, c);
        return 0;
    }
    switch (operation) {
    case URING_RECEIVE:
        return receive_complete(r, slot, index, c, event);
    case URING_SEND:
        return send_complete(r, slot, index, c, event);
    case URING_ACCEPT:
        return apns_uring_accept_complete(r, slot, c->res, !is_last(c), event);
    case URING_CONNECT:
        return connect_complete(r, slot, index, c, event);
    default: /* an accept was cancelled because its listener is paused */
        return 0;
    }
}

uint32_t apns_uring_complete(apns_reactor *r, apns_reactor_event *events, uint32_t capacity) {
    struct io_uring_cq *cq = &uring_of(r)->ring.cq;
    const uint32_t first = *cq->khead;
    const uint32_t end = io_uring_smp_load_acquire(cq->ktail);
    uint32_t head = first;
    uint32_t n = 0;
    while (head != end && n < capacity)
        n += complete(r, &cq->cqes[head++ & cq->ring_mask], &events[n]);
    if (head != first) io_uring_smp_store_release(cq->khead, head);
    return n;
}
