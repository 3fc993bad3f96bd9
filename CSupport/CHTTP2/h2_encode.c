#include "h2_hpack.h"
#include <string.h>

/* First bytes of the representations, and the bits that their integer has there (RFC 7541, section 6). */
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
    STATIC_PATH = 4, /* index of :path in the static table */
};

/* Section 5.1. */
static uint8_t *integer_write(uint8_t *place, uint8_t first, uint32_t bits, uint32_t value) {
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

/* Section 5.2, without Huffman code: it would save a fifth of a token's bytes, and cost more time than they do. */
static uint8_t *string_plain_write(uint8_t *place, const uint8_t *bytes, uint32_t length) {
    place = integer_write(place, 0, STRING_BITS, length);
    if (length > 0) memcpy(place, bytes, length);
    return place + length;
}

uint8_t *h2_string_write(uint8_t *place, const uint8_t *bytes, uint32_t length) {
    size_t coded = h2_huffman_length(bytes, length);
    if (coded >= length) return string_plain_write(place, bytes, length);
    place = integer_write(place, HUFFMAN, STRING_BITS, (uint32_t)coded);
    return h2_huffman_write(place, bytes, length);
}

void h2_encoder_init(h2_encoder *encoder, h2_memory *memory) {
    memset(encoder, 0, sizeof(*encoder));
    encoder->memory = memory;
    h2_table_init(&encoder->table, memory);
}

void h2_encoder_clear(h2_encoder *encoder) {
    h2_table_clear(&encoder->table);
    for (uint32_t i = 0; i < H2_BLOCKS_CACHED; i++)
        h2_memory_give(encoder->memory, encoder->blocks[i].bytes);
    h2_memory_give(encoder->memory, encoder->shared.bytes);
    h2_memory_give(encoder->memory, encoder->head.bytes);
    h2_memory_give(encoder->memory, encoder->tail.bytes);
}

void h2_encoder_table_allow(h2_encoder *encoder, uint32_t bytes_max) {
    uint32_t size = bytes_max < H2_TABLE_BYTES_MAX ? bytes_max : H2_TABLE_BYTES_MAX;
    if (size == encoder->table.bytes_max) return;
    if (!encoder->resize_pending || size < encoder->resize_least) encoder->resize_least = size;
    encoder->resize_pending = true;
    h2_table_resize(&encoder->table, size);
}

static bool block_reserve(h2_encoder *encoder, h2_block *block, size_t bytes) {
    if (bytes <= block->capacity) return true;
    h2_memory_give(encoder->memory, block->bytes);
    block->capacity = 0;
    block->bytes = h2_memory_take(encoder->memory, bytes);
    if (block->bytes == NULL) return false;
    block->capacity = (uint32_t)bytes;
    return true;
}

/* True when the name was sent with indexing before; remembers it otherwise. */
static bool name_seen(h2_encoder *encoder, const h2_field *field) {
    for (uint32_t i = 0; i < encoder->names_once_count; i++)
        if (encoder->names_once[i].length == field->name_length &&
            memcmp(encoder->names_once[i].bytes, field->name, field->name_length) == 0)
            return true;
    if (encoder->names_once_count == H2_NAMES_ONCE_MAX || field->name_length > H2_NAME_ONCE_BYTES_MAX) return true;
    h2_name_once *once = &encoder->names_once[encoder->names_once_count++];
    once->length = field->name_length;
    memcpy(once->bytes, field->name, field->name_length);
    return false;
}

/* The representation's first byte with the name's index, or 0 and the name itself. */
static uint8_t *name_write(uint8_t *place, uint8_t first, uint32_t bits, uint32_t index, const h2_field *field) {
    place = integer_write(place, first, bits, index);
    return index != 0 ? place : h2_string_write(place, field->name, field->name_length);
}

static uint32_t name_index(const h2_encoder *encoder, const h2_prepared_field *prepared) {
    return prepared->static_name_index != 0
               ? prepared->static_name_index
               : h2_table_name_find(&encoder->table, prepared->field.name, prepared->field.name_length);
}

static uint8_t *value_write(uint8_t *place, const h2_prepared_field *prepared) {
    if (prepared->string == NULL) return string_plain_write(place, prepared->field.value, prepared->field.value_length);
    memcpy(place, prepared->string, prepared->string_length);
    return place + prepared->string_length;
}

/* Without indexing when the caller asks, or when the entry would be larger than the table. What is never to be indexed
 * is said to be so, for whoever forwards it (section 7.1.3). */
static uint8_t *literal_write(h2_encoder *encoder, uint8_t *place, const h2_prepared_field *prepared, bool indexed) {
    const h2_field *field = &prepared->field;
    uint32_t index = name_index(encoder, prepared);
    if (indexed && h2_table_insert(&encoder->table, field, prepared->hash))
        place = name_write(place, INCREMENTAL, INCREMENTAL_BITS, index, field);
    else
        place = name_write(place, field->indexing == H2_LITERAL ? NEVER_INDEXED : PLAIN, PLAIN_BITS, index, field);
    return value_write(place, prepared);
}

static uint8_t *field_write(h2_encoder *encoder, uint8_t *place, const h2_prepared_field *prepared) {
    const h2_field *field = &prepared->field;
    if (field->indexing == H2_LITERAL) return literal_write(encoder, place, prepared, false);
    if (field->indexing == H2_NAME_ONCE) return literal_write(encoder, place, prepared, !name_seen(encoder, field));
    uint32_t index = prepared->static_index;
    if (index == 0) index = h2_table_find(&encoder->table, field, prepared->hash);
    return index != 0 ? integer_write(place, INDEXED, INDEXED_BITS, index)
                      : literal_write(encoder, place, prepared, true);
}

/* A set's fields: from the cache while the table has not changed since they were encoded. An encoding that changed the
 * table itself is good for once. */
static bool set_encode(h2_encoder *encoder, const h2_header_set *set, h2_block *block, h2_piece *piece) {
    if (block->serial != set->serial || block->version != encoder->table.version) {
        if (!block_reserve(encoder, block, set->encoded_max)) return false;
        block->serial = set->serial;
        block->version = encoder->table.version;
        uint8_t *place = block->bytes;
        for (uint32_t i = 0; i < set->count; i++)
            place = field_write(encoder, place, &set->fields[i]);
        block->length = (uint32_t)(place - block->bytes);
    }
    *piece = (h2_piece){block->bytes, block->length};
    return true;
}

static bool head_encode(h2_encoder *encoder, const h2_request *request, h2_piece *piece) {
    if (!block_reserve(encoder, &encoder->head, (size_t)request->path_length + 4 * H2_INTEGER_BYTES_MAX)) return false;
    uint8_t *place = encoder->head.bytes;
    if (encoder->resize_pending) {
        if (encoder->resize_least < encoder->table.bytes_max)
            place = integer_write(place, SIZE_UPDATE, SIZE_UPDATE_BITS, encoder->resize_least);
        place = integer_write(place, SIZE_UPDATE, SIZE_UPDATE_BITS, encoder->table.bytes_max);
        encoder->resize_pending = false;
    }
    place = integer_write(place, PLAIN, PLAIN_BITS, STATIC_PATH);
    place = string_plain_write(place, request->path, request->path_length);
    *piece = (h2_piece){encoder->head.bytes, (size_t)(place - encoder->head.bytes)};
    return true;
}

static bool tail_encode(h2_encoder *encoder, const h2_request *request, h2_piece *piece) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < request->field_count; i++)
        bytes += (size_t)request->fields[i].name_length + request->fields[i].value_length + 3 * H2_INTEGER_BYTES_MAX;
    if (!block_reserve(encoder, &encoder->tail, bytes)) return false;
    uint8_t *place = encoder->tail.bytes;
    for (uint32_t i = 0; i < request->field_count; i++) {
        const h2_field *field = &request->fields[i];
        h2_prepared_field prepared = {.field = *field};
        if (field->indexing == H2_INDEXED) {
            prepared.hash = h2_field_hash(field);
            prepared.static_index = h2_static_find(field);
        }
        place = field_write(encoder, place, &prepared);
    }
    *piece = (h2_piece){encoder->tail.bytes, (size_t)(place - encoder->tail.bytes)};
    return true;
}

/* :path first: it must come before all regular fields, and what follows it can be cached as one. */
bool h2_encoder_request(h2_encoder *encoder, const h2_request *request, h2_piece pieces[H2_PIECES]) {
    h2_block *block = &encoder->blocks[request->set->serial % H2_BLOCKS_CACHED];
    pieces[2] = (h2_piece){NULL, 0};
    return head_encode(encoder, request, &pieces[0]) && set_encode(encoder, request->set, block, &pieces[1]) &&
           (request->shared == NULL || set_encode(encoder, request->shared, &encoder->shared, &pieces[2])) &&
           tail_encode(encoder, request, &pieces[3]);
}
