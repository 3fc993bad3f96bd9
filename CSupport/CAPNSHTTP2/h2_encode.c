#include "h2_hpack.h"

#include "apns_check.h"
#include <string.h>

/* First bytes of the representations, and the number of prefix bits of their integers (RFC 7541, section 6). */
enum {
    INDEXED = 0x80,
    INDEXED_BITS = 7,
    INCREMENTAL = 0x40,
    INCREMENTAL_BITS = 6,
    SIZE_UPDATE = 0x20,
    SIZE_UPDATE_BITS = 5,
    NEVER_INDEXED = 0x10,
    PLAIN = 0x00,
    PLAIN_BITS = 4,
    HUFFMAN = 0x80,
    STRING_BITS = 7,
    DECIMAL_DIGITS_MAX = 10, /* digits of a uint32_t */
    STATIC_PATH = 4,         /* name indices in the static table */
    STATIC_CONTENT_LENGTH = 28,
};

/* Writes an integer (RFC 7541, section 5.1). */
static inline uint8_t *integer_write(uint8_t *place, uint8_t first, uint32_t bits, uint32_t value) {
    uint32_t most = (1u << bits) - 1;
    if (value < most) {
        *place++ = (uint8_t)(first | value);
        return place;
    }
    *place++ = (uint8_t)(first | most);
    for (value -= most; value >= 128; value >>= 7)
        *place++ = (uint8_t)(value | 128);
    *place++ = (uint8_t)value;
    return place;
}

/* Writes a string literal (section 5.2) without Huffman coding, which would save a fifth of a device token's bytes and
 * cost more time than that is worth. */
static uint8_t *string_plain_write(uint8_t *place, const uint8_t *bytes, uint32_t length) {
    place = integer_write(place, 0, STRING_BITS, length);
    if (length > 0) memcpy(place, bytes, length);
    return place + length;
}

uint8_t *apns_h2_string_write(uint8_t *place, const uint8_t *bytes, uint32_t length) {
    size_t coded = apns_h2_huffman_length(bytes, length);
    if (coded >= length) return string_plain_write(place, bytes, length);
    place = integer_write(place, HUFFMAN, STRING_BITS, (uint32_t)coded);
    return apns_h2_huffman_write(place, bytes, length);
}

void apns_h2_encoder_init(h2_encoder *encoder, apns_h2_memory *memory) {
    memset(encoder, 0, sizeof(*encoder));
    encoder->memory = memory;
    apns_h2_table_init(&encoder->table, memory);
}

void apns_h2_encoder_clear(h2_encoder *encoder) {
    apns_h2_table_clear(&encoder->table);
    for (uint32_t i = 0; i < H2_BLOCKS_CACHED; i++)
        apns_h2_memory_give(encoder->memory, encoder->blocks[i].bytes);
}

void apns_h2_encoder_table_allow(h2_encoder *encoder, uint32_t bytes_max) {
    uint32_t size = bytes_max < H2_TABLE_BYTES_MAX ? bytes_max : H2_TABLE_BYTES_MAX;
    if (size == encoder->table.bytes_max) return;
    if (!encoder->resize_pending || size < encoder->resize_least) encoder->resize_least = size;
    encoder->resize_pending = true;
    apns_h2_table_resize(&encoder->table, size);
}

static bool block_reserve(h2_encoder *encoder, h2_block *block, size_t bytes) {
    if (bytes <= block->capacity) return true;
    apns_h2_memory_give(encoder->memory, block->bytes);
    block->capacity = 0;
    block->bytes = apns_h2_memory_take(encoder->memory, bytes);
    if (block->bytes == NULL) return false;
    block->capacity = (uint32_t)bytes;
    return true;
}

/* Returns the entry of a name that was sent with indexing before, or NULL. */
static h2_name_once *name_once_find(h2_encoder *encoder, const apns_h2_field *field) {
    for (uint32_t i = 0; i < encoder->names_once_count; i++) {
        h2_name_once *once = &encoder->names_once[i];
        if (once->length == field->name_length && memcmp(once->bytes, field->name, field->name_length) == 0)
            return once;
    }
    return NULL;
}

