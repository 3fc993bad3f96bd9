#include "reactor_epoll.h"

#include "apns_check.h"
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* Whether the bits of a slot allow any work. */
static bool has_work(const struct reactor_slot *slot) {
    if ((slot->active & (EPOLL_CONNECTED | EPOLL_SENT | EPOLL_SEND)) != 0) return true;
    const uint32_t reading = slot->active & (EPOLL_READABLE | EPOLL_ENDED);
    if (reading != EPOLL_READABLE) return false;
    return slot->state == REACTOR_SLOT_OPEN || (slot->state == REACTOR_SLOT_LISTENING && !slot->paused);
}

int apns_epoll_register(apns_reactor *r, struct reactor_slot *slot) {
    struct epoll_event interest = {
        .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
        .data.u64 = reactor_slot_handle(slot, reactor_slot_index(&r->slots, slot)),
    };
    return epoll_ctl(epoll_of(r)->descriptor, EPOLL_CTL_ADD, slot->descriptor, &interest) != 0 ? -errno : 0;
}

/* ---------------------------------------------------------------- sending */

static void sent(struct reactor_slot *slot, int error) {
    slot->active &= (uint16_t) ~(EPOLL_SEND | EPOLL_SEND_FULL);
    slot->active |= EPOLL_SENT;
    slot->error = error;
}

/* Sends until everything is sent or the kernel's buffer is full. */
static void send_more(struct reactor_slot *slot) {
    APNS_ASSERT(slot->sending && slot->send_bytes != NULL && slot->descriptor >= 0);
    while (slot->send_done < slot->send_length) {
        ssize_t count = send(slot->descriptor, slot->send_bytes + slot->send_done, slot->send_length - slot->send_done,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count >= 0) {
            slot->send_done += (uint32_t)count;
        } else if (errno == EAGAIN) {
            slot->active &= (uint16_t)~EPOLL_SEND;
            slot->active |= EPOLL_SEND_FULL;
            return;
        } else if (errno != EINTR) {
            sent(slot, errno);
            return;
        }
    }
    sent(slot, 0);
}

void apns_epoll_send_started(apns_reactor *r) {
    struct epoll *e = epoll_of(r);
    for (uint32_t i = 0; i < e->sends_count; i++) {
        struct reactor_slot *slot = &r->slots.all[e->sends[i]];
        if ((slot->active & EPOLL_SEND) == 0) continue; /* closed in the meantime */
        send_more(slot);
        if ((slot->active & EPOLL_SENT) != 0) apns_epoll_enqueue(r, slot);
    }
    e->sends_count = 0;
}

static uint32_t report_sent(struct reactor_slot *slot, uint32_t index, apns_reactor_event *event) {
    APNS_REQUIRE(slot->sending && slot->send_done <= slot->send_length);
    APNS_REQUIRE(slot->error != 0 || slot->send_done == slot->send_length); /* nothing of the bytes is left behind */
    slot->active &= (uint16_t)~EPOLL_SENT;
    slot->sending = false;
    *event = reactor_event_make(slot, index, APNS_REACTOR_SENT);
    event->length = slot->send_done;
    event->error = slot->error;
    return 1;
}

/* ---------------------------------------------------------------- edges */

