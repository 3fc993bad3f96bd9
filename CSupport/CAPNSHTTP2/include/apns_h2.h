/*
 * h2: HTTP/2 sessions over memory, of clients; apns_h2_server.h has the server's side. Plaintext in, plaintext out;
 * never a descriptor.
 *
 * Model. A session is fed received bytes and pumped for bytes to send. Its callbacks only record facts: about a stream
 * in its exchange (a fixed record of the caller's slab), about the session in struct apns_h2_facts. The caller looks at
 * both after the call has returned, and decides there.
 *
 * Sending. Frames go one after another into struct apns_h2_output, which is one TLS record wide; flush is called each
 * time it is full. The pump stops at the next frame after the output says paused.
 *
 * Pointers. "Borrowed until return" and "borrowed until closed" (until the exchange shows APNS_H2_CLOSED or was
 * abandoned).
 *
 * Threads. A memory, its pools and their sessions belong to one thread.
 *
 * Limits. A session keeps no more streams than announced or allowed by the peer, header lists up to
 * APNS_H2_HEADER_LIST_BYTES_MAX, bodies up to what the options say. A peer that goes past a limit ends the session.
 *
 * Errors. 0, or a negative value after which the session is of no more use and apns_h2_session_failure says why.
 */
#ifndef APNS_BATCH_H2_H
#define APNS_BATCH_H2_H

#include "apns_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct apns_h2_memory apns_h2_memory;
typedef struct apns_h2_pool apns_h2_pool;
typedef struct apns_h2_session apns_h2_session;
typedef struct apns_h2_header_set apns_h2_header_set;

/* Bytes of names and values (32 more counted per field: RFC 9113, section 6.5.2) of a header list that are taken. */
enum { APNS_H2_HEADER_LIST_BYTES_MAX = 32768 };

/* Fields of a request received that are taken. */
enum { APNS_H2_FIELDS_RECEIVED_MAX = 128 };

/* Bytes of a captured value; a longer one is passed over. */
enum { APNS_H2_CAPTURE_BYTES_MAX = 1024 };

/* Error codes (RFC 9113, section 7) that are used by name. */
enum { APNS_H2_NO_ERROR = 0, APNS_H2_INTERNAL_ERROR = 2, APNS_H2_REFUSED_STREAM = 7, APNS_H2_CANCEL = 8 };

enum {
    APNS_H2_SET_FIELDS_MAX = 32,
    APNS_H2_SESSION_FIELDS_MAX = 4,
    APNS_H2_REQUEST_FIELDS_MAX = 8,
    APNS_H2_CAPTURES_MAX = 8
};

/* ---------------------------------------------------------------- memory */

/* An allocator with free lists by size. bytes_max: where it begins to refuse. NULL when memory is short. */
apns_h2_memory *apns_h2_memory_create(size_t bytes_max);

/* Frees everything taken from it (NULL allowed). */
void apns_h2_memory_destroy(apns_h2_memory *memory);

/* NULL at the limit. */
void *apns_h2_memory_take(apns_h2_memory *memory, size_t bytes);
void apns_h2_memory_give(apns_h2_memory *memory, void *block);

/* Makes a block larger, keeping its bytes; NULL at the limit, then block is unchanged. */
void *apns_h2_memory_grow(apns_h2_memory *memory, void *block, size_t bytes);

/* ---------------------------------------------------------------- fields and messages */

enum apns_h2_indexing {
    APNS_H2_INDEXED = 0,   /* RFC 7541, section 6.2.1 */
    APNS_H2_LITERAL = 1,   /* section 6.2.3 */
    APNS_H2_NAME_ONCE = 2, /* indexed the first time in a session, literal afterwards */
};

typedef struct apns_h2_field {
    const uint8_t *name;
    const uint8_t *value;
    uint32_t name_length;
    uint32_t value_length;
    uint32_t indexing; /* enum apns_h2_indexing */
    uint32_t reserved;
} apns_h2_field;
_Static_assert(sizeof(apns_h2_field) == 32, "fixed layout");

