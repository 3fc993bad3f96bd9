#include "h2_internal.h"
#include <string.h>

enum { FIELDS_FIRST = 16, BODY_BYTES_FIRST = 256, BODY_BYTES_CACHED_MAX = 1024 };

apns_h2_message *apns_h2_message_take(apns_h2_pool *pool) {
    apns_h2_message *message = pool->messages;
    if (message != NULL) {
        pool->messages = message->next;
        message->next = NULL;
        return message;
    }
    message = apns_h2_memory_take(pool->memory, sizeof(*message));
    if (message != NULL) memset(message, 0, sizeof(*message));
    return message;
}

void apns_h2_message_fields_clear(apns_h2_message *message) {
    for (uint32_t i = 0; i < message->field_count * 2; i++)
        nghttp2_rcbuf_decref(message->references[i]);
    message->field_count = 0;
}

void apns_h2_pool_message_give(apns_h2_pool *pool, apns_h2_message *message) {
    if (message == NULL) return;
    apns_h2_message_fields_clear(message);
    message->body_length = 0;
    if (message->body_capacity > BODY_BYTES_CACHED_MAX) {
        apns_h2_memory_give(pool->memory, message->body);
        message->body = NULL;
        message->body_capacity = 0;
    }
    message->next = pool->messages;
    pool->messages = message;
}

/* Fields and references share a block, with the fields first. */
static bool fields_grow(apns_h2_pool *pool, apns_h2_message *message) {
    uint32_t capacity = message->field_capacity == 0 ? FIELDS_FIRST : message->field_capacity * 2;
    if (capacity > APNS_H2_FIELDS_RECEIVED_MAX) return false;
    apns_h2_field *fields = apns_h2_memory_take(pool->memory, capacity * (sizeof(apns_h2_field) + 2 * sizeof(void *)));
    if (fields == NULL) return false;
    void **references = (void **)(void *)(fields + capacity);
    if (message->field_count > 0) {
        memcpy(fields, message->fields, message->field_count * sizeof(apns_h2_field));
        memcpy(references, message->references, message->field_count * 2 * sizeof(void *));
    }
    apns_h2_memory_give(pool->memory, message->fields);
    message->fields = fields;
    message->references = references;
    message->field_capacity = capacity;
    return true;
}

bool apns_h2_message_field_add(apns_h2_pool *pool, apns_h2_message *message, const h2_received_field *field) {
    if (message->field_count == message->field_capacity && !fields_grow(pool, message)) return false;
    APNS_REQUIRE(message->field_count < message->field_capacity);
    uint32_t i = message->field_count++;
    message->fields[i] = (apns_h2_field){.name = field->name.base,
                                         .value = field->value.base,
                                         .name_length = (uint32_t)field->name.len,
                                         .value_length = (uint32_t)field->value.len};
    nghttp2_rcbuf_incref(field->name_buffer);
    nghttp2_rcbuf_incref(field->value_buffer);
    message->references[2 * i] = field->name_buffer;
    message->references[2 * i + 1] = field->value_buffer;
    return true;
}

bool apns_h2_message_body_add(apns_h2_pool *pool, apns_h2_message *message, const uint8_t *bytes, size_t length) {
    size_t wanted = message->body_length + length;
    if (wanted > message->body_capacity) {
        size_t capacity = message->body_capacity == 0 ? BODY_BYTES_FIRST : message->body_capacity;
        while (capacity < wanted)
            capacity *= 2;
        uint8_t *body = apns_h2_memory_grow(pool->memory, message->body, capacity);
        if (body == NULL) return false;
        message->body = body;
        message->body_capacity = (uint32_t)capacity;
    }
    APNS_REQUIRE(wanted <= message->body_capacity);
    memcpy(message->body + message->body_length, bytes, length);
    message->body_length = (uint32_t)wanted;
    return true;
}
