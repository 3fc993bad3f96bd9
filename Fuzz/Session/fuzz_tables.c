#include "fuzz_hpack.h"
#include "fuzz_listing.h"
#include "h2_hpack.h"
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_BYTES = 8 << 20, BLOCK_BYTES_MAX = 1 << 16, NAME_BYTES_MAX = 200, VALUE_BYTES_MAX = 5000, FIELDS = 4 };

/* The steps of the input, and both sides of both directions. */
typedef struct bench {
    const uint8_t *next;
    const uint8_t *end;
    apns_h2_memory *memory;
    h2_decoder decoder;
    nghttp2_hd_inflater *inflater; /* of the blocks that our decoder reads */
    h2_encoder encoder;
    nghttp2_hd_inflater *server; /* of the blocks that our encoder writes */
    size_t length;               /* of block */
    bool begun;                  /* the block has a field, behind which a size update is not allowed */
    uint8_t block[BLOCK_BYTES_MAX];
} bench;

static void expect(bool kept) {
    if (!kept) abort();
}

static uint8_t take(bench *b) {
    return b->next < b->end ? *b->next++ : 0;
}

/* ---------------------------------------------------------------- what our decoder reads */

static void put(bench *b, uint8_t byte) {
    if (b->length < BLOCK_BYTES_MAX) b->block[b->length++] = byte;
}

static void integer_put(bench *b, uint8_t pattern, uint32_t bits, uint32_t number) {
    uint32_t most = (1u << bits) - 1;
    put(b, (uint8_t)(pattern | (number < most ? number : most)));
    if (number < most) return;
    for (number -= most; number >= 0x80; number >>= 7)
        put(b, (uint8_t)(number | 0x80));
    put(b, (uint8_t)number);
}

static void string_put(bench *b, uint32_t length, uint8_t seed) {
    integer_put(b, 0, 7, length);
    for (uint32_t i = 0; i < length; i++)
        put(b, (uint8_t)('a' + (seed + i) % 26));
}

/* How large an entry is made: as the table, as what is left of it, or otherwise, and a byte more or less. */
static uint32_t size_draw(bench *b) {
    const h2_table *table = &b->decoder.table;
    uint8_t choice = take(b);
    uint32_t size = choice % 4 == 0   ? table->bytes_max
                    : choice % 4 == 1 ? table->bytes_max - table->bytes
                    : choice % 4 == 2 ? 33 + take(b)
                                      : table->bytes_max / 2;
    return size + (choice >> 2) % 3 - 1;
}

static void entry_put(bench *b) {
    uint32_t size = size_draw(b);
    uint32_t most = size < H2_TABLE_ENTRY_OVERHEAD + 1 ? 1 : size - H2_TABLE_ENTRY_OVERHEAD;
    uint32_t name = most < NAME_BYTES_MAX ? 1 + take(b) % most : 1 + take(b) % NAME_BYTES_MAX;
    uint32_t value = most - name < VALUE_BYTES_MAX ? most - name : VALUE_BYTES_MAX;
    put(b, 0x40);
    string_put(b, name, take(b));
    string_put(b, value, take(b));
    b->begun = true;
}

/* A field whose name is that of an entry, which the insertion may evict. */
static void entry_again_put(bench *b) {
    uint32_t index = 1 + take(b) % (H2_STATIC_COUNT + 4);
    integer_put(b, 0x40, 6, index);
    string_put(b, take(b) % 100, take(b));
    b->begun = true;
}

static void update_put(bench *b) {
    static const uint32_t sizes[] = {0, 33, 34, 64, 66, 100, 128, 1000, 4095, 4096};
    if (b->begun) return;
    integer_put(b, 0x20, 5, sizes[take(b) % (sizeof(sizes) / sizeof(sizes[0]))]);
}

static bool ours_visit(void *context, const apns_h2_field *field) {
    listing_add(context, field->name, field->name_length, field->value, field->value_length);
    return true;
}

/* Decodes the block by both; returns whether it is a good one. */
static bool block_read(bench *b) {
    static listing ours, theirs;
    uint8_t *copy = malloc(b->length + 1); /* of its own size, for the sanitizer */
    expect(copy != NULL);
    memcpy(copy + 1, b->block, b->length);
    ours.count = theirs.count = 0;
    int result = apns_h2_decoder_read(&b->decoder, copy + 1, b->length, ours_visit, &ours);
    bool good = listing_inflate(b->inflater, copy + 1, b->length, &theirs);
    free(copy);
    b->length = 0;
    b->begun = false;
    if (result != H2_DECODED && result != H2_DECODED_INVALID) return false;
    expect(good == (result == H2_DECODED) && listing_equal(&ours, &theirs));
    return good;
}

