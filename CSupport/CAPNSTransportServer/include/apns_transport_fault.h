/*
 * transport_fault: servers that misbehave on purpose, for tests of clients. What happens and when is the caller's
 * decision; here is only how. Everything of apns_transport.h about pointers, threads and errors holds.
 */
#ifndef APNS_BATCH_TRANSPORT_FAULT_H
#define APNS_BATCH_TRANSPORT_FAULT_H

#include "apns_h2_server.h"
#include "apns_transport_server.h"

enum apns_transport_abort {
    APNS_TRANSPORT_ABORT_NONE = 0,
    APNS_TRANSPORT_ABORT_RESET = 1,  /* TCP RST, at once */
    APNS_TRANSPORT_ABORT_CLOSE = 2,  /* FIN after what is on its way, without close_notify */
    APNS_TRANSPORT_ABORT_ALERT = 3,  /* after what is on its way a fatal TLS alert, then FIN */
    APNS_TRANSPORT_ABORT_NOTIFY = 4, /* close_notify without a GOAWAY */
};

/* Ends a connection. APNS_TRANSPORT_EVENT_DOWN says APNS_TRANSPORT_LOCAL_FAULT. */
int apns_transport_fault_abort(apns_transport *t, apns_transport_connection connection, uint32_t how);

/* Ends a connection when it has sent, or received, so many bytes of the TCP stream: to the byte for RESET and CLOSE. */
typedef struct apns_transport_cut {
    uint64_t bytes;
    uint8_t received; /* 1: bytes received; 0: bytes sent */
    uint8_t how;      /* enum apns_transport_abort; NONE leaves the connection alone */
    uint16_t reserved;
    uint32_t reserved2;
} apns_transport_cut;
_Static_assert(sizeof(apns_transport_cut) == 16, "fixed layout");

enum { APNS_TRANSPORT_CUTS_MAX = 1024 };

/* Lays out what the next connections accepted are to suffer, one cut for each, behind those laid out before. cuts:
 * copied. APNS_RESOURCE when more than APNS_TRANSPORT_CUTS_MAX would wait; then none was taken. */
int apns_transport_fault_cuts_add(apns_transport *t, const apns_transport_cut *cuts, uint32_t count);

/* Cuts laid out and not yet used. */
uint32_t apns_transport_fault_cuts_left(const apns_transport *t);

enum apns_transport_stall { APNS_TRANSPORT_STALL_READING = 1, APNS_TRANSPORT_STALL_WRITING = 2 };

/* Stops reading, writing or both, until it is called with 0. What the peer sends meanwhile is kept, up to 16 MiB. */
int apns_transport_fault_stall(apns_transport *t, apns_transport_connection connection, uint32_t what);

/* PINGs are passed over. */
int apns_transport_fault_pings_mute(apns_transport *t, apns_transport_connection connection, bool muted);

/* Requests are handed out as soon as their fields have come, whatever has come of the body by then. */
int apns_transport_fault_early(apns_transport *t, apns_transport_connection connection, bool early);

/* Announces at most 8 settings, which hold here too once the client has acknowledged them. settings: borrowed until
 * return. */
int apns_transport_fault_settings(apns_transport *t, apns_transport_connection connection,
                                  const apns_h2_setting *settings, uint32_t count);

/* Sends GOAWAY with any last-stream-id; streams above it are passed over. debug: borrowed until return. */
int apns_transport_fault_goaway(apns_transport *t, apns_transport_connection connection, uint32_t last_stream,
                                uint32_t code, const uint8_t *debug, uint32_t debug_length);

/* Sends bytes as HTTP/2 frames, whatever they are, in one piece and behind the frames queued. stream: 0, or the request
 * that they answer, which is forgotten then. bytes: copied. A connection on which more than 64 MiB of them would wait
 * is reset. */
int apns_transport_fault_bytes(apns_transport *t, apns_transport_connection connection, uint32_t stream,
                               const uint8_t *bytes, uint32_t length);

/* Stops listening on a port: who connects is refused. Listening again is apns_transport_listen's. */
int apns_transport_fault_deafen(apns_transport *t, uint16_t port);

#endif
