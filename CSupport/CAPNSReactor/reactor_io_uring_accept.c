#include "reactor_io_uring.h"

#include "apns_check.h"
#include <errno.h>
#include <unistd.h>

static apns_reactor_event adopt(apns_reactor *r, struct reactor_slot *listener, int descriptor) {
    struct reactor_slot *slot = apns_reactor_slots_take(&r->slots, REACTOR_SLOT_OPEN, listener->context);
    slot->descriptor = descriptor;
    apns_uring_start(r, slot, URING_RECEIVE);
    return reactor_event_make(slot, reactor_slot_index(&r->slots, slot), APNS_REACTOR_ACCEPTED);
}

static void park(struct uring *u, uint32_t listener, int descriptor) {
    if (u->parked_count == URING_PARKED_MAX) {
        close(descriptor);
        return;
    }
    u->parked[u->parked_count++] = (struct uring_parked){.descriptor = descriptor, .listener = listener};
}

/* Stops accepting until a slot is free. */
static void pause_accepting(apns_reactor *r, struct reactor_slot *listener) {
    apns_reactor_accept_pause(r, listener, 0);
    if ((listener->active & URING_ACCEPT) != 0 && (listener->active & URING_CANCEL) == 0)
        apns_uring_start(r, listener, URING_CANCEL);
}

static uint32_t accepted(apns_reactor *r, struct reactor_slot *listener, int descriptor, apns_reactor_event *event) {
    if (reactor_slots_full(&r->slots)) {
        park(uring_of(r), reactor_slot_index(&r->slots, listener), descriptor);
        if (!listener->paused) pause_accepting(r, listener);
        return 0;
    }
    *event = adopt(r, listener, descriptor);
    if (reactor_slots_full(&r->slots) && !listener->paused) pause_accepting(r, listener);
    return 1;
}

uint32_t apns_uring_accept_complete(apns_reactor *r, struct reactor_slot *listener, int result, bool more,
                                    apns_reactor_event *event) {
    struct uring *u = uring_of(r);
    if (result == -EINVAL && u->features.multishot) {
        u->features.multishot = false;
        apns_uring_start(r, listener, URING_ACCEPT);
        return 0;
    }
    uint32_t n = 0;
    if (result >= 0)
        n = accepted(r, listener, result, event);
    else if (result != -ECANCELED)
        n = apns_reactor_accept_failed(r, listener, -result, event);
    if (!more && !listener->paused) apns_uring_start(r, listener, URING_ACCEPT);
    return n;
}

uint32_t apns_uring_accept_unpark(apns_reactor *r, apns_reactor_event *events, uint32_t capacity) {
    struct uring *u = uring_of(r);
    uint32_t n = 0;
    while (n < u->parked_count && n < capacity && !reactor_slots_full(&r->slots)) {
        struct reactor_slot *listener = &r->slots.all[u->parked[n].listener];
        APNS_REQUIRE(listener->state == REACTOR_SLOT_LISTENING);
        events[n] = adopt(r, listener, u->parked[n].descriptor);
        n++;
    }
    u->parked_count -= n;
    for (uint32_t i = 0; n > 0 && i < u->parked_count; i++)
        u->parked[i] = u->parked[i + n];
    return n;
}

void apns_uring_accept_drop(apns_reactor *r, const struct reactor_slot *listener) {
    struct uring *u = uring_of(r);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < u->parked_count; i++) {
        if (u->parked[i].listener == reactor_slot_index(&r->slots, listener))
            close(u->parked[i].descriptor);
        else
            u->parked[kept++] = u->parked[i];
    }
    u->parked_count = kept;
}
