#include "transport_internal.h"

/* Time for the goodbye of all connections together. It covers sending, which takes no time unless a peer does not read,
 * and the peers' closing, which takes a round trip. Closing a socket earlier loses nothing that the kernel has taken.
 */
#define FAREWELL_NS_MAX 100000000U

static bool says_goodbye(const apns_transport *t) {
    for (uint32_t i = 0; i < t->slot_count; i++) {
        const connection *c = &t->slots[i];
        if (c->side != NULL && !connection_is_listener(c) && c->state < CONNECTION_CLOSING) return true;
    }
    return false;
}

void apns_transport_farewell(apns_transport *t) {
    if (t->ground->stepped) return;
    for (uint32_t i = 0; i < t->slot_count; i++)
        if (t->slots[i].side != NULL && !connection_is_listener(&t->slots[i]))
            apns_transport_connection_close(t, t->slots[i].id, APNS_TRANSPORT_CLOSE_NOW);
    apns_transport_look(t);
    const uint64_t until_ns = t->now_ns + FAREWELL_NS_MAX;
    while (says_goodbye(t) && t->now_ns < until_ns)
        if (apns_transport_step(t, until_ns - t->now_ns) < 0) return;
}
