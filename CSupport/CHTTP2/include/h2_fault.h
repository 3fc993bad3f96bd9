/*
 * h2_fault: server sessions that misbehave on purpose, for tests of clients. Everything of h2.h about pointers, threads
 * and errors holds.
 */
#ifndef APNS_BATCH_H2_FAULT_H
#define APNS_BATCH_H2_FAULT_H

#include "h2.h"

/* The longest piece of h2_fault_bytes. */
enum { H2_FAULT_BYTES_MAX = 16384 };

typedef struct h2_setting {
    uint16_t id; /* RFC 9113, section 6.5.2 */
    uint16_t reserved;
    uint32_t value;
} h2_setting;
_Static_assert(sizeof(h2_setting) == 8, "fixed layout");

enum { H2_FAULT_SETTINGS_MAX = 8 };

/* Sends GOAWAY with any last-stream-id. The session forgets streams above it and passes over later ones. debug:
 * borrowed until return. */
int h2_fault_goaway(h2_session *session, int32_t last_stream, uint32_t code, const uint8_t *debug, size_t length);

/* Announces settings, which hold here too once the peer has acknowledged them. settings: borrowed until return. */
int h2_fault_settings(h2_session *session, const h2_setting *settings, uint32_t count);

/* Sends bytes as they are, behind the frames written so far and never within one. bytes: copied; at most
 * H2_FAULT_BYTES_MAX. */
int h2_fault_bytes(h2_session *session, const uint8_t *bytes, size_t length);

/* Closes a stream here without telling the peer: what has to be said was said with h2_fault_bytes. */
int h2_fault_forget(h2_session *session, h2_exchange *exchange);

/* Passes over PINGs, or answers them again. */
void h2_fault_pings_mute(h2_session *session, bool muted);

/* Shows H2_FIELDS as soon as the fields of a request have come; it may be answered then. */
void h2_fault_early_set(h2_session *session, bool early);

#endif
