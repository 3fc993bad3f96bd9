/*
 * h2_hpack: HPACK (RFC 7541): encoding of our requests, and decoding of the answers.
 *
 * The encoder of nghttp2 processes every field of every request anew, and Huffman-codes an authorization of some 250
 * bytes each time. This one encodes once what requests share: the bytes of a header set are valid until the dynamic
 * table changes, which it rarely does. The decoder passes on each field where it stands, in the block or in the table,
 * while that of nghttp2 gives it memory with a count of references.
 */
#pragma once

#include "apns_h2.h"

/* Maximum size of an encoded integer (RFC 7541, section 5.1). */
enum { H2_INTEGER_BYTES_MAX = 6 };

enum { H2_STATIC_COUNT = 61, H2_TABLE_BYTES_MAX = 4096, H2_TABLE_ENTRY_OVERHEAD = 32, H2_TABLE_ENTRIES_MAX = 128 };

/* h2_huffman.c: the code of each byte value, right-aligned, and its length in bits (RFC 7541, appendix B). */
extern const uint32_t apns_h2_huffman_codes[256];
extern const uint8_t apns_h2_huffman_bits[256];

/* h2_huffman.c */
size_t apns_h2_huffman_length(const uint8_t *bytes, size_t length);
uint8_t *apns_h2_huffman_write(uint8_t *place, const uint8_t *bytes, size_t length);

/* h2_huffman_read.c: decodes a string and returns the end of its bytes, or NULL if it is not valid. place: room for
 * H2_HUFFMAN_ROOM(length) bytes. apns_h2_huffman_prepare must have been called in the process. */
uint8_t *apns_h2_huffman_read(uint8_t *place, const uint8_t *bytes, size_t length);
void apns_h2_huffman_prepare(void);

/* Room for the bytes of a Huffman-coded string: the shortest code has five bits, and bytes are written in twos. */
#define H2_HUFFMAN_ROOM(length) ((size_t)(length)*8 / 5 + 1)

/* h2_static.c: the name and value of an entry of the static table, which begins with 1. */
apns_h2_field apns_h2_static_at(uint32_t index);

/* h2_static.c: return the index of an entry of the static table, or 0. */
uint32_t apns_h2_static_name_find(const uint8_t *name, size_t length);
uint32_t apns_h2_static_find(const apns_h2_field *field);

/* ---------------------------------------------------------------- the dynamic table */

typedef struct h2_table_entry {
    uint8_t *bytes; /* name and value */
    uint32_t name_length;
    uint32_t value_length;
    uint32_t hash;
    uint32_t reserved;
} h2_table_entry;

typedef struct h2_table {
    apns_h2_memory *memory;
    uint32_t bytes; /* size according to RFC 7541, section 4.1 */
    uint32_t bytes_max;
    uint64_t inserted; /* number of entries inserted so far; the newest has number inserted - 1 */
    uint64_t evicted;  /* number of entries evicted so far; the oldest present has number evicted */
    uint64_t version;  /* incremented whenever the meaning of an index may have changed */
    h2_table_entry entries[H2_TABLE_ENTRIES_MAX]; /* entry n is at n % H2_TABLE_ENTRIES_MAX */
} h2_table;

void apns_h2_table_init(h2_table *table, apns_h2_memory *memory);
void apns_h2_table_clear(h2_table *table);
void apns_h2_table_resize(h2_table *table, uint32_t bytes_max);

/* Returns whether the entry was inserted; false if it is larger than the table or there is no memory. */
bool apns_h2_table_insert(h2_table *table, const apns_h2_field *field, uint32_t hash);

/* Returns whether there is an entry with an HPACK index, and its name and value, which are borrowed until the next
 * change of the table. */
bool apns_h2_table_at(const h2_table *table, uint32_t index, apns_h2_field *field);

/* Return the HPACK index of an entry, or 0. */
uint32_t apns_h2_table_find(const h2_table *table, const apns_h2_field *field, uint32_t hash);
uint32_t apns_h2_table_name_find(const h2_table *table, const uint8_t *name, size_t length);

uint32_t apns_h2_field_hash(const apns_h2_field *field);

/* ---------------------------------------------------------------- header sets */

typedef struct h2_prepared_field {
    apns_h2_field field;   /* points into bytes of the set */
    const uint8_t *string; /* the value, encoded as a string literal */
    uint32_t string_length;
    uint32_t hash;
    uint32_t static_index;      /* index of name and value in the static table, or 0 */
    uint32_t static_name_index; /* index of the name in the static table, or 0 */
} h2_prepared_field;

