/*
 * transport_fault: deliberate faults of servers, for tests of clients. The caller decides which faults happen and when.
 * Pointers, threads and errors are as in apns_transport.h. Functions that take a connection return APNS_MISUSE if it is
 * not a server connection that is up; apns_transport_fault_abort and apns_transport_fault_stall also take one that is
 * not up yet.
 */
#pragma once

#include "apns_h2_server.h"
#include "apns_transport_server.h"

enum apns_transport_abort {
    APNS_TRANSPORT_ABORT_NONE = 0,
    APNS_TRANSPORT_ABORT_RESET = 1,  /* TCP RST at once */
    APNS_TRANSPORT_ABORT_CLOSE = 2,  /* FIN after the data being sent, without close_notify */
    APNS_TRANSPORT_ABORT_ALERT = 3,  /* fatal TLS alert after the data being sent, then FIN */
    APNS_TRANSPORT_ABORT_NOTIFY = 4, /* close_notify without GOAWAY */
};

/* Ends a connection in the given way (enum apns_transport_abort). Its APNS_TRANSPORT_EVENT_DOWN has the code
 * APNS_TRANSPORT_LOCAL_FAULT. */
int apns_transport_fault_abort(apns_transport *t, apns_transport_connection connection, uint32_t how);

/* Ends a connection after it has sent or received a number of bytes of the TCP stream; for RESET and CLOSE exactly that
 * number. */
typedef struct apns_transport_cut {
    uint64_t bytes;
    uint8_t received; /* 1 to count received bytes, 0 to count sent bytes */
    uint8_t how;      /* enum apns_transport_abort; NONE for no cut */
    uint16_t reserved;
    uint32_t reserved2;
} apns_transport_cut;
_Static_assert(sizeof(apns_transport_cut) == 16, "fixed layout");

enum { APNS_TRANSPORT_CUTS_MAX = 1024 };

/* Queues cuts, one for each of the next accepted connections. cuts: copied. Returns 0, or APNS_RESOURCE if more than
 * APNS_TRANSPORT_CUTS_MAX would be queued or there is no memory; then none is queued. */
int apns_transport_fault_cuts_add(apns_transport *t, const apns_transport_cut *cuts, uint32_t count);

/* Returns the number of queued cuts. */
uint32_t apns_transport_fault_cuts_left(const apns_transport *t);

enum apns_transport_stall { APNS_TRANSPORT_STALL_READING = 1, APNS_TRANSPORT_STALL_WRITING = 2 };

/* Stops reading, writing or both (what: a sum of enum apns_transport_stall); 0 resumes. Up to 16 MiB received meanwhile
 * are kept; with more, the connection is reset. */
int apns_transport_fault_stall(apns_transport *t, apns_transport_connection connection, uint32_t what);

/* Sets whether PINGs are left unanswered. */
int apns_transport_fault_pings_mute(apns_transport *t, apns_transport_connection connection, bool muted);

/* Sets whether requests are returned as soon as their header fields are complete, with the part of the body received by
 * then. */
int apns_transport_fault_early(apns_transport *t, apns_transport_connection connection, bool early);

/* Announces at most 8 settings, which the session applies when the client has acknowledged them. settings: borrowed
 * until return. */
int apns_transport_fault_settings(apns_transport *t, apns_transport_connection connection,
                                  const apns_h2_setting *settings, uint32_t count);

/* Sends GOAWAY with an arbitrary last-stream-id; streams above it are ignored. debug: borrowed until return. */
int apns_transport_fault_goaway(apns_transport *t, apns_transport_connection connection, uint32_t last_stream,
                                uint32_t code, const uint8_t *debug, uint32_t debug_length);

/* Sends arbitrary bytes in place of HTTP/2 frames, in one piece, after the queued frames. stream: 0, or the stream of a
 * returned request that they answer. bytes: copied. If more than 64 MiB would be queued, the connection is reset and
 * APNS_RESOURCE is returned. */
int apns_transport_fault_bytes(apns_transport *t, apns_transport_connection connection, uint32_t stream,
                               const uint8_t *bytes, uint32_t length);

/* Closes the listener on a port, so that connects are refused until apns_transport_listen is called again. Returns
 * APNS_MISUSE if there is no such listener. */
int apns_transport_fault_deafen(apns_transport *t, uint16_t port);
