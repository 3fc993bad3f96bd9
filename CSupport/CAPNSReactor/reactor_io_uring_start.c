#include "reactor_io_uring.h"

#include "apns_check.h"
#include <poll.h>
#include <unistd.h>

/* Returns a free entry of the submission ring, after submitting the queued ones if it is full. */
static struct io_uring_sqe *entry(struct uring *u) {
    struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
    if (sqe == NULL) {
        (void)apns_uring_ring_flush(u);
        sqe = io_uring_get_sqe(&u->ring);
    }
    return sqe;
}

static void prepare_receive(const struct uring *u, const struct reactor_slot *slot, struct io_uring_sqe *sqe) {
    if (u->features.multishot)
        io_uring_prep_recv_multishot(sqe, slot->descriptor, NULL, 0, 0);
    else
        io_uring_prep_recv(sqe, slot->descriptor, NULL, 0, 0);
    sqe->flags |= IOSQE_BUFFER_SELECT;
    sqe->buf_group = 0;
}

static void prepare_send(const struct reactor_slot *slot, struct io_uring_sqe *sqe) {
    io_uring_prep_send(sqe, slot->descriptor, slot->send_bytes + slot->send_done, slot->send_length - slot->send_done,
                       MSG_NOSIGNAL | MSG_WAITALL);
}

static void prepare_accept(const struct uring *u, const struct reactor_slot *slot, struct io_uring_sqe *sqe) {
    if (u->features.multishot)
        io_uring_prep_multishot_accept(sqe, slot->descriptor, NULL, NULL, SOCK_CLOEXEC);
    else
        io_uring_prep_accept(sqe, slot->descriptor, NULL, NULL, SOCK_CLOEXEC);
}

static void prepare_connect(const struct uring *u, const struct reactor_slot *slot, uint32_t index,
                            struct io_uring_sqe *sqe) {
    const union uring_address *address = &u->addresses[index];
    socklen_t length = address->any.sa_family == AF_INET6 ? sizeof(address->v6) : sizeof(address->v4);
    io_uring_prep_connect(sqe, slot->descriptor, &address->any, length);
}

void apns_uring_start(apns_reactor *r, struct reactor_slot *slot, enum uring_operation operation) {
    struct uring *u = uring_of(r);
    uint32_t index = reactor_slot_index(&r->slots, slot);
    struct io_uring_sqe *sqe = entry(u);
    if (sqe == NULL) {
        slot->wanted |= (uint16_t)operation;
        u->starved = true;
        return;
    }
    switch (operation) {
    case URING_RECEIVE:
        prepare_receive(u, slot, sqe);
        break;
    case URING_SEND:
        prepare_send(slot, sqe);
        break;
    case URING_ACCEPT:
        prepare_accept(u, slot, sqe);
        break;
    case URING_CONNECT:
        prepare_connect(u, slot, index, sqe);
        break;
    case URING_CANCEL:
    case URING_WAKE:
        io_uring_prep_cancel_fd(sqe, slot->descriptor, IORING_ASYNC_CANCEL_ALL);
        break;
    }
    APNS_ASSERT((slot->active & operation) == 0 && slot->descriptor >= 0);
    slot->active |= (uint16_t)operation;
    sqe->user_data = (uint64_t)slot->generation << 32 | (uint64_t)index << 8 | (uint64_t)operation;
}

void apns_uring_start_wake(apns_reactor *r) {
    struct uring *u = uring_of(r);
    struct io_uring_sqe *sqe = entry(u);
    u->wake_wanted = sqe == NULL;
    if (sqe == NULL) {
        u->starved = true;
        return;
    }
    /* The descriptor is never read: each write to it causes a completion. */
    io_uring_prep_poll_multishot(sqe, u->wake_descriptor, POLLIN);
    sqe->user_data = URING_WAKE;
    u->wake_active = true;
}

void apns_uring_end_wake(apns_reactor *r) {
    struct uring *u = uring_of(r);
    struct io_uring_sqe *sqe = u->wake_active ? entry(u) : NULL;
    if (sqe == NULL) return;
    io_uring_prep_cancel64(sqe, URING_WAKE, 0);
    sqe->user_data = URING_CANCEL;
}

void apns_uring_start_wanted(apns_reactor *r) {
    struct uring *u = uring_of(r);
    if (!u->starved) return;
    u->starved = false;
    if (u->wake_wanted) apns_uring_start_wake(r);
    for (uint32_t i = 0; i < r->slots.count; i++) {
        struct reactor_slot *slot = &r->slots.all[i];
        uint32_t wanted = slot->wanted;
        slot->wanted = 0;
        for (uint32_t bit = URING_RECEIVE; bit <= URING_CANCEL; bit *= 2) {
            if ((wanted & bit) != 0) apns_uring_start(r, slot, (enum uring_operation)bit);
        }
    }
}

void apns_uring_join(apns_reactor *r, struct reactor_slot *slot) {
    APNS_REQUIRE(slot->state == REACTOR_SLOT_CLOSING);
    if (slot->active != 0) return;
    slot->wanted = 0;
    APNS_REQUIRE(slot->descriptor >= 0); /* or it would be closed twice, and be another one by then */
    close(slot->descriptor);
    slot->descriptor = -1;
    apns_reactor_slots_close(&r->slots, slot);
}
