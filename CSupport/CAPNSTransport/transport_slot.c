#include "transport_internal.h"
#include <string.h>

/* Slot number plus one in the low half, generation in the high half. */
static uint64_t identity(uint32_t index, uint32_t generation) {
    return (uint64_t)generation << 32 | (index + 1);
}

connection *apns_transport_slot_find(const apns_transport *t, uint64_t id) {
    uint32_t index = (uint32_t)id - 1;
    if (index >= t->slot_count) return NULL;
    connection *c = &t->slots[index];
    return c->side != NULL && c->id == id ? c : NULL;
}

connection *apns_transport_slot_take(apns_transport *t, const connection_side *side) {
    if (t->slots_free_count == 0) return NULL;
    event_node *down = apns_transport_event_node_take(t);
    if (down == NULL) return NULL;
    uint32_t index = t->slots_free[--t->slots_free_count];
    connection *c = &t->slots[index];
    APNS_REQUIRE(index < t->slot_count && c->side == NULL);
    APNS_ASSERT(c->down == NULL && c->flight == NULL && !c->dirty); /* as apns_transport_slot_give left it */
    uint32_t generation = c->generation + 1;
    memset(c, 0, sizeof(*c));
    c->transport = t;
    c->generation = generation;
    c->id = identity(index, generation);
    c->side = side;
    c->down = down;
    c->deadline_ns = UINT64_MAX;
    return c;
}

void apns_transport_slot_give(connection *c) {
    apns_transport *t = c->transport;
    APNS_REQUIRE(c->side != NULL && c->first == NULL && c->unreturned == 0 && !c->dirty && c->flight == NULL);
    APNS_REQUIRE(c->h2 == NULL && c->tunnel == NULL && t->slots_free_count < t->slot_count);
    apns_transport_event_node_give(t, c->down);
    c->down = NULL;
    if (c->side->release != NULL) c->side->release(c);
    c->side = NULL;
    t->slots_free[t->slots_free_count++] = (uint32_t)(c - t->slots);
}
