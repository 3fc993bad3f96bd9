#include "reactor_epoll.h"

#include "reactor_socket.h"

#include "apns_check.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---------------------------------------------------------------- creation */

static void state_free(struct epoll *e) {
    if (e->descriptor >= 0) close(e->descriptor);
    if (e->wake_descriptor >= 0) close(e->wake_descriptor);
    free(e->free_buffers);
    free(e->queue);
    free(e->sends);
    apns_reactor_buffers_destroy(&e->buffers);
    free(e);
}

static int memory_make(struct epoll *e, const apns_reactor_options *options) {
    uint32_t places = 1;
    while (places < options->sockets_max)
        places *= 2;
    e->queue_mask = places - 1;
    e->queue = calloc(places, sizeof(*e->queue));
    e->sends = calloc(options->sockets_max, sizeof(*e->sends));
    e->free_buffers = calloc(options->receive_buffer_count, sizeof(*e->free_buffers));
    if (e->queue == NULL || e->sends == NULL || e->free_buffers == NULL) return -ENOMEM;
    e->free_count = options->receive_buffer_count;
    for (uint32_t i = 0; i < e->free_count; i++)
        e->free_buffers[i] = e->free_count - 1 - i;
    return apns_reactor_buffers_create(&e->buffers, options->receive_buffer_bytes, options->receive_buffer_count);
}

static int descriptors_make(struct epoll *e) {
    e->descriptor = epoll_create1(EPOLL_CLOEXEC);
    if (e->descriptor < 0) return -errno;
    e->wake_descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (e->wake_descriptor < 0) return -errno;
    struct epoll_event interest = {.events = EPOLLIN}; /* data 0 marks the wake-up descriptor */
    return epoll_ctl(e->descriptor, EPOLL_CTL_ADD, e->wake_descriptor, &interest) != 0 ? -errno : 0;
}

static int create(apns_reactor *r, const apns_reactor_options *options) {
    struct epoll *e = calloc(1, sizeof(*e));
    if (e == NULL) return -ENOMEM;
    e->descriptor = -1;
    e->wake_descriptor = -1;
    e->nanoseconds = true;
    int status = memory_make(e, options);
    if (status == 0) status = descriptors_make(e);
    if (status < 0) {
        state_free(e);
        return status;
    }
    r->backend_state = e;
    return 0;
}

static void destroy(apns_reactor *r) {
    state_free(epoll_of(r));
    r->backend_state = NULL;
}

/* ---------------------------------------------------------------- sockets */

void apns_epoll_enqueue(apns_reactor *r, struct reactor_slot *slot) {
    struct epoll *e = epoll_of(r);
    if (slot->listed) return;
    APNS_REQUIRE(e->queue_count <= e->queue_mask);
    slot->listed = true;
    e->queue[(e->queue_head + e->queue_count++) & e->queue_mask] = reactor_slot_index(&r->slots, slot);
}

/* An immediate result of connect is reported by an event, like a later one. */
static int connect_start(apns_reactor *r, struct reactor_slot *slot, const struct sockaddr *address, socklen_t length) {
    int descriptor = apns_reactor_socket_open(r, address->sa_family, SOCK_NONBLOCK);
    if (descriptor < 0) return descriptor;
    slot->descriptor = descriptor;
    int error = connect(descriptor, address, length) == 0 ? 0 : errno;
    int status = error == EINVAL ? -EINVAL : apns_epoll_register(r, slot);
    if (status < 0) {
        close(descriptor);
        return status;
    }
    if (error != EINPROGRESS && error != EINTR) {
        slot->error = error;
        slot->active |= EPOLL_CONNECTED;
        apns_epoll_enqueue(r, slot);
    }
    return 0;
}

static int listen_start(apns_reactor *r, struct reactor_slot *slot, const struct sockaddr *address, socklen_t length,
                        uint32_t backlog) {
    int descriptor = apns_reactor_socket_listen(address, length, backlog, SOCK_NONBLOCK);
    if (descriptor < 0) return descriptor;
    slot->descriptor = descriptor;
    int status = apns_epoll_register(r, slot);
    if (status < 0) close(descriptor);
    return status;
}

/* Defers the send to the next wait. */
static void send_start(apns_reactor *r, struct reactor_slot *slot) {
    struct epoll *e = epoll_of(r);
    /* At most one entry per slot: the slot of a closed socket is not reused before the next wait. */
    APNS_REQUIRE(e->sends_count < r->slots.count);
    slot->active |= EPOLL_SEND;
    e->sends[e->sends_count++] = reactor_slot_index(&r->slots, slot);
}

/* Closes at once: between two calls the kernel refers to none of our memory. */
static void close_start(apns_reactor *r, struct reactor_slot *slot) {
    APNS_REQUIRE(slot->descriptor >= 0); /* or it would be closed twice, and be another one by then */
    close(slot->descriptor);
    slot->descriptor = -1;
    slot->active = 0;
    apns_reactor_slots_close(&r->slots, slot);
}

static bool accept_resume(apns_reactor *r, struct reactor_slot *slot) {
    slot->active |= EPOLL_READABLE;
    apns_epoll_enqueue(r, slot);
    return true;
}

/* ---------------------------------------------------------------- waiting */

static void wake(apns_reactor *r) {
    uint64_t one = 1;
    (void)!write(epoll_of(r)->wake_descriptor, &one, sizeof(one));
}

static void buffers_return(struct epoll *e) {
    APNS_REQUIRE(e->free_count + e->buffers.held_count == e->buffers.count);
    while (e->buffers.held_count > 0)
        e->free_buffers[e->free_count++] = e->buffers.held[--e->buffers.held_count];
}

static int wait_for_events(apns_reactor *r, const struct reactor_plan *plan, apns_reactor_event *events,
                           uint32_t capacity) {
    struct epoll *e = epoll_of(r);
    buffers_return(e);
    const bool left = e->queue_count > 0;
    apns_epoll_send_started(r);
    const bool linger = !left && plan->linger_ns > plan->now_ns && e->queue_count < plan->batch_min;
    int status = apns_epoll_sleep(r, plan, e->queue_count == 0, linger);
    uint32_t n = apns_epoll_serve(r, events, capacity);
    return n > 0 || status == 0 ? (int)n : status;
}

const struct reactor_backend_table apns_reactor_epoll_table = {
    .kind = APNS_REACTOR_BACKEND_EPOLL,
    .create = create,
    .destroy = destroy,
    .now_ns = apns_reactor_socket_now_ns,
    .connect = connect_start,
    .listen = listen_start,
    .local_port = apns_reactor_socket_port,
    .send = send_start,
    .close = close_start,
    .reset = apns_reactor_socket_reset,
    .accept_resume = accept_resume,
    .wake = wake,
    .wait = wait_for_events,
};
