#include "h2_hpack.h"

#include "apns_check.h"
#include <string.h>

typedef struct static_entry {
    const char *name;
    const char *value;
    uint16_t name_length;
    uint16_t value_length;
} static_entry;

#define ENTRY(name, value)                                                                                             \
    { name, value, sizeof(name) - 1, sizeof(value) - 1 }

/* The static table (RFC 7541, appendix A); the first entry has index 1. */
static const static_entry entries[] = {
    ENTRY(":authority", ""),
    ENTRY(":method", "GET"),
    ENTRY(":method", "POST"),
    ENTRY(":path", "/"),
    ENTRY(":path", "/index.html"),
    ENTRY(":scheme", "http"),
    ENTRY(":scheme", "https"),
    ENTRY(":status", "200"),
    ENTRY(":status", "204"),
    ENTRY(":status", "206"),
    ENTRY(":status", "304"),
    ENTRY(":status", "400"),
    ENTRY(":status", "404"),
    ENTRY(":status", "500"),
    ENTRY("accept-charset", ""),
    ENTRY("accept-encoding", "gzip, deflate"),
    ENTRY("accept-language", ""),
    ENTRY("accept-ranges", ""),
    ENTRY("accept", ""),
    ENTRY("access-control-allow-origin", ""),
    ENTRY("age", ""),
    ENTRY("allow", ""),
    ENTRY("authorization", ""),
    ENTRY("cache-control", ""),
    ENTRY("content-disposition", ""),
    ENTRY("content-encoding", ""),
    ENTRY("content-language", ""),
    ENTRY("content-length", ""),
    ENTRY("content-location", ""),
    ENTRY("content-range", ""),
    ENTRY("content-type", ""),
    ENTRY("cookie", ""),
    ENTRY("date", ""),
    ENTRY("etag", ""),
    ENTRY("expect", ""),
    ENTRY("expires", ""),
    ENTRY("from", ""),
    ENTRY("host", ""),
    ENTRY("if-match", ""),
    ENTRY("if-modified-since", ""),
    ENTRY("if-none-match", ""),
    ENTRY("if-range", ""),
    ENTRY("if-unmodified-since", ""),
    ENTRY("last-modified", ""),
    ENTRY("link", ""),
    ENTRY("location", ""),
    ENTRY("max-forwards", ""),
    ENTRY("proxy-authenticate", ""),
    ENTRY("proxy-authorization", ""),
    ENTRY("range", ""),
    ENTRY("referer", ""),
    ENTRY("refresh", ""),
    ENTRY("retry-after", ""),
    ENTRY("server", ""),
    ENTRY("set-cookie", ""),
    ENTRY("strict-transport-security", ""),
    ENTRY("transfer-encoding", ""),
    ENTRY("user-agent", ""),
    ENTRY("vary", ""),
    ENTRY("via", ""),
    ENTRY("www-authenticate", ""),
};
_Static_assert(sizeof(entries) / sizeof(entries[0]) == H2_STATIC_COUNT, "all of them");

static bool equal(const char *text, size_t text_length, const uint8_t *bytes, size_t length) {
    return text_length == length && (length == 0 || memcmp(text, bytes, length) == 0);
}

uint32_t apns_h2_static_name_find(const uint8_t *name, size_t length) {
    for (uint32_t i = 0; i < H2_STATIC_COUNT; i++)
        if (equal(entries[i].name, entries[i].name_length, name, length)) return i + 1;
    return 0;
}

uint32_t apns_h2_static_find(const apns_h2_field *field) {
    for (uint32_t i = 0; i < H2_STATIC_COUNT; i++)
        if (equal(entries[i].name, entries[i].name_length, field->name, field->name_length) &&
            equal(entries[i].value, entries[i].value_length, field->value, field->value_length))
            return i + 1;
    return 0;
}

apns_h2_field apns_h2_static_at(uint32_t index) {
    APNS_REQUIRE(index >= 1 && index <= H2_STATIC_COUNT);
    const static_entry *entry = &entries[index - 1];
    return (apns_h2_field){.name = (const uint8_t *)entry->name,
                           .value = (const uint8_t *)entry->value,
                           .name_length = entry->name_length,
                           .value_length = entry->value_length};
}
