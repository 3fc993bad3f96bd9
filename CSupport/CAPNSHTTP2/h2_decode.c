#include "h2_hpack.h"

/* A header block while it is decoded. */
typedef struct block_reader {
    const uint8_t *next;
    const uint8_t *end;
    uint8_t *room; /* for the Huffman-coded strings of one field */
    uint8_t *room_end;
    int result; /* enum h2_decoded */
} block_reader;

static bool fail(block_reader *reader, int result) {
    reader->result = result;
    return false;
}

/* Reads an integer whose first byte has the lowest `bits` bits (RFC 7541, section 5.1). */
static bool integer_read(block_reader *reader, uint32_t bits, uint32_t *number) {
    uint64_t sum = *reader->next++ & ((1u << bits) - 1);
    bool more = sum == (1u << bits) - 1;
    for (uint32_t shift = 0; more; shift += 7) {
        if (reader->next == reader->end || shift > 28) return fail(reader, H2_DECODED_INVALID);
        uint8_t byte = *reader->next++;
        sum += (uint64_t)(byte & 0x7f) << shift;
        more = (byte & 0x80) != 0;
    }
    if (sum > UINT32_MAX) return fail(reader, H2_DECODED_INVALID);
    *number = (uint32_t)sum;
    return true;
}

static bool huffman_read(block_reader *reader, uint32_t length, const uint8_t **bytes, uint32_t *decoded) {
    if (H2_HUFFMAN_ROOM(length) > (size_t)(reader->room_end - reader->room)) return fail(reader, H2_DECODED_LARGE);
    uint8_t *end = apns_h2_huffman_read(reader->room, reader->next, length);
    if (end == NULL) return fail(reader, H2_DECODED_INVALID);
    *bytes = reader->room;
    *decoded = (uint32_t)(end - reader->room);
    reader->room = end;
    return true;
}

/* Reads a string literal (RFC 7541, section 5.2). */
static bool string_read(block_reader *reader, const uint8_t **bytes, uint32_t *length) {
    if (reader->next == reader->end) return fail(reader, H2_DECODED_INVALID);
    bool coded = (*reader->next & 0x80) != 0;
    uint32_t encoded;
    if (!integer_read(reader, 7, &encoded)) return false;
    if (encoded > (size_t)(reader->end - reader->next)) return fail(reader, H2_DECODED_INVALID);
    *bytes = reader->next;
    *length = encoded;
    if (coded && !huffman_read(reader, encoded, bytes, length)) return false;
    reader->next += encoded;
    return true;
}

static bool entry_read(const h2_decoder *decoder, block_reader *reader, uint32_t index, apns_h2_field *field) {
    if (index >= 1 && index <= H2_STATIC_COUNT) {
        *field = apns_h2_static_at(index);
        return true;
    }
    return apns_h2_table_at(&decoder->table, index, field) || fail(reader, H2_DECODED_INVALID);
}

/* Reads a literal whose name is an index in the lowest `bits` bits, or a string (RFC 7541, section 6.2). */
static bool literal_read(const h2_decoder *decoder, block_reader *reader, uint32_t bits, apns_h2_field *field) {
    uint32_t index;
    if (!integer_read(reader, bits, &index)) return false;
    if (index != 0) {
        if (!entry_read(decoder, reader, index, field)) return false;
    } else if (!string_read(reader, &field->name, &field->name_length)) {
        return false;
    }
    return string_read(reader, &field->value, &field->value_length);
}

/* A field that is larger than the table empties it (RFC 7541, section 4.4). */
static bool insert(h2_decoder *decoder, block_reader *reader, const apns_h2_field *field) {
    if ((uint64_t)field->name_length + field->value_length + H2_TABLE_ENTRY_OVERHEAD > decoder->table.bytes_max) {
        apns_h2_table_clear(&decoder->table);
        return true;
    }
    return apns_h2_table_insert(&decoder->table, field, 0) || fail(reader, H2_DECODED_NO_MEMORY);
}

/* Reads the size updates with which a block may begin (RFC 7541, section 6.3). */
static bool updates_read(h2_decoder *decoder, block_reader *reader) {
    decoder->resized = false;
    while (reader->next < reader->end && (*reader->next & 0xe0) == 0x20) {
        uint32_t bytes_max;
        if (!integer_read(reader, 5, &bytes_max)) return false;
        if (bytes_max > H2_TABLE_BYTES_MAX) return fail(reader, H2_DECODED_INVALID);
        apns_h2_table_resize(&decoder->table, bytes_max);
        if (!decoder->resized || bytes_max < decoder->resize_least) decoder->resize_least = bytes_max;
        decoder->resized = true;
    }
    return true;
}

/* Reads a field, and passes it on before the table changes, where its name may be. */
static bool field_read(h2_decoder *decoder, block_reader *reader, h2_field_visitor *visit, void *context) {
    apns_h2_field field = {0};
    uint8_t first = *reader->next;
    bool inserted = false;
    if ((first & 0x80) != 0) {
        uint32_t index;
        if (!integer_read(reader, 7, &index) || !entry_read(decoder, reader, index, &field)) return false;
    } else if ((first & 0x40) != 0) {
        inserted = true;
        if (!literal_read(decoder, reader, 6, &field)) return false;
    } else if ((first & 0x20) != 0) {
        return fail(reader, H2_DECODED_INVALID); /* a size update after a field */
    } else if (!literal_read(decoder, reader, 4, &field)) {
        return false;
    }
    if (!visit(context, &field)) return fail(reader, H2_DECODED_STOPPED);
    return !inserted || insert(decoder, reader, &field);
}

void apns_h2_decoder_init(h2_decoder *decoder, apns_h2_memory *memory) {
    apns_h2_huffman_prepare();
    decoder->resized = false;
    apns_h2_table_init(&decoder->table, memory);
}

void apns_h2_decoder_clear(h2_decoder *decoder) {
    apns_h2_table_clear(&decoder->table);
}

int apns_h2_decoder_read(h2_decoder *decoder, const uint8_t *bytes, size_t length, h2_field_visitor *visit,
                         void *context) {
    uint8_t room[APNS_H2_HEADER_LIST_BYTES_MAX];
    block_reader reader = {.next = bytes, .end = bytes + length};
    if (!updates_read(decoder, &reader)) return reader.result;
    while (reader.next < reader.end) {
        reader.room = room;
        reader.room_end = room + sizeof(room);
        if (!field_read(decoder, &reader, visit, context)) return reader.result;
    }
    return H2_DECODED;
}
