/*
 * What a file that must not lose anything needs, and Swift's C library module lacks: disk space ahead of writing, and a
 * checksum that the processor computes.
 *
 * Threads: every function may be called from any thread.
 */
#ifndef STORAGE_H
#define STORAGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Has the file system keep space for bytes `from` to `to` of an open file, whose size stays as it is.
 *
 * Returns 0, or a negative errno; -EOPNOTSUPP where the file system cannot.
 */
int apns_storage_reserve(int descriptor, uint64_t from, uint64_t to);

/*
 * CRC-32C (Castagnoli; RFC 3720 appendix B.4) of `length` bytes. `before` is the sum of what stands before them, 0 at
 * the start. `bytes`: borrowed until return.
 */
uint32_t apns_storage_crc32c(uint32_t before, const void *bytes, size_t length);

/*
 * CRC-32C of two texts, one behind the other, from the sums of both and the length of the second. The time it takes
 * grows with the logarithm of that length.
 */
uint32_t apns_storage_crc32c_combine(uint32_t first, uint32_t second, uint64_t second_length);

#endif
