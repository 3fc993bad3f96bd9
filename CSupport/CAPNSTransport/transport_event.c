#include "transport_internal.h"
#include <stdlib.h>
#include <string.h>

event_node *apns_transport_event_node_take(apns_transport *t) {
    event_node *node = t->events_free;
    if (node == NULL) return calloc(1, sizeof(*node));
    t->events_free = node->next;
    memset(&node->event, 0, sizeof(node->event));
    node->next = NULL;
    return node;
}

void apns_transport_event_node_give(apns_transport *t, event_node *node) {
    if (node == NULL) return;
    node->next = t->events_free;
    t->events_free = node;
}

static void list_free(event_node *node) {
    while (node != NULL) {
        event_node *next = node->next;
        free(node);
        node = next;
    }
}

void apns_transport_event_nodes_free(apns_transport *t) {
    list_free(t->events_first);
    list_free(t->events_returned);
    list_free(t->events_free);
}

event_node *apns_transport_event_add(connection *c, uint32_t kind) {
    APNS_ASSERT(c->events <= EVENTS_PER_CONNECTION_MAX && c->state != CONNECTION_CLOSED);
    if (c->events == EVENTS_PER_CONNECTION_MAX) return NULL;
    event_node *node = apns_transport_event_node_take(c->transport);
    if (node == NULL) return NULL;
    APNS_ASSERT(*c->transport->events_last == NULL && node->next == NULL);
    c->events++;
    node->event.connection = c->id;
    node->event.context = c->context;
    node->event.kind = (uint8_t)kind;
    *c->transport->events_last = node;
    c->transport->events_last = &node->next;
    return node;
}

void apns_transport_event_detail_set(event_node *node, const void *bytes, size_t length) {
    size_t kept = length < EVENT_DETAIL_BYTES_MAX ? length : EVENT_DETAIL_BYTES_MAX;
    if (kept > 0) memcpy(node->detail, bytes, kept);
    node->event.detail = (const uint8_t *)node->detail;
    node->event.detail_length = (uint32_t)kept;
}

void apns_transport_events_release(apns_transport *t) {
    while (t->events_returned != NULL) {
        event_node *node = t->events_returned;
        t->events_returned = node->next;
        apns_transport_event_node_give(t, node);
    }
}
