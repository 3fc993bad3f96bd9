/*
 * reactor_slots: the fixed table of sockets. The generation of a slot changes whenever it is freed, so that an outdated
 * handle is recognized.
 *
 * States of a slot: free → taken → closed (its APNS_REACTOR_CLOSED event is due) → free.
 */
#pragma once

#include "apns_reactor.h"

#define REACTOR_SLOT_NONE UINT32_MAX

enum reactor_slot_state {
    REACTOR_SLOT_FREE = 0,
    REACTOR_SLOT_CONNECTING,
    REACTOR_SLOT_FAILED, /* connecting failed; waits for apns_reactor_close */
    REACTOR_SLOT_OPEN,
    REACTOR_SLOT_LISTENING,
    REACTOR_SLOT_CLOSING, /* apns_reactor_close was called */
};

struct reactor_slot {
    uint64_t context;
    const uint8_t *send_bytes; /* borrowed from the caller until SENT or CLOSED */
    uint32_t send_length;
    uint32_t send_done;
    uint32_t generation; /* never 0 */
    uint32_t next;       /* in the free list or the closed list */
    int32_t descriptor;
    int32_t error;   /* used by the back end: result not yet reported */
    uint16_t active; /* bits of the back end */
    uint16_t wanted; /* bits of the back end */
    uint8_t state;   /* enum reactor_slot_state */
    bool sending;    /* a send is under way; its event is not yet reported */
    bool paused;     /* listener that does not accept at present */
    bool listed;     /* used by the back end: in a queue of slots, even after the socket was closed */
};

struct reactor_slots {
    struct reactor_slot *all;
    uint32_t count;
    uint32_t used; /* number of slots that are not free */
    uint32_t free_head;
    uint32_t closed_head; /* oldest first */
    uint32_t closed_tail;
};

/* Creates count free slots. Returns 0 or -ENOMEM. */
int apns_reactor_slots_create(struct reactor_slots *slots, uint32_t count);
void apns_reactor_slots_destroy(struct reactor_slots *slots);

/* Takes a free slot, in which everything except generation and listed is reset; returns NULL if there is none. */
struct reactor_slot *apns_reactor_slots_take(struct reactor_slots *slots, uint8_t state, uint64_t context);

/* Frees a slot that was never reported to the caller, or whose APNS_REACTOR_CLOSED was reported. Its descriptor must be
 * closed. */
void apns_reactor_slots_free(struct reactor_slots *slots, struct reactor_slot *slot);

/* Adds a CLOSING slot, whose operations have all completed, to the closed list. Called once per slot. */
void apns_reactor_slots_close(struct reactor_slots *slots, struct reactor_slot *slot);

/* Fills APNS_REACTOR_CLOSED events of closed slots and frees the slots. Returns the number of events. */
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

/* Returns the slot of a handle, or NULL if the handle is unknown or outdated, or the slot is closing. */
static inline struct reactor_slot *reactor_slots_find(const struct reactor_slots *slots, uint64_t handle) {
    uint32_t index = (uint32_t)handle;
    if (index >= slots->count) return NULL;
    struct reactor_slot *slot = &slots->all[index];
    if (slot->generation != (uint32_t)(handle >> 32)) return NULL;
    return slot->state == REACTOR_SLOT_FREE || slot->state == REACTOR_SLOT_CLOSING ? NULL : slot;
}
