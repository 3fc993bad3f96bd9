/*
 * h2_hpack: the encoding half of HPACK (RFC 7541) for our requests.
 *
 * The library's encoder looks at every field of every request anew and Huffman-codes an authorization of some 250 bytes
 * each time. Here what requests share is encoded once: the bytes of a header set stay valid until the dynamic table
 * changes, which in a steady state it does not.
 */
#ifndef APNS_BATCH_H2_HPACK_H
#define APNS_BATCH_H2_HPACK_H

#include "apns_h2.h"

/* Bytes that an integer takes at most (RFC 7541, section 5.1). */
enum { H2_INTEGER_BYTES_MAX = 6 };

enum { H2_STATIC_COUNT = 61, H2_TABLE_BYTES_MAX = 4096, H2_TABLE_ENTRY_OVERHEAD = 32, H2_TABLE_ENTRIES_MAX = 128 };

/* h2_huffman.c */
size_t apns_h2_huffman_length(const uint8_t *bytes, size_t length);
uint8_t *apns_h2_huffman_write(uint8_t *place, const uint8_t *bytes, size_t length);

/* h2_static.c: index of the entry, or 0. */
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
    uint32_t bytes; /* as RFC 7541, section 4.1 counts */
    uint32_t bytes_max;
    uint64_t inserted;                            /* entries ever; the newest has number inserted - 1 */
    uint64_t evicted;                             /* entries ever; the oldest present has number evicted */
    uint64_t version;                             /* changes whenever an index may have changed its meaning */
    h2_table_entry entries[H2_TABLE_ENTRIES_MAX]; /* by number, modulo */
} h2_table;

void apns_h2_table_init(h2_table *table, apns_h2_memory *memory);
void apns_h2_table_clear(h2_table *table);
void apns_h2_table_resize(h2_table *table, uint32_t bytes_max);

/* True when the entry was put in; false when it is larger than the table or memory is short. */
bool apns_h2_table_insert(h2_table *table, const apns_h2_field *field, uint32_t hash);

/* HPACK index of the entry, or 0. */
uint32_t apns_h2_table_find(const h2_table *table, const apns_h2_field *field, uint32_t hash);
uint32_t apns_h2_table_name_find(const h2_table *table, const uint8_t *name, size_t length);

uint32_t apns_h2_field_hash(const apns_h2_field *field);

/* ---------------------------------------------------------------- header sets */

typedef struct h2_prepared_field {
    apns_h2_field field;   /* points into the set */
    const uint8_t *string; /* the value as a string literal, ready to be sent */
    uint32_t string_length;
    uint32_t hash;
    uint32_t static_index;      /* of name and value, or 0 */
    uint32_t static_name_index; /* of the name, or 0 */
} h2_prepared_field;

struct apns_h2_header_set {
    uint64_t serial; /* no other set has it */
    uint32_t references;
    uint32_t count;
    uint32_t encoded_max; /* bytes that the set takes at most */
    uint32_t reserved;
    h2_prepared_field fields[APNS_H2_SET_FIELDS_MAX];
    uint8_t bytes[]; /* names, values, string literals */
};

/* ---------------------------------------------------------------- the encoder of a session */

enum { H2_BLOCKS_CACHED = 8, H2_NAMES_ONCE_MAX = 16, H2_NAME_ONCE_BYTES_MAX = 60 };

/* The encoded fields of a header set, followed by those that all requests of the connection share. */
typedef struct h2_block {
    uint64_t serial;  /* of the set; 0 for none */
    uint64_t shared;  /* of the connection's set; 0 for none */
    uint64_t version; /* of the table */
    uint8_t *bytes;
    uint32_t length;
    uint32_t capacity;
} h2_block;

/* A name that was sent with indexing once. */
typedef struct h2_name_once {
    uint64_t version; /* of the table, when the index was looked up */
    uint32_t index;   /* of the name, or 0 */
    uint32_t length;
    uint8_t bytes[H2_NAME_ONCE_BYTES_MAX];
} h2_name_once;

typedef struct h2_encoder {
    h2_table table;
    apns_h2_memory *memory;
    bool resize_pending;   /* the next block must announce the table's size */
    uint32_t resize_least; /* smallest size since the last announcement */
    uint32_t names_once_count;
    h2_name_once names_once[H2_NAMES_ONCE_MAX];
    h2_block blocks[H2_BLOCKS_CACHED];
} h2_encoder;

/* Writes a string literal, Huffman-coded where that is shorter. */
uint8_t *apns_h2_string_write(uint8_t *place, const uint8_t *bytes, uint32_t length);

void apns_h2_encoder_init(h2_encoder *encoder, apns_h2_memory *memory);
void apns_h2_encoder_clear(h2_encoder *encoder);

/* The peer allows a table of so many bytes (SETTINGS_HEADER_TABLE_SIZE). */
void apns_h2_encoder_table_allow(h2_encoder *encoder, uint32_t bytes_max);

/* The most bytes that a request's header block can take. */
size_t apns_h2_encoder_bound(const apns_h2_request *request);

/* Encodes a request's header block and returns its end; NULL when memory is short. body_length: sent as content-length
 * unless 0. place: room for apns_h2_encoder_bound. */
uint8_t *apns_h2_encoder_request(h2_encoder *encoder, const apns_h2_request *request, uint32_t body_length,
                                 uint8_t *place);

#endif
