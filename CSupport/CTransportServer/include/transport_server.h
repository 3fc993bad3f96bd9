/*
 * transport_server: connections accepted and requests answered. Everything of transport.h about pointers, threads and
 * errors holds.
 */
#ifndef APNS_BATCH_TRANSPORT_SERVER_H
#define APNS_BATCH_TRANSPORT_SERVER_H

#include "transport.h"

/* As transport_tls_create, for listeners. */
int transport_server_tls_create(transport *t, const transport_tls_options *options, transport_error *error);

typedef struct transport_listen_options {
    const struct sockaddr *address; /* borrowed until return */
    uint64_t context;
    uint32_t address_length;
    int32_t tls;            /* number from transport_server_tls_create */
    uint32_t streams_max;   /* MAX_CONCURRENT_STREAMS of new connections; see transport_connection_streams_set */
    uint32_t stream_window; /* bytes of one body that a client may send ahead; 0 for the usual */
} transport_listen_options;
_Static_assert(sizeof(transport_listen_options) == 32, "fixed layout");

/* Listens; *port is the bound port in host order. */
int transport_listen(transport *t, const transport_listen_options *options, uint16_t *port, transport_error *error);

/* Announces a new MAX_CONCURRENT_STREAMS to a client. */
int transport_connection_streams_set(transport *t, transport_connection connection, uint32_t streams_max);

/* Sends GOAWAY with the last stream received as last-stream-id, keeps answering streams up to it. debug: borrowed until
 * return. */
int transport_connection_goaway(transport *t, transport_connection connection, uint32_t code, const uint8_t *debug,
                                uint32_t debug_length);

typedef struct transport_response {
    uint64_t connection;
    const transport_field *fields; /* without :status; copied */
    const uint8_t *body;           /* copied */
    uint32_t stream;
    uint32_t body_length;
    uint16_t field_count; /* at most 8 */
    uint16_t status;
    uint32_t reset; /* 1: no response, RST_STREAM with reset_code */
    uint32_t reset_code;
    uint32_t reserved;
} transport_response;
_Static_assert(sizeof(transport_response) == 48, "fixed layout");

/* Answers requests. One whose connection or stream is gone is dropped. */
int transport_respond(transport *t, const transport_response *responses, uint32_t count);

#endif