/* Returns false if there is no room for another name. */
static bool name_once_add(h2_encoder *encoder, const apns_h2_field *field) {
    if (encoder->names_once_count == H2_NAMES_ONCE_MAX || field->name_length > H2_NAME_ONCE_BYTES_MAX) return false;
    h2_name_once *once = &encoder->names_once[encoder->names_once_count++];
    *once = (h2_name_once){.version = UINT64_MAX, .length = field->name_length};
    memcpy(once->bytes, field->name, field->name_length);
    return true;
}

/* Writes the first byte of a representation with the index of the name, or index 0 and the name. */
static uint8_t *name_write(uint8_t *place, uint8_t first, uint32_t bits, uint32_t index, const apns_h2_field *field) {
    place = integer_write(place, first, bits, index);
    return index != 0 ? place : apns_h2_string_write(place, field->name, field->name_length);
}

static uint32_t name_index(const h2_encoder *encoder, const h2_prepared_field *prepared) {
    return prepared->static_name_index != 0
               ? prepared->static_name_index
               : apns_h2_table_name_find(&encoder->table, prepared->field.name, prepared->field.name_length);
}

static uint8_t *value_write(uint8_t *place, const h2_prepared_field *prepared) {
    if (prepared->string == NULL) return string_plain_write(place, prepared->field.value, prepared->field.value_length);
    memcpy(place, prepared->string, prepared->string_length);
    return place + prepared->string_length;
}

/* Writes a literal field. It is added to the table only if the caller requests it and it fits. Fields with
 * APNS_H2_LITERAL are marked as never indexed, so that intermediaries do not index them either (section 7.1.3). */
static uint8_t *literal_write(h2_encoder *encoder, uint8_t *place, const h2_prepared_field *prepared, bool indexed) {
    const apns_h2_field *field = &prepared->field;
    uint32_t index = name_index(encoder, prepared);
    if (indexed && apns_h2_table_insert(&encoder->table, field, prepared->hash))
        place = name_write(place, INCREMENTAL, INCREMENTAL_BITS, index, field);
    else
        place = name_write(place, field->indexing == APNS_H2_LITERAL ? NEVER_INDEXED : PLAIN, PLAIN_BITS, index, field);
    return value_write(place, prepared);
}

/* Writes a field whose name was indexed before. The index of the name is valid as long as the table does not change. */
static uint8_t *name_once_write(h2_encoder *encoder, uint8_t *place, const h2_prepared_field *prepared) {
    const apns_h2_field *field = &prepared->field;
    h2_name_once *once = name_once_find(encoder, field);
    if (once == NULL) return literal_write(encoder, place, prepared, name_once_add(encoder, field));
    if (once->version != encoder->table.version) {
        once->version = encoder->table.version;
        once->index = name_index(encoder, prepared);
    }
    return value_write(name_write(place, PLAIN, PLAIN_BITS, once->index, field), prepared);
}

static uint8_t *field_write(h2_encoder *encoder, uint8_t *place, const h2_prepared_field *prepared) {
    const apns_h2_field *field = &prepared->field;
    if (field->indexing == APNS_H2_LITERAL) return literal_write(encoder, place, prepared, false);
    if (field->indexing == APNS_H2_NAME_ONCE) return name_once_write(encoder, place, prepared);
    uint32_t index = prepared->static_index;
    if (index == 0) index = apns_h2_table_find(&encoder->table, field, prepared->hash);
    return index != 0 ? integer_write(place, INDEXED, INDEXED_BITS, index)
                      : literal_write(encoder, place, prepared, true);
}

static uint8_t *fields_write(h2_encoder *encoder, uint8_t *place, const apns_h2_header_set *set) {
    for (uint32_t i = 0; i < set->count; i++)
        place = field_write(encoder, place, &set->fields[i]);
    return place;
}

/* Returns the encoded fields of both sets, from the cache unless the table has changed since. An encoding that itself
 * changed the table is not reusable, as its version is then outdated. Returns NULL if there is no memory. */