/* What was received of a message: fields and the kept part of the body. */
typedef struct apns_h2_message {
    struct apns_h2_message *next; /* for the owner's lists */
    apns_h2_field *fields;
    uint8_t *body;
    void **references; /* two for each field: what keeps its name and value alive */
    uint32_t field_count;
    uint32_t field_capacity;
    uint32_t body_length;
    uint32_t body_capacity;
} apns_h2_message;
_Static_assert(sizeof(apns_h2_message) == 48, "fixed layout");

/* ---------------------------------------------------------------- exchanges */

enum apns_h2_exchange_fact {
    APNS_H2_COMPLETE = 1, /* END_STREAM received: the message is complete */
    APNS_H2_CLOSED = 2,   /* the stream is closed; error_code says how. The session has forgotten the exchange */
    APNS_H2_LISTED = 4,   /* waits in the session's list of changed exchanges */
    APNS_H2_FIELDS = 8,   /* server: see apns_h2_fault_early_set */
};

/* One request and its response. */
typedef struct apns_h2_exchange {
    struct apns_h2_exchange *next; /* free list, list of changed ones */
    apns_h2_message *message;      /* received: NULL while there is nothing to keep, and once it was handed on */
    const uint8_t *body;           /* to be sent: borrowed until closed */
    uint32_t body_length;
    uint32_t body_sent;
    uint32_t body_received; /* bytes of body received in all */
    int32_t stream;
    uint32_t error_code; /* with APNS_H2_CLOSED: error code of RST_STREAM, or 0 */
    uint16_t status;     /* client: :status, 0 before */
    uint8_t facts;       /* enum apns_h2_exchange_fact */
    uint8_t reserved;
} apns_h2_exchange;
_Static_assert(sizeof(apns_h2_exchange) == 48, "fixed layout");

/* A slab of count exchanges, each followed by extra bytes of the caller's. NULL when memory is short. */
apns_h2_pool *apns_h2_pool_create(apns_h2_memory *memory, uint32_t count, size_t extra);

/* Frees the slab (NULL allowed); sessions that use it must be gone. */
void apns_h2_pool_destroy(apns_h2_pool *pool);

uint32_t apns_h2_pool_free_count(const apns_h2_pool *pool);

/* A cleared exchange (the extra bytes are as they were left), or NULL when all are taken. */
apns_h2_exchange *apns_h2_pool_take(apns_h2_pool *pool);

/* Gives an exchange back, with its message if it still has one. */
void apns_h2_pool_give(apns_h2_pool *pool, apns_h2_exchange *exchange);

/* Gives a message back that was taken off its exchange (NULL allowed). */
void apns_h2_pool_message_give(apns_h2_pool *pool, apns_h2_message *message);

/* ---------------------------------------------------------------- sessions */

/* Where a session's bytes go. */
typedef struct apns_h2_output {
    uint8_t *bytes;
    uint32_t length;
    uint32_t capacity;
    bool paused;                 /* stop before the next frame */
    int (*flush)(void *context); /* takes bytes, sets length to 0, may set paused; not 0 ends the session */
    void *context;
} apns_h2_output;

typedef struct apns_h2_session_options {
    apns_h2_memory *memory;
    apns_h2_pool *pool;
    apns_h2_output *output; /* borrowed until apns_h2_session_destroy */
    const apns_h2_field
        *captures; /* client: names of response fields to keep; borrowed until apns_h2_session_destroy */
    uint32_t capture_count;
    uint32_t body_received_max; /* bytes of a body kept */
} apns_h2_session_options;

enum { APNS_H2_GOAWAYS_KEPT = 4, APNS_H2_DEBUG_BYTES_MAX = 256 };

typedef struct apns_h2_goaway {
    int32_t last_stream;
    uint32_t code;
    uint32_t debug_length;
    uint8_t debug[APNS_H2_DEBUG_BYTES_MAX]; /* its beginning */
} apns_h2_goaway;

/* What happened to a session; the caller clears what it has seen. */
typedef struct apns_h2_facts {
    uint32_t settings_count; /* SETTINGS frames received, saturating */
    uint32_t goaway_count;   /* kept below; further ones replace the last */
    uint32_t pong_count;
    uint64_t pong_opaque; /* of the last answer to a PING of ours */
    apns_h2_goaway goaways[APNS_H2_GOAWAYS_KEPT];
} apns_h2_facts;

