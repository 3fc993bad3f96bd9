/*
 * Base64 (RFC 4648 section 4): the standard alphabet, with padding.
 *
 * Threads: every function may be called from any thread.
 */
#ifndef APNS_BATCH_BASE64_H
#define APNS_BATCH_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of characters that `byte_count` bytes become. */
size_t apns_base64_length(size_t byte_count);

/* Writes the text of the bytes. `text`: room for apns_base64_length characters; `bytes` may stand at the very end of
 * that room. */
void apns_base64_encode(const uint8_t *bytes, size_t length, uint8_t *text);

/* Reads a text strictly: each value has one text. With `blanks`, spaces, tabs and line ends between the characters are
 * skipped. Returns the number of bytes, or -1 for a text that is not base64 or has more than `capacity` bytes. */
ptrdiff_t apns_base64_decode(const uint8_t *text, size_t length, bool blanks, uint8_t *bytes, size_t capacity);

#endif
