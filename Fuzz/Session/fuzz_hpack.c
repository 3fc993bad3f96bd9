#include "fuzz_hpack.h"
#include "fuzz_listing.h"
#include "h2_hpack.h"
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_BYTES = 8 << 20 };

static bool visit(void *context, const apns_h2_field *field) {
    listing_add(context, field->name, field->name_length, field->value, field->value_length);
    return true;
}

void fuzz_hpack(const uint8_t *bytes, size_t length) {
    static listing ours, theirs;
    apns_h2_memory *memory = apns_h2_memory_create(MEMORY_BYTES);
    h2_decoder decoder;
    nghttp2_hd_inflater *inflater;
    if (memory == NULL || nghttp2_hd_inflate_new(&inflater) != 0) abort();
    memset(&decoder, 0, sizeof(decoder));
    apns_h2_decoder_init(&decoder, memory);
    while (length > 0) {
        size_t now = bytes[0] < length - 1 ? bytes[0] : length - 1;
        uint8_t *block = malloc(now + 1); /* of its own size, for the sanitizer */
        if (block == NULL) abort();
        uint8_t *begin = block + 1;
        memcpy(begin, bytes + 1, now);
        ours.count = theirs.count = 0;
        int result = apns_h2_decoder_read(&decoder, begin, now, visit, &ours);
        bool good = listing_inflate(inflater, begin, now, &theirs);
        free(block);
        if (result != H2_DECODED && result != H2_DECODED_INVALID) break;
        if (good != (result == H2_DECODED) || !listing_equal(&ours, &theirs)) abort();
        if (!good) break;
        bytes += now + 1;
        length -= now + 1;
    }
    nghttp2_hd_inflate_del(inflater);
    apns_h2_decoder_clear(&decoder);
    apns_h2_memory_destroy(memory);
}
