#include "reactor_slots.h"

#include "apns_check.h"
#include <errno.h>
#include <stdlib.h>

int apns_reactor_slots_create(struct reactor_slots *slots, uint32_t count) {
    struct reactor_slot *all = calloc(count, sizeof(*all));
    if (all == NULL) return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        all[i].generation = 1;
        all[i].descriptor = -1;
        all[i].next = i + 1 < count ? i + 1 : REACTOR_SLOT_NONE;
    }
    *slots = (struct reactor_slots){
        .all = all, .count = count, .closed_head = REACTOR_SLOT_NONE, .closed_tail = REACTOR_SLOT_NONE};
    return 0;
}

void apns_reactor_slots_destroy(struct reactor_slots *slots) {
    free(slots->all);
    slots->all = NULL;
}

struct reactor_slot *apns_reactor_slots_take(struct reactor_slots *slots, uint8_t state, uint64_t context) {
    if (reactor_slots_full(slots)) {
        APNS_REQUIRE(slots->used == slots->count);
        return NULL;
    }
    struct reactor_slot *slot = &slots->all[slots->free_head];
    APNS_REQUIRE(slot->state == REACTOR_SLOT_FREE && slots->used < slots->count);
    slots->free_head = slot->next;
    slots->used++;
    *slot = (struct reactor_slot){.context = context,
                                  .state = state,
                                  .generation = slot->generation,
                                  .next = REACTOR_SLOT_NONE,
                                  .descriptor = -1,
                                  .listed = slot->listed};
    return slot;
}

void apns_reactor_slots_free(struct reactor_slots *slots, struct reactor_slot *slot) {
    APNS_REQUIRE(slot->state != REACTOR_SLOT_FREE && slots->used > 0);
    slot->state = REACTOR_SLOT_FREE;
    slot->descriptor = -1;
    slot->send_bytes = NULL;
    slot->generation = slot->generation == UINT32_MAX ? 1 : slot->generation + 1;
    slot->next = slots->free_head;
    slots->free_head = reactor_slot_index(slots, slot);
    slots->used--;
}

void apns_reactor_slots_close(struct reactor_slots *slots, struct reactor_slot *slot) {
    const uint32_t index = reactor_slot_index(slots, slot);
    APNS_REQUIRE(slot->state == REACTOR_SLOT_CLOSING && slot->next == REACTOR_SLOT_NONE && slots->closed_tail != index);
    APNS_REQUIRE((slots->closed_head == REACTOR_SLOT_NONE) == (slots->closed_tail == REACTOR_SLOT_NONE));
    if (slots->closed_tail == REACTOR_SLOT_NONE)
        slots->closed_head = index;
    else
        slots->all[slots->closed_tail].next = index;
    slots->closed_tail = index;
}

uint32_t apns_reactor_slots_collect(struct reactor_slots *slots, apns_reactor_event *events, uint32_t capacity) {
    uint32_t n = 0;
    while (n < capacity && slots->closed_head != REACTOR_SLOT_NONE) {
        uint32_t index = slots->closed_head;
        struct reactor_slot *slot = &slots->all[index];
        APNS_REQUIRE(slot->state == REACTOR_SLOT_CLOSING);
        slots->closed_head = slot->next;
        if (slots->closed_head == REACTOR_SLOT_NONE) slots->closed_tail = REACTOR_SLOT_NONE;
        events[n++] = (apns_reactor_event){
            .socket = reactor_slot_handle(slot, index), .context = slot->context, .kind = APNS_REACTOR_CLOSED};
        apns_reactor_slots_free(slots, slot);
    }
    return n;
}
