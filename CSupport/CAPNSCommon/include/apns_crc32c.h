/*
 * CRC-32C (Castagnoli; RFC 3720 appendix B.4), computed by the processor where it can.
 *
 * Threads: every function may be called from any thread.
 */
#ifndef APNS_BATCH_CRC32C_H
#define APNS_BATCH_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of `length` bytes. `before` is the checksum of what stands before them, 0 at the start. `bytes`:
 * borrowed until return. */
uint32_t apns_crc32c(uint32_t before, const void *bytes, size_t length);

/* The checksum of two texts, one behind the other, from the checksums of both and the length of the second. Takes time
 * that grows with the logarithm of that length. */
uint32_t apns_crc32c_combine(uint32_t first, uint32_t second, uint64_t second_length);

#endif
