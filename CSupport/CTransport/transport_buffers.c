#include "transport_internal.h"
#include <stdlib.h>

/* Free buffers are linked through their first bytes. */
typedef struct buffer {
    struct buffer *next;
} buffer;

static uint8_t *take(void **list, size_t bytes) {
    buffer *taken = *list;
    if (taken == NULL) return malloc(bytes);
    *list = taken->next;
    return (uint8_t *)taken;
}

static void give(void **list, uint8_t *bytes) {
    buffer *given = (buffer *)(void *)bytes;
    given->next = *list;
    *list = given;
}

static void list_free(void *list) {
    for (buffer *b = list; b != NULL;) {
        buffer *next = b->next;
        free(b);
        b = next;
    }
}

uint8_t *apns_transport_buffer_plain_take(apns_transport *t) {
    return take(&t->plain_free, TLS_RECORD_PLAIN_MAX);
}

void apns_transport_buffer_plain_give(apns_transport *t, uint8_t *buffer) {
    give(&t->plain_free, buffer);
}

uint8_t *apns_transport_buffer_send_take(apns_transport *t) {
    return take(&t->send_free, t->send_buffer_bytes);
}

void apns_transport_buffer_send_give(apns_transport *t, uint8_t *buffer) {
    give(&t->send_free, buffer);
}

void apns_transport_buffers_free(apns_transport *t) {
    list_free(t->plain_free);
    list_free(t->send_free);
    t->plain_free = t->send_free = NULL;
}
