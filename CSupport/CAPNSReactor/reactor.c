#include "reactor_internal.h"

#include "apns_check.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* The pause of a listener after accept failed, usually because of too few descriptors. */
#define ACCEPT_RETRY_NS (100U * 1000 * 1000)

/* ---------------------------------------------------------------- creation */

static bool options_are_valid(const apns_reactor_options *o) {
    uint32_t buffers = o->receive_buffer_count;
    return o->sockets_max > 0 && o->sockets_max <= REACTOR_SOCKETS_MAX && o->receive_buffer_bytes > 0 &&
           o->receive_buffer_bytes <= REACTOR_BUFFER_BYTES_MAX && buffers > 0 && buffers <= REACTOR_BUFFERS_MAX &&
           (buffers & (buffers - 1)) == 0;
}

static int backend_create(apns_reactor *r, const struct reactor_backend_table *table,
                          const apns_reactor_options *options) {
    r->backend = table;
    return table->create(r, options);
}

/* With AUTO any failure of io_uring (a seccomp filter, a sysctl, an old kernel, a limit on locked memory) leads to
 * epoll; if that fails too, its error is returned. */
static int backend_choose(apns_reactor *r, const apns_reactor_options *options) {
    switch (options->backend) {
    case APNS_REACTOR_BACKEND_IO_URING:
    case APNS_REACTOR_BACKEND_IO_URING_PLAIN:
        return backend_create(r, &apns_reactor_io_uring_table, options);
    case APNS_REACTOR_BACKEND_EPOLL:
        return backend_create(r, &apns_reactor_epoll_table, options);
    default:
        r->refusal = -backend_create(r, &apns_reactor_io_uring_table, options);
        if (r->refusal == 0) return 0;
        return backend_create(r, &apns_reactor_epoll_table, options);
    }
}

/* table: the back end, or NULL to choose one according to the options. */
static int parts_create(apns_reactor *r, const struct reactor_backend_table *table,
                        const apns_reactor_options *options) {
    int status = apns_reactor_slots_create(&r->slots, options->sockets_max);
    if (status < 0) return status;
    status = table != NULL ? backend_create(r, table, options) : backend_choose(r, options);
    if (status < 0) apns_reactor_slots_destroy(&r->slots);
    return status;
}

int apns_reactor_open_with(const struct reactor_backend_table *table, void *context,
                           const apns_reactor_options *options, apns_reactor **out) {
    *out = NULL;
    if (!options_are_valid(options)) return -EINVAL;
    apns_reactor *r = aligned_alloc(alignof(apns_reactor), sizeof(*r));
    if (r == NULL) return -ENOMEM;
    *r = (apns_reactor){.backend_state = context};
    int status = parts_create(r, table, options);
    if (status < 0) {
        free(r);
        return status;
    }
    *out = r;
    return 0;
}

int apns_reactor_create(const apns_reactor_options *options, apns_reactor **out) {
    *out = NULL;
    if (options->backend > APNS_REACTOR_BACKEND_IO_URING_PLAIN || options->backend == APNS_REACTOR_BACKEND_OTHER)
        return -EINVAL;
    return apns_reactor_open_with(NULL, NULL, options, out);
}

static void close_all(apns_reactor *r) {
    for (uint32_t i = 0; i < r->slots.count; i++) {
        uint32_t state = r->slots.all[i].state;
        if (state != REACTOR_SLOT_FREE && state != REACTOR_SLOT_CLOSING)
            apns_reactor_close(r, reactor_slot_handle(&r->slots.all[i], i));
    }
}

/* Waits until every slot is free. If the loop fails, the back end's destroy releases the rest. */
static void join_all(apns_reactor *r) {
    apns_reactor_event scratch[32];
    const uint32_t room = sizeof(scratch) / sizeof(scratch[0]);
    while (apns_reactor_slots_collect(&r->slots, scratch, room), r->slots.used > 0) {
        bool owed = r->slots.closed_head != REACTOR_SLOT_NONE;
        struct reactor_plan plan = {.now_ns = 0, .until_ns = owed ? 0 : REACTOR_NEVER, .batch_min = 1};
        int count = r->backend->wait(r, &plan, scratch, room);
        if (count < 0 && count != -EINTR) break;
    }
}

