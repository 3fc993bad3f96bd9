#include "h2_hpack.h"
#include <string.h>

typedef struct static_entry {
    const char *name;
    const char *value;
} static_entry;

/* The static table (RFC 7541, appendix A); the first entry has index 1. */
static const static_entry entries[] = {
    {":authority", ""},
    {":method", "GET"},
    {":method", "POST"},
    {":path", "/"},
    {":path", "/index.html"},
    {":scheme", "http"},
    {":scheme", "https"},
    {":status", "200"},
    {":status", "204"},
    {":status", "206"},
    {":status", "304"},
    {":status", "400"},
    {":status", "404"},
    {":status", "500"},
    {"accept-charset", ""},
    {"accept-encoding", "gzip, deflate"},
    {"accept-language", ""},
    {"accept-ranges", ""},
    {"accept", ""},
    {"access-control-allow-origin", ""},
    {"age", ""},
    {"allow", ""},
    {"authorization", ""},
    {"cache-control", ""},
    {"content-disposition", ""},
    {"content-encoding", ""},
    {"content-language", ""},
    {"content-length", ""},
    {"content-location", ""},
    {"content-range", ""},
    {"content-type", ""},
    {"cookie", ""},
    {"date", ""},
    {"etag", ""},
    {"expect", ""},
    {"expires", ""},
    {"from", ""},
    {"host", ""},
    {"if-match", ""},
    {"if-modified-since", ""},
    {"if-none-match", ""},
    {"if-range", ""},
    {"if-unmodified-since", ""},
    {"last-modified", ""},
    {"link", ""},
    {"location", ""},
    {"max-forwards", ""},
    {"proxy-authenticate", ""},
    {"proxy-authorization", ""},
    {"range", ""},
    {"referer", ""},
    {"refresh", ""},
    {"retry-after", ""},
    {"server", ""},
    {"set-cookie", ""},
    {"strict-transport-security", ""},
    {"transfer-encoding", ""},
    {"user-agent", ""},
    {"vary", ""},
    {"via", ""},
    {"www-authenticate", ""},
};
_Static_assert(sizeof(entries) / sizeof(entries[0]) == H2_STATIC_COUNT, "all of them");

static bool equal(const char *text, const uint8_t *bytes, size_t length) {
    return strlen(text) == length && memcmp(text, bytes, length) == 0;
}

uint32_t apns_h2_static_name_find(const uint8_t *name, size_t length) {
    for (uint32_t i = 0; i < H2_STATIC_COUNT; i++)
        if (equal(entries[i].name, name, length)) return i + 1;
    return 0;
}

uint32_t apns_h2_static_find(const apns_h2_field *field) {
    for (uint32_t i = 0; i < H2_STATIC_COUNT; i++)
        if (equal(entries[i].name, field->name, field->name_length) &&
            equal(entries[i].value, field->value, field->value_length))
            return i + 1;
    return 0;
}
