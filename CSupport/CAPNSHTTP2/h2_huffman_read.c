#include "h2_hpack.h"

#include <pthread.h>
#include <string.h>

/* Decodes the code of RFC 7541, appendix B. The next twelve bits determine one symbol, or two where both have short
 * codes, as nearly all have of which header fields consist. The code is canonical: the codes of a length follow one
 * another, in the order of their symbols, and after those of the length before. So longer ones are found by their
 * length. */

enum { LOOKUP_BITS = 12, LOOKUPS_UNCHECKED = 4, LONGEST_CODE = 30 };

typedef struct lookup {
    uint8_t symbols[2];
    uint8_t bits;  /* of all its symbols */
    uint8_t count; /* of symbols; 0: the code is longer */
} lookup;

static lookup lookups[1 << LOOKUP_BITS];

/* Enters symbols for all bits that begin with their codes. */
static void enter(lookup entry, uint32_t code) {
    uint32_t free_bits = LOOKUP_BITS - entry.bits;
    for (uint32_t i = 0; i < 1u << free_bits; i++)
        lookups[(code << free_bits) + i] = entry;
}

static void lookups_make(void) {
    for (uint32_t first = 0; first < 256; first++) {
        uint32_t bits = apns_h2_huffman_bits[first], code = apns_h2_huffman_codes[first];
        if (bits > LOOKUP_BITS) continue;
        enter((lookup){{(uint8_t)first, 0}, (uint8_t)bits, 1}, code);
        for (uint32_t second = 0; second < 256; second++) {
            uint32_t both = bits + apns_h2_huffman_bits[second];
            if (both > LOOKUP_BITS) continue;
            enter((lookup){{(uint8_t)first, (uint8_t)second}, (uint8_t)both, 2},
                  code << apns_h2_huffman_bits[second] | apns_h2_huffman_codes[second]);
        }
    }
}

void apns_h2_huffman_prepare(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, lookups_make);
}

/* The codes of one length, as the upper bits of 32. */
typedef struct code_range {
    uint32_t first;
    uint32_t end;  /* of the first code that is longer */
    uint8_t place; /* of the first symbol in long_symbols */
    uint8_t bits;
} code_range;

static const code_range long_codes[] = {
    {0xfe000000, 0xff400000, 0, 10},   {0xff400000, 0xffa00000, 5, 11},   {0xffa00000, 0xffc00000, 8, 12},
    {0xffc00000, 0xfff00000, 10, 13},  {0xfff00000, 0xfff80000, 16, 14},  {0xfff80000, 0xfffe0000, 18, 15},
    {0xfffe0000, 0xfffe6000, 21, 19},  {0xfffe6000, 0xfffee000, 24, 20},  {0xfffee000, 0xffff4800, 32, 21},
    {0xffff4800, 0xffffb000, 45, 22},  {0xffffb000, 0xffffea00, 71, 23},  {0xffffea00, 0xfffff600, 100, 24},
    {0xfffff600, 0xfffff800, 112, 25}, {0xfffff800, 0xfffffbc0, 116, 26}, {0xfffffbc0, 0xfffffe20, 131, 27},
    {0xfffffe20, 0xfffffff0, 150, 28}, {0xfffffff0, 0xfffffffc, 179, 30},
};

static const uint8_t long_symbols[] = {
    33,  34,  40,  41,  63,  39,  43,  124, 35,  62,  0,   36,  64,  91,  93,  126, 94,  125, 60,  96,  123, 92,  195,
    208, 128, 130, 131, 162, 184, 194, 224, 226, 153, 161, 167, 172, 176, 177, 179, 209, 216, 217, 227, 229, 230, 129,
    132, 133, 134, 136, 146, 154, 156, 160, 163, 164, 169, 170, 173, 178, 181, 185, 186, 187, 189, 190, 196, 198, 228,
    232, 233, 1,   135, 137, 138, 139, 140, 141, 143, 147, 149, 150, 151, 152, 155, 157, 158, 165, 166, 168, 174, 175,
    180, 182, 183, 188, 191, 197, 231, 239, 9,   142, 144, 145, 148, 159, 171, 206, 215, 225, 236, 237, 199, 207, 234,
    235, 192, 193, 200, 201, 202, 205, 210, 213, 218, 219, 238, 240, 242, 243, 255, 203, 204, 211, 212, 214, 221, 222,
    223, 241, 244, 245, 246, 247, 248, 250, 251, 252, 253, 254, 2,   3,   4,   5,   6,   7,   8,   11,  12,  14,  15,
    16,  17,  18,  19,  20,  21,  23,  24,  25,  26,  27,  28,  29,  30,  31,  127, 220, 249, 10,  13,  22,
};

