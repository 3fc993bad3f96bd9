#include "reactor_io_uring.h"

#include "reactor_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---------------------------------------------------------------- creation */

static void state_free(struct uring *u) {
    if (u->wake_descriptor >= 0) close(u->wake_descriptor);
    free(u->addresses);
    free(u->parked);
    free(u);
}

static int create(apns_reactor *r, const apns_reactor_options *options) {
    struct uring *u = calloc(1, sizeof(*u));
    if (u == NULL) return -ENOMEM;
    u->wake_descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int status = u->wake_descriptor < 0 ? -errno : 0;
    u->addresses = calloc(options->sockets_max, sizeof(*u->addresses));
    u->parked = calloc(URING_PARKED_MAX, sizeof(*u->parked));
    if (status == 0 && (u->addresses == NULL || u->parked == NULL)) status = -ENOMEM;
    if (status == 0)
        status = apns_uring_ring_create(u, options, options->backend == APNS_REACTOR_BACKEND_IO_URING_PLAIN);
    if (status < 0) {
        state_free(u);
        return status;
    }
    r->backend_state = u;
    apns_uring_start_wake(r);
    /* Filters of containers may allow io_uring_setup but refuse io_uring_enter. */
    status = apns_uring_ring_flush(u);
    if (status == -EINTR) status = 0;
    if (status < 0) {
        apns_uring_ring_destroy(u);
        state_free(u);
        r->backend_state = NULL;
    }
    return status;
}

/* Waits until the kernel no longer refers to the wake-up descriptor, so that no operation of the ring outlives it. */
static void wake_join(apns_reactor *r) {
    struct uring *u = uring_of(r);
    const struct reactor_plan plan = {.until_ns = REACTOR_NEVER, .batch_min = 1};
    apns_reactor_event scratch[1];
    apns_uring_end_wake(r);
    int status = 0;
    while (u->wake_active && (status == 0 || status == -EINTR)) {
        status = apns_uring_ring_enter(u, &plan);
        (void)apns_uring_complete(r, scratch, 1);
    }
}

static void destroy(apns_reactor *r) {
    struct uring *u = uring_of(r);
    wake_join(r);
    apns_uring_ring_destroy(u);
    state_free(u);
    r->backend_state = NULL;
}

/* ---------------------------------------------------------------- sockets */

/* Sockets are blocking: with O_NONBLOCK the kernel would return EAGAIN instead of completing the operation later. */
static int connect_start(apns_reactor *r, struct reactor_slot *slot, const struct sockaddr *address, socklen_t length) {
    union uring_address *copy = &uring_of(r)->addresses[reactor_slot_index(&r->slots, slot)];
    const size_t needed = address->sa_family == AF_INET6 ? sizeof(copy->v6) : sizeof(copy->v4);
    int descriptor = apns_reactor_socket_open(r, address->sa_family, 0);
    if (descriptor < 0) return descriptor;
    if (length < needed) {
        close(descriptor);
        return -EINVAL;
    }
    if (address->sa_family == AF_INET6)
        copy->v6 = *(const struct sockaddr_in6 *)(const void *)address;
    else
        copy->v4 = *(const struct sockaddr_in *)(const void *)address;
    slot->descriptor = descriptor;
    apns_uring_start(r, slot, URING_CONNECT);
    return 0;
}

static int listen_start(apns_reactor *r, struct reactor_slot *slot, const struct sockaddr *address, socklen_t length,
                        uint32_t backlog) {
    int descriptor = apns_reactor_socket_listen(address, length, backlog, 0);
    if (descriptor < 0) return descriptor;
    slot->descriptor = descriptor;
    apns_uring_start(r, slot, URING_ACCEPT);
    return 0;
}

static void send_start(apns_reactor *r, struct reactor_slot *slot) {
    apns_uring_start(r, slot, URING_SEND);
}

static void close_start(apns_reactor *r, struct reactor_slot *slot) {
    apns_uring_accept_drop(r, slot);
    slot->wanted = 0;
    if (slot->active == 0)
        apns_uring_join(r, slot);
    else if ((slot->active & URING_CANCEL) == 0)
        apns_uring_start(r, slot, URING_CANCEL);
}

/* Accepting resumes after the parked connections were returned and a cancelled accept has completed. */
static bool accept_resume(apns_reactor *r, struct reactor_slot *slot) {
    if ((slot->active & (URING_ACCEPT | URING_CANCEL)) != 0 || uring_of(r)->parked_count > 0) return false;
    apns_uring_start(r, slot, URING_ACCEPT);
    return true;
}

/* ---------------------------------------------------------------- waiting */

static void wake(apns_reactor *r) {
    uint64_t one = 1;
    (void)!write(uring_of(r)->wake_descriptor, &one, sizeof(one));
}

static void buffers_return(struct uring *u) {
    const uint32_t count = u->buffers.held_count;
    for (uint32_t i = 0; i < count; i++)
        apns_uring_buffers_give(u, u->buffers.held[i], i);
    if (count > 0) apns_uring_buffers_publish(u, count);
    u->buffers.held_count = 0;
}

static int wait_for_events(apns_reactor *r, const struct reactor_plan *plan, apns_reactor_event *events,
                           uint32_t capacity) {
    struct uring *u = uring_of(r);
    buffers_return(u);
    apns_uring_start_wanted(r);
    uint32_t n = apns_uring_accept_unpark(r, events, capacity);
    const bool left = n > 0 || io_uring_cq_ready(&u->ring) > 0;
    int status = 0;
    if (left && io_uring_sq_ready(&u->ring) > 0)
        status = apns_uring_ring_flush(u);
    else if (!left)
        status = apns_uring_ring_enter(u, plan);
    n += apns_uring_complete(r, events + n, capacity - n);
    return n > 0 || status == 0 ? (int)n : status;
}

const struct reactor_backend_table apns_reactor_io_uring_table = {
    .kind = APNS_REACTOR_BACKEND_IO_URING,
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