static int outcome_of_connect(const struct reactor_slot *slot) {
    int error = 0;
    socklen_t length = sizeof(error);
    return getsockopt(slot->descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0 ? errno : error;
}

static void note_connecting(struct reactor_slot *slot, uint32_t edges) {
    if ((edges & (EPOLLOUT | EPOLLERR | EPOLLHUP)) == 0 || (slot->active & EPOLL_CONNECTED) != 0) return;
    slot->error = outcome_of_connect(slot);
    slot->active |= EPOLL_CONNECTED;
}

void apns_epoll_note(apns_reactor *r, struct reactor_slot *slot, uint32_t edges) {
    if (slot->state == REACTOR_SLOT_CONNECTING) note_connecting(slot, edges);
    if ((edges & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP)) != 0) slot->active |= EPOLL_READABLE;
    if ((edges & (EPOLLRDHUP | EPOLLERR | EPOLLHUP)) != 0) slot->active |= EPOLL_ENDING;
    if ((edges & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0 && (slot->active & EPOLL_SEND_FULL) != 0) {
        slot->active &= (uint16_t)~EPOLL_SEND_FULL;
        slot->active |= EPOLL_SEND;
    }
    if (has_work(slot)) apns_epoll_enqueue(r, slot);
}

static uint32_t report_connected(struct reactor_slot *slot, uint32_t index, apns_reactor_event *event) {
    APNS_REQUIRE(slot->state == REACTOR_SLOT_CONNECTING);
    slot->active &= (uint16_t)~EPOLL_CONNECTED;
    slot->state = slot->error == 0 ? REACTOR_SLOT_OPEN : REACTOR_SLOT_FAILED;
    *event = reactor_event_make(slot, index, APNS_REACTOR_CONNECTED);
    event->error = slot->error;
    return 1;
}

/* ---------------------------------------------------------------- receiving */

static uint32_t received(apns_reactor *r, struct reactor_slot *slot, uint32_t number, uint32_t length,
                         apns_reactor_event *event) {
    struct epoll *e = epoll_of(r);
    e->free_count--;
    reactor_buffers_hold(&e->buffers, number);
    APNS_ASSERT(e->free_count + e->buffers.held_count == e->buffers.count);
    /* A short read has emptied the socket; later bytes cause a new edge. */
    if (length < e->buffers.bytes && (slot->active & EPOLL_ENDING) == 0) slot->active &= (uint16_t)~EPOLL_READABLE;
    event->bytes = reactor_buffers_at(&e->buffers, number);
    event->length = length;
    return 1;
}

static uint32_t receive(apns_reactor *r, struct reactor_slot *slot, uint32_t index, apns_reactor_event *event) {
    struct epoll *e = epoll_of(r);
    if (e->free_count == 0) return 0;
    uint32_t number = e->free_buffers[e->free_count - 1];
    ssize_t count = recv(slot->descriptor, reactor_buffers_at(&e->buffers, number), e->buffers.bytes, MSG_DONTWAIT);
    int error = count < 0 ? errno : 0;
    if (error == EINTR) return 0;
    if (error == EAGAIN) {
        slot->active &= (uint16_t)~EPOLL_READABLE;
        return 0;
    }
    *event = reactor_event_make(slot, index, APNS_REACTOR_RECEIVED);
    if (count > 0) return received(r, slot, number, (uint32_t)count, event);
    slot->active &= (uint16_t)~EPOLL_READABLE;
    slot->active |= EPOLL_ENDED;
    event->error = error;
    return 1;
}

/* ---------------------------------------------------------------- accepting */

static uint32_t adopt(apns_reactor *r, struct reactor_slot *listener, int descriptor, apns_reactor_event *event) {
    struct reactor_slot *slot = apns_reactor_slots_take(&r->slots, REACTOR_SLOT_OPEN, listener->context);
    slot->descriptor = descriptor;
    int status = apns_epoll_register(r, slot);
    if (status == 0) {
        *event = reactor_event_make(slot, reactor_slot_index(&r->slots, slot), APNS_REACTOR_ACCEPTED);
        return 1;
    }
    close(descriptor);
    apns_reactor_slots_free(&r->slots, slot);
    *event = (apns_reactor_event){.context = listener->context, .kind = APNS_REACTOR_ACCEPTED, .error = -status};
    return 1;
}

static uint32_t accept_next(apns_reactor *r, struct reactor_slot *listener, apns_reactor_event *event) {
    if (reactor_slots_full(&r->slots)) {
        listener->active &= (uint16_t)~EPOLL_READABLE;
        apns_reactor_accept_pause(r, listener, 0);
        return 0;
    }
    int descriptor = accept4(listener->descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) return adopt(r, listener, descriptor, event);
    int error = errno;
    uint32_t n = apns_reactor_accept_failed(r, listener, error, event);
    if (n > 0 || error == EAGAIN) listener->active &= (uint16_t)~EPOLL_READABLE;
    return n;
}

/* ---------------------------------------------------------------- the queue */

/* Does at most one thing for a slot. Returns the number of events, 0 or 1. */
static uint32_t serve(apns_reactor *r, struct reactor_slot *slot, uint32_t index, apns_reactor_event *event) {
    if ((slot->active & EPOLL_SEND) != 0) send_more(slot);
    if ((slot->active & EPOLL_CONNECTED) != 0) return report_connected(slot, index, event);
    if ((slot->active & EPOLL_SENT) != 0) return report_sent(slot, index, event);
    if (!has_work(slot)) return 0;
    return slot->state == REACTOR_SLOT_LISTENING ? accept_next(r, slot, event) : receive(r, slot, index, event);
}

/* Serves every slot of the queue once. Returns the number of events. */
static uint32_t serve_round(apns_reactor *r, apns_reactor_event *events, uint32_t capacity) {
    struct epoll *e = epoll_of(r);
    uint32_t n = 0;
    for (uint32_t i = e->queue_count; i > 0 && n < capacity; i--) {
        uint32_t index = e->queue[e->queue_head];
        struct reactor_slot *slot = &r->slots.all[index];
        e->queue_head = (e->queue_head + 1) & e->queue_mask;
        e->queue_count--;
        APNS_ASSERT(index < r->slots.count && slot->listed);
        slot->listed = false;
        n += serve(r, slot, index, &events[n]);
        if (has_work(slot)) apns_epoll_enqueue(r, slot);
    }
    return n;
}

uint32_t apns_epoll_serve(apns_reactor *r, apns_reactor_event *events, uint32_t capacity) {
    uint32_t n = 0;
    while (n < capacity && epoll_of(r)->queue_count > 0) {
        uint32_t made = serve_round(r, events + n, capacity - n);
        if (made == 0) break;
        n += made;
    }
    return n;
}