struct apns_h2_header_set {
    uint64_t serial; /* unique in the process */
    uint32_t references;
    uint32_t count;
    uint32_t encoded_max; /* maximum size of the encoded set */
    uint32_t reserved;
    h2_prepared_field fields[APNS_H2_SET_FIELDS_MAX];
    uint8_t bytes[]; /* names, values, string literals */
};

/* ---------------------------------------------------------------- the encoder of a session */

enum { H2_BLOCKS_CACHED = 8, H2_NAMES_ONCE_MAX = 16, H2_NAME_ONCE_BYTES_MAX = 60 };

/* The encoded fields of a header set, followed by those that all requests of the connection share. */
typedef struct h2_block {
    uint64_t serial;  /* serial of the header set; 0 for none */
    uint64_t shared;  /* serial of the connection's set; 0 for none */
    uint64_t version; /* version of the table */
    uint8_t *bytes;
    uint32_t length;
    uint32_t capacity;
} h2_block;

/* A name that was sent with indexing once. */
typedef struct h2_name_once {
    uint64_t version; /* version of the table when index was looked up */
    uint32_t index;   /* index of the name, or 0 */
    uint32_t length;
    uint8_t bytes[H2_NAME_ONCE_BYTES_MAX];
} h2_name_once;

typedef struct h2_encoder {
    h2_table table;
    apns_h2_memory *memory;
    bool resize_pending;   /* the next header block must begin with a dynamic table size update */
    uint32_t resize_least; /* smallest table size since the last update */
    uint32_t names_once_count;
    h2_name_once names_once[H2_NAMES_ONCE_MAX];
    h2_block blocks[H2_BLOCKS_CACHED];
} h2_encoder;

/* Writes a string literal, Huffman-coded if that is shorter, and returns its end. */
uint8_t *apns_h2_string_write(uint8_t *place, const uint8_t *bytes, uint32_t length);

void apns_h2_encoder_init(h2_encoder *encoder, apns_h2_memory *memory);
void apns_h2_encoder_clear(h2_encoder *encoder);

/* Sets the table size that the peer allows (SETTINGS_HEADER_TABLE_SIZE). */
void apns_h2_encoder_table_allow(h2_encoder *encoder, uint32_t bytes_max);

/* Returns an upper bound for the size of a request's header block. */
size_t apns_h2_encoder_bound(const apns_h2_request *request);

/* Encodes the header block of a request and returns its end, or NULL if there is no memory. body_length: sent as
 * content-length unless 0. place: room for apns_h2_encoder_bound bytes. */
uint8_t *apns_h2_encoder_request(h2_encoder *encoder, const apns_h2_request *request, uint32_t body_length,
                                 uint8_t *place);

/* ---------------------------------------------------------------- the decoder of a session */

enum h2_decoded {
    H2_DECODED = 0,
    H2_DECODED_INVALID = 1, /* a decoding error (RFC 9113, section 4.3) */
    H2_DECODED_LARGE = 2,   /* a field is larger than APNS_H2_HEADER_LIST_BYTES_MAX */
    H2_DECODED_NO_MEMORY =
        3, /* the dynamic table is not what the peer takes it for; the decoder must not be used again */
    H2_DECODED_STOPPED = 4, /* the visitor returned false; likewise */
};

typedef struct h2_decoder {
    h2_table table;
    /* The dynamic table size updates with which the last block began. */
    bool resized;
    uint32_t resize_least;
} h2_decoder;

/* Is given each field of a block; returns whether to continue. field: borrowed until return. */
typedef bool h2_field_visitor(void *context, const apns_h2_field *field);

void apns_h2_decoder_init(h2_decoder *decoder, apns_h2_memory *memory);
void apns_h2_decoder_clear(h2_decoder *decoder);

enum { H2_SIZE_UPDATES_BYTES_MAX = 2 * H2_INTEGER_BYTES_MAX };

/* Writes updates of the table's size, first to the least one and then to the current one, and returns their end. place:
 * room for H2_SIZE_UPDATES_BYTES_MAX bytes. */
uint8_t *apns_h2_size_updates_write(uint8_t *place, uint32_t least, uint32_t current);

/* Decodes a whole header block; returns an enum h2_decoded. */
int apns_h2_decoder_read(h2_decoder *decoder, const uint8_t *bytes, size_t length, h2_field_visitor *visit,
                         void *context);
