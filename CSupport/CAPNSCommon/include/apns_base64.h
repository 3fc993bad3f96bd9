/*
 * Base64 (RFC 4648, section 4): the standard alphabet, with padding.
 *
 * Threads. Every function may be called from any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the number of characters that encode byte_count bytes. */
size_t apns_base64_length(size_t byte_count);

/* Encodes bytes. text: room for apns_base64_length(length) characters, not NUL-terminated. bytes: borrowed until
 * return; may be at the very end of the memory of text. */
void apns_base64_encode(const uint8_t *bytes, size_t length, uint8_t *text);

/* Decodes a text strictly: of all texts for the same bytes only the canonical one is accepted. If blanks is true,
 * spaces, tabs and line ends between the characters are skipped. text: borrowed until return. Returns the number of
 * bytes, or -1 if the text is not base64 or decodes to more than capacity bytes. */
ptrdiff_t apns_base64_decode(const uint8_t *text, size_t length, bool blanks, uint8_t *bytes, size_t capacity);