void apns_reactor_destroy(apns_reactor *r) {
    if (r == NULL) return;
    close_all(r);
    join_all(r);
    r->backend->destroy(r);
    apns_reactor_slots_destroy(&r->slots);
    free(r);
}

uint32_t apns_reactor_backend_kind(const apns_reactor *r) {
    return r->backend->kind;
}

int apns_reactor_refusal(const apns_reactor *r) {
    return r->refusal;
}

uint64_t apns_reactor_now_ns(apns_reactor *r) {
    return r->backend->now_ns(r);
}

/* ---------------------------------------------------------------- sockets */

void apns_reactor_user_timeout_set(apns_reactor *r, uint32_t milliseconds) {
    r->user_timeout_ms = milliseconds;
}

/* Completes connect or listen: stores the handle of the slot in *out, or frees the slot if the back end failed. */
static int slot_begun(apns_reactor *r, struct reactor_slot *slot, int status, apns_reactor_socket *out) {
    if (status < 0)
        apns_reactor_slots_free(&r->slots, slot);
    else
        *out = reactor_slot_handle(slot, reactor_slot_index(&r->slots, slot));
    return status < 0 ? status : 0;
}

int apns_reactor_connect(apns_reactor *r, const struct sockaddr *address, socklen_t address_length, uint64_t context,
                         apns_reactor_socket *out) {
    *out = 0;
    struct reactor_slot *slot = apns_reactor_slots_take(&r->slots, REACTOR_SLOT_CONNECTING, context);
    if (slot == NULL) return -ENOSPC;
    return slot_begun(r, slot, r->backend->connect(r, slot, address, address_length), out);
}

int apns_reactor_listen(apns_reactor *r, const struct sockaddr *address, socklen_t address_length, uint32_t backlog,
                        uint64_t context, apns_reactor_socket *out) {
    *out = 0;
    struct reactor_slot *slot = apns_reactor_slots_take(&r->slots, REACTOR_SLOT_LISTENING, context);
    if (slot == NULL) return -ENOSPC;
    return slot_begun(r, slot, r->backend->listen(r, slot, address, address_length, backlog), out);
}

int apns_reactor_local_port(apns_reactor *r, apns_reactor_socket socket) {
    const struct reactor_slot *slot = reactor_slots_find(&r->slots, socket);
    return slot == NULL ? -EBADF : r->backend->local_port(r, slot);
}

int apns_reactor_context_set(apns_reactor *r, apns_reactor_socket socket, uint64_t context) {
    struct reactor_slot *slot = reactor_slots_find(&r->slots, socket);
    if (slot == NULL) return -EBADF;
    slot->context = context;
    return 0;
}

int apns_reactor_context_get(const apns_reactor *r, apns_reactor_socket socket, uint64_t *context) {
    const struct reactor_slot *slot = reactor_slots_find(&r->slots, socket);
    if (slot == NULL) return -EBADF;
    *context = slot->context;
    return 0;
}

int apns_reactor_send(apns_reactor *r, apns_reactor_socket socket, const uint8_t *bytes, size_t length) {
    struct reactor_slot *slot = reactor_slots_find(&r->slots, socket);
    if (slot == NULL) return -EBADF;
    if (slot->state != REACTOR_SLOT_OPEN) return -ENOTCONN;
    if (slot->sending) return -EBUSY;
    if (length == 0 || length > INT_MAX) return -EINVAL;
    slot->send_bytes = bytes;
    slot->send_length = (uint32_t)length;
    slot->send_done = 0;
    slot->sending = true;
    r->backend->send(r, slot);
    return 0;
}

int apns_reactor_close(apns_reactor *r, apns_reactor_socket socket) {
    struct reactor_slot *slot = reactor_slots_find(&r->slots, socket);
    if (slot == NULL) return -EBADF;
    slot->state = REACTOR_SLOT_CLOSING;
    slot->sending = false;
    slot->paused = false;
    r->backend->close(r, slot);
    return 0;
}

int apns_reactor_reset(apns_reactor *r, apns_reactor_socket socket) {
    struct reactor_slot *slot = reactor_slots_find(&r->slots, socket);
    if (slot == NULL) return -EBADF;
    if (r->backend->reset != NULL) r->backend->reset(r, slot);
    return apns_reactor_close(r, socket);
}