static const h2_block *sets_encode(h2_encoder *encoder, const apns_h2_header_set *set,
                                   const apns_h2_header_set *shared) {
    h2_block *block = &encoder->blocks[set->serial % H2_BLOCKS_CACHED];
    uint64_t shared_serial = shared != NULL ? shared->serial : 0;
    if (block->serial == set->serial && block->shared == shared_serial && block->version == encoder->table.version)
        return block;
    size_t most = set->encoded_max + (shared != NULL ? shared->encoded_max : 0);
    if (!block_reserve(encoder, block, most)) return NULL;
    block->serial = set->serial;
    block->shared = shared_serial;
    block->version = encoder->table.version;
    uint8_t *end = fields_write(encoder, block->bytes, set);
    if (shared != NULL) end = fields_write(encoder, end, shared);
    APNS_REQUIRE((size_t)(end - block->bytes) <= most);
    block->length = (uint32_t)(end - block->bytes);
    return block;
}

uint8_t *apns_h2_size_updates_write(uint8_t *place, uint32_t least, uint32_t current) {
    if (least < current) place = integer_write(place, SIZE_UPDATE, SIZE_UPDATE_BITS, least);
    return integer_write(place, SIZE_UPDATE, SIZE_UPDATE_BITS, current);
}

static uint8_t *size_update_write(h2_encoder *encoder, uint8_t *place) {
    encoder->resize_pending = false;
    return apns_h2_size_updates_write(place, encoder->resize_least, encoder->table.bytes_max);
}

static uint8_t *own_field_write(h2_encoder *encoder, uint8_t *place, const apns_h2_field *field) {
    h2_prepared_field prepared = {.field = *field};
    if (field->indexing == APNS_H2_INDEXED) {
        prepared.hash = apns_h2_field_hash(field);
        prepared.static_index = apns_h2_static_find(field);
    }
    return field_write(encoder, place, &prepared);
}

size_t apns_h2_encoder_bound(const apns_h2_request *request) {
    size_t bytes = 4 * H2_INTEGER_BYTES_MAX + (size_t)request->path_length + request->set->encoded_max;
    bytes += 2 * H2_INTEGER_BYTES_MAX + DECIMAL_DIGITS_MAX;
    if (request->shared != NULL) bytes += request->shared->encoded_max;
    for (uint32_t i = 0; i < request->field_count; i++)
        bytes += 3 * H2_INTEGER_BYTES_MAX + (size_t)request->fields[i].name_length + request->fields[i].value_length;
    return bytes;
}

/* Writes content-length without indexing: bodies have many different lengths, and each entry would evict a shared field
 * from the table. */
static uint8_t *content_length_write(uint8_t *place, uint32_t length) {
    uint32_t digits = 1;
    for (uint32_t rest = length / 10; rest > 0; rest /= 10)
        digits++;
    place = integer_write(place, PLAIN, PLAIN_BITS, STATIC_CONTENT_LENGTH);
    *place++ = (uint8_t)digits;
    for (uint32_t i = digits; i > 0; length /= 10)
        place[--i] = (uint8_t)('0' + length % 10);
    return place + digits;
}

/* :path is written first because pseudo-header fields precede regular fields, and everything after it can be cached in
 * one piece. */
uint8_t *apns_h2_encoder_request(h2_encoder *encoder, const apns_h2_request *request, uint32_t body_length,
                                 uint8_t *place) {
    if (encoder->resize_pending) place = size_update_write(encoder, place);
    place = integer_write(place, PLAIN, PLAIN_BITS, STATIC_PATH);
    place = string_plain_write(place, request->path, request->path_length);
    const h2_block *block = sets_encode(encoder, request->set, request->shared);
    if (block == NULL) return NULL;
    if (block->length > 0) memcpy(place, block->bytes, block->length);
    place += block->length;
    for (uint32_t i = 0; i < request->field_count; i++)
        place = own_field_write(encoder, place, &request->fields[i]);
    if (body_length > 0) place = content_length_write(place, body_length);
    return place;
}
