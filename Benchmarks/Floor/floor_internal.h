/* Shared by the files of CAPNSFloor. */
#pragma once

#include "floor.h"
#include <nghttp2/nghttp2.h>

enum { FLOOR_ID_BYTES = 36 };

/* One side of the connection: a session, and what it has to say. */
typedef struct floor_side {
    nghttp2_session *session;
    uint8_t *bytes;
    size_t length;
    size_t capacity;
} floor_side;

/* A request and what became of it, as the client knows it. */
typedef struct floor_exchange {
    char path[sizeof("/3/device/") + 64]; /* ends with a NUL that is not sent, like id */
    char id[FLOOR_ID_BYTES + 1];
    bool accepted;
    bool id_returned;
} floor_exchange;

typedef struct floor_client {
    floor_side side;
    const floor_request *request;
    nghttp2_nv fields[FLOOR_FIELDS_MAX + 2]; /* :path first, apns-id last */
    floor_exchange *exchanges;
    floor_exchange *current; /* whose answer's fields are being received */
    uint32_t streams;
    uint32_t answered;
    uint64_t made; /* requests so far */
} floor_client;

/* A request as the server knows it. */
typedef struct floor_arrival {
    uint8_t id[FLOOR_ID_BYTES];
    size_t body_received;
    bool damaged;
} floor_arrival;

typedef struct floor_server {
    floor_side side;
    const floor_request *request;
    floor_arrival *arrivals;
    uint32_t streams;
    uint32_t delivered;
    uint64_t answers; /* so far */
} floor_server;

/* floor_side.c: makes a session with the settings of ours, which wait to be sent. streams: to announce; 0 for a client.
 * user: handed to the callbacks. */
bool floor_side_open(floor_side *side, void (*callbacks_set)(nghttp2_session_callbacks *), void *user,
                     uint32_t streams);
void floor_side_close(floor_side *side);

/* Serializes what can be sent now. */
bool floor_side_send(floor_side *side);

/* Takes all that the other side has sent. */
bool floor_side_receive(floor_side *side, floor_side *other);

/* Adds bytes to what is sent. */
bool floor_side_append(floor_side *side, const uint8_t *bytes, size_t length);

/* floor_client.c. Both must be cleared, also after a failed opening. */
bool floor_client_open(floor_client *client, const floor_request *request, uint32_t streams);
void floor_client_clear(floor_client *client);

/* New paths and ids, nothing answered. */
void floor_client_prepare(floor_client *client);

/* Gives all requests of a batch to the library. */
bool floor_client_submit(floor_client *client);

/* floor_server.c */
bool floor_server_open(floor_server *server, const floor_request *request, uint32_t streams);
void floor_server_clear(floor_server *server);