/* ---------------------------------------------------------------- accepting */

void apns_reactor_accept_pause(apns_reactor *r, struct reactor_slot *listener, int error) {
    APNS_REQUIRE(listener->state == REACTOR_SLOT_LISTENING);
    listener->paused = true;
    r->accept_paused = true;
    if (error != 0) r->accept_retry_ns = reactor_time_add(r->backend->now_ns(r), ACCEPT_RETRY_NS);
}

/* Whether an error of accept concerns one connection only, so that the next one can be accepted (accept(2)). */
static bool is_passing(int error) {
    switch (error) {
    case ECONNABORTED:
    case EINTR:
    case EAGAIN:
    case EPROTO:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENONET:
        return true;
    default:
        return false;
    }
}

uint32_t apns_reactor_accept_failed(apns_reactor *r, struct reactor_slot *listener, int error,
                                    apns_reactor_event *event) {
    if (is_passing(error)) return 0;
    apns_reactor_accept_pause(r, listener, error);
    *event = (apns_reactor_event){.context = listener->context, .kind = APNS_REACTOR_ACCEPTED, .error = error};
    return 1;
}

/* Accepts again on paused listeners if a slot is free and the pause is over. */
static void accept_resume(apns_reactor *r, uint64_t now_ns) {
    if (!r->accept_paused || reactor_slots_full(&r->slots) || now_ns < r->accept_retry_ns) return;
    r->accept_paused = false;
    r->accept_retry_ns = 0;
    for (uint32_t i = 0; i < r->slots.count; i++) {
        struct reactor_slot *slot = &r->slots.all[i];
        if (!slot->paused) continue;
        if (r->backend->accept_resume(r, slot))
            slot->paused = false;
        else
            r->accept_paused = true;
    }
}

/* ---------------------------------------------------------------- waiting */

void apns_reactor_wake(apns_reactor *r) {
    if (reactor_wake_request(&r->wake)) r->backend->wake(r);
}

/* Limits a wait to the time at which a paused listener accepts again. */
static uint64_t until(const apns_reactor *r, uint64_t limit_ns) {
    const bool resumes = r->accept_paused && !reactor_slots_full(&r->slots);
    return resumes ? reactor_time_min(limit_ns, r->accept_retry_ns) : limit_ns;
}

/* Waits once in the back end. Returns the number of events, or the back end's negative errno. */
static int wait_once(apns_reactor *r, struct reactor_plan *plan, apns_reactor_event *events, uint32_t capacity) {
    if (plan->until_ns > plan->now_ns && (r->slots.closed_head != REACTOR_SLOT_NONE || !reactor_wake_sleep(&r->wake)))
        plan->until_ns = plan->now_ns;
    plan->linger_ns = reactor_time_min(plan->linger_ns, plan->until_ns);
    int count = r->backend->wait(r, plan, events, capacity);
    uint32_t n = count > 0 ? (uint32_t)count : 0;
    APNS_REQUIRE(n <= capacity);
    n += apns_reactor_slots_collect(&r->slots, events + n, capacity - n);
    if (reactor_wake_collect(&r->wake, n < capacity)) events[n++] = (apns_reactor_event){.kind = APNS_REACTOR_WOKEN};
    return count < 0 && n == 0 ? count : (int)n;
}

int apns_reactor_wait(apns_reactor *r, const apns_reactor_wait_options *options, apns_reactor_event *events,
                      uint32_t capacity) {
    if (capacity == 0 || capacity > INT_MAX) return -EINVAL;
    uint64_t now_ns = r->backend->now_ns(r);
    const uint64_t limit_ns = reactor_time_add(now_ns, options->timeout_ns);
    const uint64_t linger_ns = options->batch_min > 1 ? reactor_time_add(now_ns, options->linger_ns) : 0;
    for (;;) {
        accept_resume(r, now_ns);
        struct reactor_plan plan = {
            .now_ns = now_ns, .until_ns = until(r, limit_ns), .linger_ns = linger_ns, .batch_min = options->batch_min};
        int count = wait_once(r, &plan, events, capacity);
        if (count == -EINTR) return 0;
        if (count != 0) return count;
        now_ns = r->backend->now_ns(r);
        if (now_ns >= limit_ns) return 0;
    }
}
