/* Shared by the files of CAPNSTransportServer. */
#pragma once

#include "apns_h2_server.h"
#include "apns_tls_server.h"
#include "apns_transport_fault.h"
#include "transport_internal.h"

/* State of a server connection, including its faults. */
typedef struct server_connection {
    uint64_t ordinal; /* ordinal number among the accepted connections, from 1 */
    uint32_t streams_max;
    uint32_t stream_window;
    uint64_t sent; /* bytes of the TCP stream */
    uint64_t received;
    apns_transport_cut cut;
    uint8_t stalled; /* enum apns_transport_stall */
    uint8_t ending;  /* enum apns_transport_abort with which the connection ends */
    uint8_t *held;   /* bytes received while reading is stalled */
    size_t held_length;
    size_t held_capacity;
} server_connection;

/* State of a transport that listens. */
typedef struct server_state {
    uint64_t accepted; /* number of connections accepted so far */
    uint32_t cuts_first;
    uint32_t cuts_count;
    apns_transport_cut cuts[APNS_TRANSPORT_CUTS_MAX]; /* ring buffer */
} server_state;

extern const apns_tls_role apns_tls_server_role;
extern const connection_side apns_server_side;

static inline server_connection *server_of(const connection *c) {
    return c->own;
}

/* transport_server.c: returns a server connection that is up, or NULL. */
connection *apns_server_find(const apns_transport *t, uint64_t id);

/* transport_server.c: returns the server state of a transport, created if necessary; NULL if there is no memory. */
server_state *apns_server_state_get(apns_transport *t);

/* transport_fault.c: assigns the next queued cut to a new connection. */
void apns_fault_accepted(connection *c);

/* transport_fault.c: functions of apns_server_side. */
void apns_fault_received(connection *c, const uint8_t *bytes, size_t length);
size_t apns_fault_sendable(connection *c, size_t length);
void apns_fault_sent(connection *c, size_t length);
bool apns_fault_hangs_up(const connection *c);
void apns_fault_farewell(connection *c);
void apns_fault_close(connection *c);
