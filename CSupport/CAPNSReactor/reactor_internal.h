/*
 * reactor_internal: what the common part and the back ends share. Not for users of the loop.
 *
 * Order of calls: create; then connect and listen for slots that are FREE, send for slots that are OPEN and send
 * nothing else, close for slots that are neither FREE nor CLOSING, and wait, all on the reactor's thread; destroy once
 * all slots are free. Only wake may be called from another thread, and at any time in between.
 *
 * Ownership: a slot belongs to the common part, which takes it and frees it; its descriptor, and the bits of active and
 * wanted, to the back end, from connect, listen or accept until apns_reactor_slots_close. Bytes to be sent are the
 * caller's: a back end reads them between send and the event that it makes (SENT), or apns_reactor_slots_close.
 *
 * The common part (reactor.c) owns slots, the wake-up state and the time limits of a wait. A back end owns
 * descriptors and bytes; it is a table of functions over the same reactor. A back end without a kernel fills the same
 * table.
 */
#ifndef APNS_BATCH_REACTOR_INTERNAL_H
#define APNS_BATCH_REACTOR_INTERNAL_H

#include "apns_reactor.h"
#include "reactor_slots.h"
#include "reactor_wake.h"

#define REACTOR_NEVER UINT64_MAX
#define REACTOR_SOCKETS_MAX ((1U << 24) - 1) /* a slot number takes 24 bits of an io_uring completion */
#define REACTOR_BUFFERS_MAX 32768U
#define REACTOR_BUFFER_BYTES_MAX (1U << 30)

/* One wait, in absolute times of the reactor's clock. */
struct reactor_plan {
    uint64_t now_ns;
    uint64_t until_ns;  /* give up waiting for a first event; at or before now: do not wait; REACTOR_NEVER: no limit */
    uint64_t linger_ns; /* until then wait for batch_min events; at or before now: return at the first */
    uint32_t batch_min;
    uint32_t reserved;
};

struct reactor_backend_table {
    uint32_t kind; /* enum apns_reactor_backend, as apns_reactor_backend_kind reports it */

    /* Makes r->backend_state; one given to apns_reactor_open_with finds its
     * context there. On failure nothing is left behind. */
    int (*create)(apns_reactor *r, const apns_reactor_options *options);

    /* Frees r->backend_state. All slots are free by then. */
    void (*destroy)(apns_reactor *r);

    uint64_t (*now_ns)(const apns_reactor *r);

    /* Starts what the name says for a slot just taken. On failure the slot holds no descriptor. */
    int (*connect)(apns_reactor *r, struct reactor_slot *slot, const struct sockaddr *address, socklen_t length);
    int (*listen)(apns_reactor *r, struct reactor_slot *slot, const struct sockaddr *address, socklen_t length,
                  uint32_t backlog);

    int (*local_port)(const apns_reactor *r, const struct reactor_slot *slot);

    /* Starts sending slot->send_bytes. */
    void (*send)(apns_reactor *r, struct reactor_slot *slot);

    /* Begins closing; apns_reactor_slots_close follows, at once or when the last operation is joined. */
    void (*close)(apns_reactor *r, struct reactor_slot *slot);

    /* Makes the close that follows a reset; NULL where there is nothing to prepare. */
    void (*reset)(apns_reactor *r, struct reactor_slot *slot);

    /* Accepts again on a paused listener. False: not yet possible, ask again at the next wait. */
    bool (*accept_resume)(apns_reactor *r, struct reactor_slot *slot);

    /* From any thread: makes a sleeping wait return. */
    void (*wake)(apns_reactor *r);

    /* Returns receive buffers of the previous wait, submits, waits as planned and fills events (capacity may be 0).
     * Returns how many, -EINTR, or another negative errno when the loop itself failed. It does not wait while events
     * left over from the last call are there. */
    int (*wait)(apns_reactor *r, const struct reactor_plan *plan, apns_reactor_event *events, uint32_t capacity);
};

struct apns_reactor {
    const struct reactor_backend_table *backend;
    void *backend_state;
    struct reactor_slots slots;
    uint32_t user_timeout_ms;      /* of connections to come; 0 for none */
    uint64_t accept_retry_ns;      /* paused listeners accept again from then on; 0: as soon as a slot is free */
    int32_t refusal;               /* errno of the back end that was tried first and cannot be had; 0 for none */
    bool accept_paused;            /* some listener is paused */
    struct apns_reactor_wake wake; /* on a cache line of its own: written by other threads */
};

extern const struct reactor_backend_table apns_reactor_io_uring_table;
extern const struct reactor_backend_table apns_reactor_epoll_table;

/* As apns_reactor_create, over a back end of the caller's. table: borrowed until apns_reactor_destroy; NULL to choose
 * one by options->backend. context: what the table's create finds in r->backend_state. */
int apns_reactor_open_with(const struct reactor_backend_table *table, void *context,
                           const apns_reactor_options *options, apns_reactor **out);

/* Pauses a listener: until a slot is free, and after an error (not 0) for a while. */
void apns_reactor_accept_pause(apns_reactor *r, struct reactor_slot *listener, int error);

/* Accepting failed: pauses the listener and makes the event that says so, unless the error concerns one connection
 * only: then the next one is to be accepted. Returns events made, 0 or 1. */
uint32_t apns_reactor_accept_failed(apns_reactor *r, struct reactor_slot *listener, int error,
                                    apns_reactor_event *event);

static inline uint64_t reactor_time_add(uint64_t at_ns, uint64_t span_ns) {
    return span_ns > REACTOR_NEVER - at_ns ? REACTOR_NEVER : at_ns + span_ns;
}

static inline uint64_t reactor_time_min(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* A record for a slot, every field set. */
static inline apns_reactor_event reactor_event_make(const struct reactor_slot *slot, uint32_t index, uint32_t kind) {
    return (apns_reactor_event){.socket = reactor_slot_handle(slot, index), .context = slot->context, .kind = kind};
}

#endif
