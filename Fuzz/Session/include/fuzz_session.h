/*
 * fuzz_session: sessions of CAPNSHTTP2 whose peer sends whatever the input says.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The first byte chooses: bit 0 the server's side instead of the client's, bits 1 to 3 how many requests are begun for
 * each piece received, bits 4 to 6 the size of the pieces, bit 7 whether the output is paused now and then. The rest is
 * what the peer sends (to a server: after the preface, which is put in front). Traps when a promise is broken. */
void fuzz_session(const uint8_t *bytes, size_t length);

/* Does with a client's session whatever its caller may do, at any moment between the pieces that it receives: begins
 * and abandons requests, sends PING and GOAWAY, pumps, and pauses the output. The first byte chooses: bits 0 to 2 the
 * size of the output, bits 3 to 5 after how many flushes it is paused. The others are steps. Traps when a promise is
 * broken, or when a strict server would refuse what the session writes. */
void fuzz_calls(const uint8_t *bytes, size_t length);