/* The scope of a session's failure. */
enum apns_h2_failure_kind {
    APNS_H2_FAILURE_NONE = 0,
    APNS_H2_FAILURE_PROTOCOL = 1, /* the peer's bytes made no sense; code: error of the library */
    APNS_H2_FAILURE_LIMIT = 2,    /* the peer went past a limit */
    APNS_H2_FAILURE_MEMORY = 3,   /* local */
    APNS_H2_FAILURE_OUTPUT = 4,   /* flush failed */
};

/* Makes a client's session; its SETTINGS wait to be pumped. NULL when memory is short. */
apns_h2_session *apns_h2_session_create(const apns_h2_session_options *options);

/* Frees a session (NULL allowed). Its exchanges stay as they are: the caller knows them. */
void apns_h2_session_destroy(apns_h2_session *session);

/* Takes received bytes, all of them. */
int apns_h2_session_receive(apns_h2_session *session, const uint8_t *bytes, size_t length);

/* Writes to the output what can be sent now, until there is no more or the output is paused. */
int apns_h2_session_pump(apns_h2_session *session);

/* True when a pump could have something to write. */
bool apns_h2_session_pending(const apns_h2_session *session);

/* True when requests wait here, not in the library, for room in the output. */
bool apns_h2_session_waits(const apns_h2_session *session);

/* Takes the list of exchanges with new facts, linked by next, in order. On a server a new request is listed once as it
 * begins, so that the caller knows every exchange. */
apns_h2_exchange *apns_h2_session_changed_take(apns_h2_session *session);

apns_h2_facts *apns_h2_session_facts(apns_h2_session *session);

const apns_error *apns_h2_session_failure(const apns_h2_session *session);

/* The peer's MAX_CONCURRENT_STREAMS. */
uint32_t apns_h2_session_peer_streams_max(const apns_h2_session *session);

/* Streams begun here or by the peer and not yet closed. */
uint32_t apns_h2_session_open_count(const apns_h2_session *session);

/* The highest stream whose HEADERS were written to the output. */
int32_t apns_h2_session_written_stream(const apns_h2_session *session);

/* Sends a PING with opaque bytes that come back in apns_h2_facts. */
int apns_h2_session_ping(apns_h2_session *session, uint64_t opaque);

/* Sends GOAWAY with the last stream received. debug: borrowed until return. */
int apns_h2_session_goaway(apns_h2_session *session, uint32_t code, const uint8_t *debug, size_t debug_length);

/* ---------------------------------------------------------------- client */

/* Prepares the fields that requests of one kind share, pseudo-header fields first, without :path. Copied. NULL when
 * memory is short or count exceeds APNS_H2_SET_FIELDS_MAX. */
apns_h2_header_set *apns_h2_header_set_create(const apns_h2_field *fields, uint32_t count);

/* The set lives on for requests that wait (NULL allowed). */
void apns_h2_header_set_destroy(apns_h2_header_set *set);

typedef struct apns_h2_request {
    apns_h2_header_set *set;     /* borrowed until return; held while the request waits */
    apns_h2_header_set *shared;  /* fields appended to every request of the connection, or NULL; likewise */
    const uint8_t *path;         /* borrowed until closed */
    const apns_h2_field *fields; /* the array: borrowed until return; names and values: borrowed until closed */
    uint32_t path_length;
    uint32_t field_count; /* at most APNS_H2_REQUEST_FIELDS_MAX */
} apns_h2_request;

/* Begins a request and writes what the output has room for. exchange: body set, otherwise fresh from the pool; borrowed
 * until closed or abandoned. Returns 1 when the session has no stream left to give (nothing happened then). */
int apns_h2_client_submit(apns_h2_session *session, apns_h2_exchange *exchange, const apns_h2_request *request);

/* Resets the exchange's stream with an error code and forgets the exchange. */
int apns_h2_client_abandon(apns_h2_session *session, apns_h2_exchange *exchange, uint32_t code);

#endif
