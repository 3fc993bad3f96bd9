/*
 * CRC-32C (Castagnoli; RFC 3720, appendix B.4), computed by processor instructions if available.
 *
 * Threads. Every function may be called from any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of length bytes. before: checksum of the bytes that precede them, 0 at the start. bytes:
 * borrowed until return. */
uint32_t apns_crc32c(uint32_t before, const void *bytes, size_t length);

/* Returns the checksum of two concatenated byte strings, given the checksums of both and the length of the second.
 * Takes time proportional to the logarithm of second_length. */
uint32_t apns_crc32c_combine(uint32_t first, uint32_t second, uint64_t second_length);
