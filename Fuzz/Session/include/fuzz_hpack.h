/*
 * fuzz_hpack: what our decoder of header blocks, and the client that puts blocks of its own in their place, make of
 * what a peer sends, beside what nghttp2 makes of it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Decodes header blocks one after another, each a byte that says how long it is and so many bytes, by our decoder and
 * by that of nghttp2. Traps where their fields differ, or where only one of them refuses a block. */
void fuzz_hpack(const uint8_t *bytes, size_t length);

/* Gives what a server sends to a client of ours and to one of nghttp2, each with the same open requests. The first byte
 * is the size of the pieces. Traps where the status or the end of a request differs, or the end of the connection. */
void fuzz_answers(const uint8_t *bytes, size_t length);

/* Makes header blocks of fields that fit exactly into what is left of the table, into all of it, or miss it by a byte,
 * between size updates, and decodes them by our decoder and by that of nghttp2; and encodes requests by our encoder,
 * while the peer changes the size of its table, and decodes them by nghttp2. Traps where the fields differ. */
void fuzz_tables(const uint8_t *bytes, size_t length);
