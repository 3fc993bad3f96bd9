/*
 * transport_server: accepts connections and answers requests. Pointers, threads and errors are as in apns_transport.h.
 */
#pragma once

#include "apns_transport.h"

/* Like apns_transport_tls_create, for listeners. */
int apns_transport_server_tls_create(apns_transport *t, const apns_transport_tls_options *options, apns_error *error);

typedef struct apns_transport_listen_options {
    const struct sockaddr *address; /* borrowed until return */
    uint64_t context;
    uint32_t address_length;
    int32_t tls;            /* number returned by apns_transport_server_tls_create */
    uint32_t streams_max;   /* MAX_CONCURRENT_STREAMS of new connections */
    uint32_t stream_window; /* initial window size of streams, in bytes; 0 for the default */
} apns_transport_listen_options;
_Static_assert(sizeof(apns_transport_listen_options) == 32, "fixed layout");

/* Listens on an address and stores the bound port, in host byte order, in *port. options: borrowed until return.
 * Returns 0, APNS_MISUSE (unknown TLS configuration, no address), or APNS_RESOURCE, for which error (NULL allowed) is
 * filled. */
int apns_transport_listen(apns_transport *t, const apns_transport_listen_options *options, uint16_t *port,
                          apns_error *error);

/* Announces another MAX_CONCURRENT_STREAMS on a connection. Returns 0, or APNS_MISUSE if the connection is not up. */
int apns_transport_connection_streams_set(apns_transport *t, apns_transport_connection connection,
                                          uint32_t streams_max);

/* Sends GOAWAY with the last received stream as last-stream-id, and still answers streams up to it. debug: borrowed
 * until return. Returns 0, or APNS_MISUSE if the connection is not up. */
int apns_transport_connection_goaway(apns_transport *t, apns_transport_connection connection, uint32_t code,
                                     const uint8_t *debug, uint32_t debug_length);

typedef struct apns_transport_response {
    uint64_t connection;
    const apns_transport_field *fields; /* without :status; copied */
    const uint8_t *body;                /* copied */
    uint32_t stream;
    uint32_t body_length;
    uint16_t field_count; /* at most 8 */
    uint16_t status;
    uint32_t reset; /* 1 to send RST_STREAM with reset_code instead of a response */
    uint32_t reset_code;
    uint32_t reserved;
} apns_transport_response;
_Static_assert(sizeof(apns_transport_response) == 48, "fixed layout");

/* Sends responses. Those whose connection or stream is gone are dropped. responses: borrowed until return. Returns 0,
 * or APNS_MISUSE if a response has too many fields; then none is sent. */
int apns_transport_respond(apns_transport *t, const apns_transport_response *responses, uint32_t count);
