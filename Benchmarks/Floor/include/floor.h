/*
 * floor: what nghttp2 alone costs a client that sends the requests of a campaign, as a measure for the sender.
 *
 * A client session and a server session talk in one thread, memory to memory: no TLS, no socket, no rows. The requests
 * have the sender's header fields, treated by HPACK as the sender does, a path and an id of their own each, and one
 * payload; the sessions have its settings. The answers are those of our simulator: 200 and the request's id.
 *
 * Only the client's calls are timed, in processor time of the thread. The allocator is malloc, nghttp2's own choice;
 * the sender's sessions take their memory from slabs, and have an encoder of their own for the fields that requests
 * share.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLOOR_FIELDS_MAX = 16 };

typedef struct floor_field {
    const uint8_t *name;
    const uint8_t *value;
    size_t name_length;
    size_t value_length;
    bool indexed; /* enters HPACK's table; otherwise it is never indexed */
} floor_field;

/* What all requests share. Everything is borrowed until return. */
typedef struct floor_request {
    const floor_field *fields; /* pseudo-header fields first; without :path and apns-id */
    size_t field_count;        /* at most FLOOR_FIELDS_MAX */
    const uint8_t *body;
    size_t body_length;
} floor_request;

/* What became of as many requests as there are streams. */
typedef struct floor_batch {
    uint64_t submit_ns;  /* requests given to the library */
    uint64_t send_ns;    /* serialized, and copied one behind the other */
    uint64_t receive_ns; /* answers read */
    uint32_t answered;   /* with 200, and the request's own id */
    uint32_t delivered;  /* whole bodies at the server */
} floor_batch;

/* Sends batch_count batches of streams requests, one batch after the other over one connection. False when memory is
 * short, or when a session finds fault with the other: batches then hold nothing. */
bool floor_run(const floor_request *request, uint32_t streams, floor_batch *batches, size_t batch_count);
