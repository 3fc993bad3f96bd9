#include "h2_internal.h"
#include <string.h>

enum { FIELDS_FIRST = 16, TEXT_BYTES_FIRST = 1024, BODY_BYTES_FIRST = 256, BYTES_CACHED_MAX = 1024 };

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
    message->field_count = 0;
    message->text_length = 0;
}

/* Releases bytes that are too many to be kept for the next message. */
static void bytes_trim(apns_h2_pool *pool, uint8_t **bytes, uint32_t *capacity) {
    if (*capacity <= BYTES_CACHED_MAX) return;
    apns_h2_memory_give(pool->memory, *bytes);
    *bytes = NULL;
    *capacity = 0;
}

void apns_h2_pool_message_give(apns_h2_pool *pool, apns_h2_message *message) {
    if (message == NULL) return;
    apns_h2_message_fields_clear(message);
    message->body_length = 0;
    bytes_trim(pool, &message->text, &message->text_capacity);
    bytes_trim(pool, &message->body, &message->body_capacity);
    message->next = pool->messages;
    pool->messages = message;
}

static bool fields_grow(apns_h2_pool *pool, apns_h2_message *message) {
    uint32_t capacity = message->field_capacity == 0 ? FIELDS_FIRST : message->field_capacity * 2;
    if (capacity > APNS_H2_FIELDS_RECEIVED_MAX) return false;
    apns_h2_field *fields = apns_h2_memory_grow(pool->memory, message->fields, capacity * sizeof(apns_h2_field));
    if (fields == NULL) return false;
    message->fields = fields;
    message->field_capacity = capacity;
    return true;
}

/* Makes room for more text, and lets the fields point to where it is then. */
static bool text_grow(apns_h2_pool *pool, apns_h2_message *message, size_t wanted) {
    size_t capacity = message->text_capacity == 0 ? TEXT_BYTES_FIRST : message->text_capacity;
    while (capacity < wanted)
        capacity *= 2;
    uint8_t *text = apns_h2_memory_grow(pool->memory, message->text, capacity);
    if (text == NULL) return false;
    size_t place = 0;
    for (uint32_t i = 0; i < message->field_count; i++) {
        apns_h2_field *field = &message->fields[i];
        field->name = text + place;
        field->value = field->name + field->name_length;
        place += field->name_length + field->value_length;
    }
    APNS_ASSERT(place == message->text_length);
    message->text = text;
    message->text_capacity = (uint32_t)capacity;
    return true;
}

bool apns_h2_message_field_add(apns_h2_pool *pool, apns_h2_message *message, const apns_h2_field *field) {
    if (message->field_count == message->field_capacity && !fields_grow(pool, message)) return false;
    size_t wanted = (size_t)message->text_length + field->name_length + field->value_length;
    if (wanted > message->text_capacity && !text_grow(pool, message, wanted)) return false;
    APNS_REQUIRE(message->field_count < message->field_capacity && wanted <= message->text_capacity);
    uint8_t *name = message->text + message->text_length, *value = name + field->name_length;
    if (field->name_length > 0) memcpy(name, field->name, field->name_length);
    if (field->value_length > 0) memcpy(value, field->value, field->value_length);
    message->text_length = (uint32_t)wanted;
    message->fields[message->field_count++] = (apns_h2_field){
        .name = name, .value = value, .name_length = field->name_length, .value_length = field->value_length};
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
