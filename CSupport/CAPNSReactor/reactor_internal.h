/*
 * reactor_internal: shared by the common part of the reactor and its back ends.
 *
 * Order of calls. create first; then, on the reactor's thread, connect and listen for FREE slots, send for OPEN slots
 * without a send under way, close for slots that are neither FREE nor CLOSING, and wait; destroy when all slots are
 * free. wake may be called from any thread between create and destroy.
 *
 * Ownership. The common part takes and frees slots. The descriptor of a slot and its bits active and wanted belong to
 * the back end, from connect, listen or accept until apns_reactor_slots_close. Bytes to send belong to the caller: a
 * back end may read them from send until its event SENT or apns_reactor_slots_close.
 *
 * The common part (reactor.c) manages slots, the wake-up state and the time limits of a wait. A back end manages
 * descriptors and bytes; it is a table of functions. A simulation fills the same table.
 */
#pragma once

#include "apns_reactor.h"
#include "reactor_slots.h"
#include "reactor_wake.h"

#define REACTOR_NEVER UINT64_MAX
#define REACTOR_SOCKETS_MAX ((1U << 24) - 1) /* io_uring completions have 24 bits for the slot number */
#define REACTOR_BUFFERS_MAX 32768U
#define REACTOR_BUFFER_BYTES_MAX (1U << 30)

/* The limits of one wait, in absolute times of the reactor's clock. */
struct reactor_plan {
    uint64_t now_ns;
    uint64_t until_ns;  /* when to stop waiting for a first event; up to now_ns: do not wait; REACTOR_NEVER: no limit */
    uint64_t linger_ns; /* when to stop waiting for batch_min events; up to now_ns: return at the first event */
    uint32_t batch_min;
    uint32_t reserved;
};

struct reactor_backend_table {
    uint32_t kind; /* enum apns_reactor_backend, returned by apns_reactor_backend_kind */

    /* Creates r->backend_state, in which it finds the context given to apns_reactor_open_with. On failure it releases
     * everything. */
    int (*create)(apns_reactor *r, const apns_reactor_options *options);

    /* Frees r->backend_state. All slots are free by then. */
    void (*destroy)(apns_reactor *r);

    uint64_t (*now_ns)(const apns_reactor *r);

    /* Connects or listens with a slot just taken. On failure the slot holds no descriptor. */
    int (*connect)(apns_reactor *r, struct reactor_slot *slot, const struct sockaddr *address, socklen_t length);
    int (*listen)(apns_reactor *r, struct reactor_slot *slot, const struct sockaddr *address, socklen_t length,
                  uint32_t backlog);

    int (*local_port)(const apns_reactor *r, const struct reactor_slot *slot);

    /* Starts sending slot->send_bytes. */
    void (*send)(apns_reactor *r, struct reactor_slot *slot);

    /* Starts closing; apns_reactor_slots_close follows, at once or when the last operation has completed. */
    void (*close)(apns_reactor *r, struct reactor_slot *slot);

    /* Makes the close that follows send an RST; NULL if there is nothing to do. */
    void (*reset)(apns_reactor *r, struct reactor_slot *slot);

    /* Accepts again on a paused listener. Returns false if that is not possible before the next wait. */
    bool (*accept_resume)(apns_reactor *r, struct reactor_slot *slot);

    /* Makes a sleeping wait return. Called from any thread. */
    void (*wake)(apns_reactor *r);

    /* Takes back the receive buffers of the previous wait, submits operations, waits according to the plan, and fills
     * events (capacity may be 0). Does not wait if events are left over from the last call. Returns the number of
     * events, -EINTR, or another negative errno if the loop itself failed. */
    int (*wait)(apns_reactor *r, const struct reactor_plan *plan, apns_reactor_event *events, uint32_t capacity);
};

struct apns_reactor {
    const struct reactor_backend_table *backend;
    void *backend_state;
    struct reactor_slots slots;
    uint32_t user_timeout_ms;      /* of new connections; 0 for none */
    uint64_t accept_retry_ns;      /* time at which paused listeners accept again; 0: as soon as a slot is free */
    int32_t refusal;               /* errno with which io_uring was refused, or 0 */
    bool accept_paused;            /* at least one listener is paused */
    struct apns_reactor_wake wake; /* on its own cache line: written by other threads */
};

extern const struct reactor_backend_table apns_reactor_io_uring_table;
extern const struct reactor_backend_table apns_reactor_epoll_table;

/* Like apns_reactor_create, with a back end of the caller's. table: borrowed until apns_reactor_destroy; NULL to choose
 * one according to options->backend. context: available to the table's create in r->backend_state. */
int apns_reactor_open_with(const struct reactor_backend_table *table, void *context,
                           const apns_reactor_options *options, apns_reactor **out);

/* Pauses a listener until a slot is free, and after an error (nonzero) for ACCEPT_RETRY_NS. */
void apns_reactor_accept_pause(apns_reactor *r, struct reactor_slot *listener, int error);

/* Handles a failed accept: pauses the listener and fills an event, unless the error concerns one connection only, so
 * that the next one can be accepted. Returns the number of events, 0 or 1. */
uint32_t apns_reactor_accept_failed(apns_reactor *r, struct reactor_slot *listener, int error,
                                    apns_reactor_event *event);

static inline uint64_t reactor_time_add(uint64_t at_ns, uint64_t span_ns) {
    return span_ns > REACTOR_NEVER - at_ns ? REACTOR_NEVER : at_ns + span_ns;
}

static inline uint64_t reactor_time_min(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Returns an event of a slot with all other fields 0. */
static inline apns_reactor_event reactor_event_make(const struct reactor_slot *slot, uint32_t index, uint32_t kind) {
    return (apns_reactor_event){.socket = reactor_slot_handle(slot, index), .context = slot->context, .kind = kind};
}
