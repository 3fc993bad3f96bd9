/*
 * transport_server: connections accepted and requests answered. Everything of apns_transport.h about pointers, threads
 * and errors holds.
 */
#ifndef APNS_BATCH_TRANSPORT_SERVER_H
#define APNS_BATCH_TRANSPORT_SERVER_H

#include "apns_transport.h"

/* As apns_transport_tls_create, for listeners. */
int apns_transport_server_tls_create(apns_transport *t, const apns_transport_tls_options *options, apns_error *error);

typedef struct apns_transport_listen_options {
    const struct sockaddr *address; /* borrowed until return */
    uint64_t context;
    uint32_t address_length;
    int32_t tls;            /* number from apns_transport_server_tls_create */
    uint32_t streams_max;   /* MAX_CONCURRENT_STREAMS of new connections; see apns_transport_connection_streams_set */
    uint32_t stream_window; /* bytes of one body that a client may send ahead; 0 for the usual */
} apns_transport_listen_options;
_Static_assert(sizeof(apns_transport_listen_options) == 32, "fixed layout");

/* Listens; *port is the bound port in host order. */
int apns_transport_listen(apns_transport *t, const apns_transport_listen_options *options, uint16_t *port,
                          apns_error *error);

/* Announces a new MAX_CONCURRENT_STREAMS to a client. */
int apns_transport_connection_streams_set(apns_transport *t, apns_transport_connection connection,
                                          uint32_t streams_max);

/* Sends GOAWAY with the last stream received as last-stream-id, keeps answering streams up to it. debug: borrowed until
 * return. */
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
    uint32_t reset; /* 1: no response, RST_STREAM with reset_code */
    uint32_t reset_code;
    uint32_t reserved;
} apns_transport_response;
_Static_assert(sizeof(apns_transport_response) == 48, "fixed layout");

/* Answers requests. One whose connection or stream is gone is dropped. */
int apns_transport_respond(apns_transport *t, const apns_transport_response *responses, uint32_t count);

#endif
