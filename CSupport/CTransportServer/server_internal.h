/* Shared by the files of CTransportServer. */
#ifndef APNS_BATCH_SERVER_INTERNAL_H
#define APNS_BATCH_SERVER_INTERNAL_H

#include "h2_server.h"
#include "tls_server.h"
#include "transport_fault.h"
#include "transport_internal.h"

/* What a server connection has besides, and what it does wrong on purpose. */
typedef struct server_connection {
    uint64_t ordinal; /* the place of this connection among those accepted, from 1 */
    uint32_t streams_max;
    uint32_t stream_window;
    uint64_t sent; /* bytes of the TCP stream */
    uint64_t received;
    transport_cut cut;
    uint8_t stalled; /* enum transport_stall */
    uint8_t ending;  /* enum transport_abort: how it ends, once it does */
    uint8_t *held;   /* received while reading is stalled */
    size_t held_length;
    size_t held_capacity;
} server_connection;

/* A transport's. */
typedef struct server_state {
    uint64_t accepted; /* connections so far */
    uint32_t cuts_first;
    uint32_t cuts_count;
    transport_cut cuts[TRANSPORT_CUTS_MAX]; /* a ring */
} server_state;

extern const tls_role tls_server_role;
extern const connection_side server_side;

static inline server_connection *server_of(const connection *c) {
    return c->own;
}

/* transport_server.c: the server's part of a transport; NULL when memory is short. */
server_state *server_state_get(transport *t);

/* transport_fault.c: gives a new connection its cut. */
void fault_accepted(connection *c);

/* transport_fault.c: for server_side. */
void fault_received(connection *c, const uint8_t *bytes, size_t length);
size_t fault_sendable(connection *c, size_t length);
void fault_sent(connection *c, size_t length);
bool fault_hangs_up(const connection *c);
void fault_farewell(connection *c);
void fault_close(connection *c);

#endif
