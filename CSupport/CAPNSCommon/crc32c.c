#include "apns_crc32c.h"

#include <string.h>

/* The polynomial 0x1EDC6F41, reflected. */
#define POLYNOMIAL 0x82F63B78u

static uint32_t plain(uint32_t crc, const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (POLYNOMIAL & (0u - (crc & 1)));
    }
    return crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

static inline uint64_t word_at(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    return word;
}

__attribute__((target("sse4.2"))) static uint32_t by_processor(uint32_t crc, const uint8_t *bytes, size_t length) {
    uint64_t wide = crc;
    /* 16 words per iteration, which makes the cost of the loop negligible. */
    for (; length >= 128; bytes += 128, length -= 128) {
#pragma clang loop unroll(full)
        for (size_t i = 0; i < 128; i += 8)
            wide = _mm_crc32_u64(wide, word_at(bytes + i));
    }
    for (; length >= 8; bytes += 8, length -= 8)
        wide = _mm_crc32_u64(wide, word_at(bytes));
    crc = (uint32_t)wide;
    for (; length > 0; bytes++, length--)
        crc = _mm_crc32_u8(crc, *bytes);
    return crc;
}

static uint32_t update(uint32_t crc, const uint8_t *bytes, size_t length) {
    return __builtin_cpu_supports("sse4.2") ? by_processor(crc, bytes, length) : plain(crc, bytes, length);
}
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>

static uint32_t update(uint32_t crc, const uint8_t *bytes, size_t length) {
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        crc = __crc32cd(crc, word);
    }
    for (; length > 0; bytes++, length--)
        crc = __crc32cb(crc, *bytes);
    return crc;
}
#else
static uint32_t update(uint32_t crc, const uint8_t *bytes, size_t length) {
    return plain(crc, bytes, length);
}
#endif

uint32_t apns_crc32c(uint32_t before, const void *bytes, size_t length) {
    return ~update(~before, bytes, length);
}

/* Returns the product of two polynomials modulo the polynomial of the checksum. All are reflected: the highest bit is
 * the coefficient of 1. */
static uint32_t multiply(uint32_t left, uint32_t right) {
    uint32_t product = 0;
    for (; left != 0; left <<= 1) {
        if (left & 0x80000000u) product ^= right;
        right = (right >> 1) ^ (POLYNOMIAL & (0u - (right & 1)));
    }
    return product;
}

uint32_t apns_crc32c_combine(uint32_t first, uint32_t second, uint64_t second_length) {
    /* power is x^8, which appends one byte, raised to the powers 1, 2, 4, ... by squaring. */
    uint32_t power = 0x80000000u >> 8;
    for (uint64_t rest = second_length; rest != 0; rest >>= 1) {
        if (rest & 1) first = multiply(power, first);
        power = multiply(power, power);
    }
    return first ^ second;
}
