#include "apns_base64.h"

#include "apns_check.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t apns_base64_length(size_t byte_count) {
    return (byte_count + 2) / 3 * 4;
}

/* Encodes a group of 1 to 3 bytes as four characters. */
static void encode_group(const uint8_t *group, size_t count, uint8_t *text) {
    uint32_t bits = (uint32_t)group[0] << 16;
    if (count > 1) bits |= (uint32_t)group[1] << 8;
    if (count > 2) bits |= group[2];
    text[0] = (uint8_t)alphabet[bits >> 18];
    text[1] = (uint8_t)alphabet[bits >> 12 & 63];
    text[2] = count > 1 ? (uint8_t)alphabet[bits >> 6 & 63] : '=';
    text[3] = count > 2 ? (uint8_t)alphabet[bits & 63] : '=';
}

void apns_base64_encode(const uint8_t *bytes, size_t length, uint8_t *text) {
    APNS_REQUIRE(text != NULL && (bytes != NULL || length == 0));
    for (size_t done = 0; done < length; done += 3) {
        encode_group(bytes + done, length - done < 3 ? length - done : 3, text);
        text += 4;
    }
}

/* Returns the value of a character, or -1. */
static int six_bits(uint8_t c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    return c == '/' ? 63 : -1;
}

static bool is_blank(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

ptrdiff_t apns_base64_decode(const uint8_t *text, size_t length, bool blanks, uint8_t *bytes, size_t capacity) {
    uint32_t bits = 0;
    size_t characters = 0;
    size_t padding = 0;
    size_t written = 0;
    for (size_t i = 0; i < length; i++) {
        if (blanks && is_blank(text[i])) continue;
        int value = text[i] == '=' ? 0 : six_bits(text[i]);
        if (value < 0 || (padding > 0 && text[i] != '=')) return -1;
        if (text[i] == '=' && ++padding > 2) return -1;
        bits = bits << 6 | (uint32_t)value;
        if (++characters % 4 != 0) continue;
        size_t count = 3 - padding;
        if (written + count > capacity) return -1;
        /* Bits after the last byte must be zero, so that each value has one encoding. */
        if ((padding == 1 && (bits & 0xFF) != 0) || (padding == 2 && (bits & 0xFFFF) != 0)) return -1;
        for (size_t k = 0; k < count; k++)
            bytes[written++] = (uint8_t)(bits >> (16 - 8 * k));
        bits = 0;
    }
    return characters % 4 == 0 ? (ptrdiff_t)written : -1;
}
