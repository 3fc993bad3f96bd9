#include "h2_internal.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t serials = 1;

static const uint8_t *copy(uint8_t **place, const uint8_t *bytes, uint32_t length) {
    const uint8_t *start = *place;
    if (length > 0) memcpy(*place, bytes, length);
    *place += length;
    return start;
}

static void field_prepare(h2_prepared_field *prepared, const apns_h2_field *field, uint8_t **place) {
    prepared->field = *field;
    prepared->field.name = copy(place, field->name, field->name_length);
    prepared->field.value = copy(place, field->value, field->value_length);
    prepared->hash = apns_h2_field_hash(field);
    prepared->static_index = field->indexing == APNS_H2_LITERAL ? 0 : apns_h2_static_find(field);
    prepared->static_name_index = apns_h2_static_name_find(field->name, field->name_length);
    prepared->string = *place;
    *place = apns_h2_string_write(*place, field->value, field->value_length);
    prepared->string_length = (uint32_t)(*place - prepared->string);
}

apns_h2_header_set *apns_h2_header_set_create(const apns_h2_field *fields, uint32_t count) {
    if (count > APNS_H2_SET_FIELDS_MAX) return NULL;
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += fields[i].name_length + 2 * (size_t)fields[i].value_length + 2 * H2_INTEGER_BYTES_MAX;
    if (bytes > APNS_H2_HEADER_LIST_BYTES_MAX) return NULL;
    apns_h2_header_set *set = calloc(1, sizeof(*set) + bytes);
    if (set == NULL) return NULL;
    set->serial = atomic_fetch_add(&serials, 1);
    set->references = 1;
    set->count = count;
    uint8_t *place = set->bytes;
    for (uint32_t i = 0; i < count; i++) {
        field_prepare(&set->fields[i], &fields[i], &place);
        set->encoded_max += 2 * H2_INTEGER_BYTES_MAX + fields[i].name_length + set->fields[i].string_length;
    }
    return set;
}

void apns_h2_header_set_destroy(apns_h2_header_set *set) {
    if (set == NULL) return;
    APNS_REQUIRE(set->references > 0);
    if (--set->references == 0) free(set);
}