static bool decoder_step(bench *b, uint8_t kind) {
    switch (kind) {
    case 0:
    case 1:
        entry_put(b);
        return true;
    case 2:
        entry_again_put(b);
        return true;
    case 3:
        integer_put(b, 0x80, 7, H2_STATIC_COUNT + 1 + take(b) % 8u);
        b->begun = true;
        return true;
    case 4:
        update_put(b);
        return true;
    default:
        return block_read(b);
    }
}

/* ---------------------------------------------------------------- what our encoder writes */

static void table_allow(bench *b) {
    static const uint32_t sizes[] = {0, 33, 64, 100, 150, 1000, 4096, 8192};
    uint32_t size = sizes[take(b) % (sizeof(sizes) / sizeof(sizes[0]))];
    apns_h2_encoder_table_allow(&b->encoder, size);
    expect(nghttp2_hd_inflate_change_table_size(b->server, size < H2_TABLE_BYTES_MAX ? size : H2_TABLE_BYTES_MAX) == 0);
}

/* A field whose entry has a size about that of the table. */
static apns_h2_field field_draw(bench *b, uint8_t *text, size_t room) {
    uint8_t name = (uint8_t)(1 + take(b) % 5);
    uint32_t left = b->encoder.table.bytes_max;
    if (take(b) % 2 == 0) left -= b->encoder.table.bytes;
    uint32_t size = left + take(b) % 3u - 1;
    uint32_t fixed = H2_TABLE_ENTRY_OVERHEAD + name;
    uint32_t value = size > fixed && size - fixed < room - name ? size - fixed : take(b) % 40u;
    memset(text, 'a' + take(b) % 3, name);
    memset(text + name, 'A' + take(b) % 3, value);
    return (apns_h2_field){
        .name = text, .value = text + name, .name_length = name, .value_length = value, .indexing = take(b) % 3u};
}

static void request_write(bench *b) {
    static uint8_t texts[2 * FIELDS][VALUE_BYTES_MAX + 8], block[BLOCK_BYTES_MAX];
    static const uint8_t path[] = "/3/device/1";
    static listing ours, theirs;
    apns_h2_field fields[2 * FIELDS];
    uint32_t shared = take(b) % (FIELDS + 1u), own = take(b) % (FIELDS + 1u);
    ours.count = theirs.count = 0;
    listing_add(&ours, (const uint8_t *)":path", 5, path, sizeof(path) - 1);
    for (uint32_t i = 0; i < shared + own; i++) {
        fields[i] = field_draw(b, texts[i], sizeof(texts[i]));
        listing_add(&ours, fields[i].name, fields[i].name_length, fields[i].value, fields[i].value_length);
    }
    apns_h2_header_set *set = apns_h2_header_set_create(fields, shared);
    expect(set != NULL);
    const apns_h2_request request = {
        .set = set, .path = path, .path_length = sizeof(path) - 1, .fields = fields + shared, .field_count = own};
    /* The second one finds its fields in the table, or in the cache. */
    for (int times = 0; times < 2; times++) {
        expect(apns_h2_encoder_bound(&request) <= sizeof(block));
        const uint8_t *end = apns_h2_encoder_request(&b->encoder, &request, 0, block);
        expect(end != NULL && (size_t)(end - block) <= apns_h2_encoder_bound(&request));
        theirs.count = 0;
        expect(listing_inflate(b->server, block, (size_t)(end - block), &theirs) && listing_equal(&ours, &theirs));
    }
    apns_h2_header_set_destroy(set);
}

/* ---------------------------------------------------------------- both */

void fuzz_tables(const uint8_t *bytes, size_t length) {
    static bench b;
    memset(&b, 0, offsetof(bench, block));
    b.next = bytes;
    b.end = bytes + length;
    b.memory = apns_h2_memory_create(MEMORY_BYTES);
    expect(b.memory != NULL && nghttp2_hd_inflate_new(&b.inflater) == 0 && nghttp2_hd_inflate_new(&b.server) == 0);
    apns_h2_decoder_init(&b.decoder, b.memory);
    apns_h2_encoder_init(&b.encoder, b.memory);
    bool good = true;
    while (good && b.next < b.end) {
        uint8_t kind = take(&b) % 8;
        if (kind == 6)
            table_allow(&b);
        else if (kind == 7)
            request_write(&b);
        else
            good = decoder_step(&b, kind);
    }
    if (good) (void)block_read(&b);
    nghttp2_hd_inflate_del(b.inflater);
    nghttp2_hd_inflate_del(b.server);
    apns_h2_decoder_clear(&b.decoder);
    apns_h2_encoder_clear(&b.encoder);
    apns_h2_memory_destroy(b.memory);
}