enum { LONG_CODES = sizeof(long_codes) / sizeof(long_codes[0]) };

/* Bits that have been read and not decoded. */
typedef struct bit_buffer {
    uint64_t bits; /* the next bit is the highest one; there are zeros after count, or bits that will be read again */
    uint32_t count;
} bit_buffer;

/* Reads whole bytes until 56 bits or more are there, or the string ends. */
static inline const uint8_t *fill(bit_buffer *buffer, const uint8_t *next, const uint8_t *end) {
    if (end - next >= 8) {
        uint64_t word;
        memcpy(&word, next, sizeof(word));
        buffer->bits |= __builtin_bswap64(word) >> buffer->count;
        next += (63 - buffer->count) / 8;
        buffer->count |= 56;
        return next;
    }
    for (; buffer->count <= 56 && next < end; buffer->count += 8)
        buffer->bits |= (uint64_t)*next++ << (56 - buffer->count);
    return next;
}

static inline void drop(bit_buffer *buffer, uint32_t bits) {
    buffer->bits <<= bits;
    buffer->count -= bits;
}

/* Decodes the symbols of some lookups, for which there are bits enough. At a longer code it stays where it is. */
static inline uint8_t *lookups_take(uint8_t *place, bit_buffer *buffer) {
    uint64_t bits = buffer->bits;
    uint32_t used = 0;
    for (uint32_t i = 0; i < LOOKUPS_UNCHECKED; i++) {
        lookup entry = lookups[bits >> (64 - LOOKUP_BITS)];
        memcpy(place, entry.symbols, 2);
        place += entry.count;
        used += entry.bits;
        bits <<= entry.bits;
    }
    *buffer = (bit_buffer){bits, buffer->count - used};
    return place;
}

/* Decodes one symbol, and returns the place after it, or NULL if there is none: the string ends before, or this is the
 * code of EOS. */
static uint8_t *symbol_read(uint8_t *place, bit_buffer *buffer) {
    lookup entry = lookups[buffer->bits >> (64 - LOOKUP_BITS)];
    uint32_t bits = 0;
    uint32_t upper = (uint32_t)(buffer->bits >> 32);
    if (entry.count > 0) {
        *place = entry.symbols[0];
        bits = apns_h2_huffman_bits[entry.symbols[0]];
    }
    for (uint32_t i = 0; bits == 0 && i < LONG_CODES; i++) {
        if (upper >= long_codes[i].end) continue;
        bits = long_codes[i].bits;
        *place = long_symbols[long_codes[i].place + ((upper - long_codes[i].first) >> (32 - bits))];
    }
    if (bits == 0 || bits > buffer->count) return NULL;
    drop(buffer, bits);
    return place + 1;
}

/* What is left is padding: fewer than eight bits, all of them ones. */
static bool is_padding(const bit_buffer *buffer) {
    return buffer->count < 8 && (buffer->bits >> 56) == (0xff00u >> buffer->count & 0xff);
}

uint8_t *apns_h2_huffman_read(uint8_t *place, const uint8_t *bytes, size_t length) {
    const uint8_t *next = bytes, *end = bytes + length;
    bit_buffer buffer = {0, 0};
    for (;;) {
        next = fill(&buffer, next, end);
        if (buffer.count >= LOOKUPS_UNCHECKED * LOOKUP_BITS) place = lookups_take(place, &buffer);
        if (next < end && buffer.count < LONGEST_CODE) continue;
        uint8_t *after = symbol_read(place, &buffer);
        if (after == NULL) return next == end && is_padding(&buffer) ? place : NULL;
        place = after;
    }
}
