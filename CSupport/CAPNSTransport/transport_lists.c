#include "transport_internal.h"

void apns_transport_request_queue_init(request_queue *queue) {
    queue->first = NULL;
    queue->last = &queue->first;
}

void apns_transport_request_queue_push(request_queue *queue, request *r) {
    APNS_ASSERT(*queue->last == NULL);
    r->queue_next = NULL;
    *queue->last = r;
    queue->last = &r->queue_next;
}

request *apns_transport_request_queue_pop(request_queue *queue) {
    request *r = queue->first;
    if (r == NULL) return NULL;
    queue->first = r->queue_next;
    if (queue->first == NULL) queue->last = &queue->first;
    return r;
}

void apns_transport_request_link(connection *c, request *r) {
    APNS_ASSERT((c->first == NULL) == (c->last == NULL) && (c->last == NULL || c->last->next == NULL));
    r->connection = c;
    r->next = NULL;
    r->previous = c->last;
    if (c->last == NULL)
        c->first = r;
    else
        c->last->next = r;
    c->last = r;
}

void apns_transport_request_unlink(connection *c, request *r) {
    APNS_ASSERT(r->connection == c && (r->previous == NULL) == (c->first == r) && (r->next == NULL) == (c->last == r));
    if (r->previous == NULL)
        c->first = r->next;
    else
        r->previous->next = r->next;
    if (r->next == NULL)
        c->last = r->previous;
    else
        r->next->previous = r->previous;
    r->next = r->previous = NULL;
}
