/*
 * fuzz_session: a session of CAPNSHTTP2 whose peer sends whatever the input says.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The first byte chooses: bit 0 the server's side instead of the client's, bits 1 to 3 how many requests are begun for
 * each piece received, bits 4 to 6 the size of the pieces, bit 7 whether the output is paused now and then. The rest is
 * what the peer sends (to a server: after the preface, which is put in front). Traps when a promise is broken. */
void fuzz_session(const uint8_t *bytes, size_t length);
