#include "transport_internal.h"
#include <stdlib.h>

/* Free buffers are linked through their first bytes. */
struct buffer {
    buffer *next;
};

uint8_t *apns_transport_buffer_take(buffer_list *list) {
    buffer *taken = list->first;
    if (taken == NULL) return malloc(list->bytes);
    list->first = taken->next;
    return (uint8_t *)taken;
}

void apns_transport_buffer_give(buffer_list *list, uint8_t *bytes) {
    buffer *given = (buffer *)(void *)bytes;
    given->next = list->first;
    list->first = given;
}

void apns_transport_buffers_free(buffer_list *list) {
    while (list->first != NULL)
        free(apns_transport_buffer_take(list));
}
