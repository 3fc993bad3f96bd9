/*
 * reactor_slots: the fixed table of sockets. A slot carries a generation that changes whenever the slot is freed, so a
 * handle kept too long is told apart from the socket that took the slot over.
 *
 * Way of a slot: free → taken → closed (its APNS_REACTOR_CLOSED event is owed) → free.
 */
#ifndef APNS_BATCH_REACTOR_SLOTS_H
#define APNS_BATCH_REACTOR_SLOTS_H

#include "apns_reactor.h"

#define REACTOR_SLOT_NONE UINT32_MAX

enum reactor_slot_state {
    REACTOR_SLOT_FREE = 0,
    REACTOR_SLOT_CONNECTING,
    REACTOR_SLOT_FAILED, /* the connection was not made; waits for apns_reactor_close */
    REACTOR_SLOT_OPEN,
    REACTOR_SLOT_LISTENING,
    REACTOR_SLOT_CLOSING, /* apns_reactor_close was called */
};

struct reactor_slot {
    uint64_t context;
    const uint8_t *send_bytes; /* the caller's, until SENT or CLOSED */
    uint32_t send_length;
    uint32_t send_done;
    uint32_t generation; /* never 0 */
    uint32_t next;       /* in the free list or in the closed list */
    int32_t descriptor;
    int32_t error;   /* back end's: outcome waiting to become an event */
    uint16_t active; /* back end's bits */
    uint16_t wanted; /* back end's bits */
    uint8_t state;   /* enum reactor_slot_state */
    bool sending;    /* apns_reactor_send was called and its event is not yet out */
    bool paused;     /* listener: does not accept for now */
    bool listed;     /* back end's: stands in a queue of slots; outlives the socket */
};

struct reactor_slots {
    struct reactor_slot *all;
    uint32_t count;
    uint32_t used; /* everything but free */
    uint32_t free_head;
    uint32_t closed_head; /* oldest first */
    uint32_t closed_tail;
};

/* Makes count free slots: 0 or -ENOMEM. */
int apns_reactor_slots_create(struct reactor_slots *slots, uint32_t count);
void apns_reactor_slots_destroy(struct reactor_slots *slots);

/* Takes a free slot with everything but its generation and its place in a queue reset; NULL when there is none. */
struct reactor_slot *apns_reactor_slots_take(struct reactor_slots *slots, uint8_t state, uint64_t context);

/* Frees a slot that was never announced to the caller, or whose APNS_REACTOR_CLOSED has been. Its descriptor is closed
 * by then. */
void apns_reactor_slots_free(struct reactor_slots *slots, struct reactor_slot *slot);

/* Puts a CLOSING slot whose operations are all joined among the closed ones, once. */
void apns_reactor_slots_close(struct reactor_slots *slots, struct reactor_slot *slot);

/* Makes APNS_REACTOR_CLOSED events of closed slots and frees them. Returns how many. */
uint32_t apns_reactor_slots_collect(struct reactor_slots *slots, apns_reactor_event *events, uint32_t capacity);

static inline uint64_t reactor_slot_handle(const struct reactor_slot *slot, uint32_t index) {
    return (uint64_t)slot->generation << 32 | index;
}

static inline uint32_t reactor_slot_index(const struct reactor_slots *slots, const struct reactor_slot *slot) {
    return (uint32_t)(slot - slots->all);
}

static inline bool reactor_slots_full(const struct reactor_slots *slots) {
    return slots->free_head == REACTOR_SLOT_NONE;
}

/* The slot of a handle; NULL when it is unknown, of an older generation, or closing. */
static inline struct reactor_slot *reactor_slots_find(const struct reactor_slots *slots, uint64_t handle) {
    uint32_t index = (uint32_t)handle;
    if (index >= slots->count) return NULL;
    struct reactor_slot *slot = &slots->all[index];
    if (slot->generation != (uint32_t)(handle >> 32)) return NULL;
    return slot->state == REACTOR_SLOT_FREE || slot->state == REACTOR_SLOT_CLOSING ? NULL : slot;
}

#endif
