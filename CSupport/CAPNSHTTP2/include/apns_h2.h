/*
 * h2: client-side HTTP/2 sessions in memory; apns_h2_server.h has the server side. A session reads and writes plaintext
 * and uses no socket.
 *
 * Model. The caller passes received bytes to a session, and pumps it for bytes to send. The callbacks of nghttp2 only
 * record facts: facts about a stream in its exchange (a fixed-size record of a pool), facts about the session in struct
 * apns_h2_facts. The caller inspects both after a call has returned, and acts on them there.
 *
 * Sending. Frames are written one after another into struct apns_h2_output, which holds the plaintext of one TLS
 * record; flush is called whenever it is full. While the output is paused, no further frame is begun.
 *
 * Pointers. "Borrowed until return" and "borrowed until closed" (until the exchange has APNS_H2_CLOSED or was
 * abandoned).
 *
 * Threads. A memory, its pools and their sessions belong to one thread.
 *
 * Limits. A session has no more open streams than it announced or the peer allows, takes header lists of up to
 * APNS_H2_HEADER_LIST_BYTES_MAX, and keeps bodies of up to body_received_max bytes. A session fails if its peer exceeds
 * a limit.
 *
 * Errors. Functions return 0, or a negative value if the session has failed, now or before; apns_h2_session_failure
 * returns the reason. A failed session does nothing more, so that any call is allowed: nothing is submitted or sent,
 * except the last frames of apns_h2_session_farewell.
 */
#pragma once

#include "apns_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct apns_h2_memory apns_h2_memory;
typedef struct apns_h2_pool apns_h2_pool;
typedef struct apns_h2_session apns_h2_session;
typedef struct apns_h2_header_set apns_h2_header_set;

/* Maximum size of a received header list: names and values, plus 32 bytes per field (RFC 9113, section 6.5.2). */
enum { APNS_H2_HEADER_LIST_BYTES_MAX = 32768 };

/* Maximum number of fields of a received request. */
enum { APNS_H2_FIELDS_RECEIVED_MAX = 128 };

/* Maximum length of a captured value; fields with longer values are skipped. */
enum { APNS_H2_CAPTURE_BYTES_MAX = 1024 };

/* Error codes of HTTP/2 (RFC 9113, section 7) that the code refers to. */
enum {
    APNS_H2_NO_ERROR = 0,
    APNS_H2_PROTOCOL_ERROR = 1,
    APNS_H2_INTERNAL_ERROR = 2,
    APNS_H2_FLOW_CONTROL_ERROR = 3,
    APNS_H2_FRAME_SIZE_ERROR = 6,
    APNS_H2_REFUSED_STREAM = 7,
    APNS_H2_CANCEL = 8,
    APNS_H2_ENHANCE_YOUR_CALM = 11,
};

enum {
    APNS_H2_SET_FIELDS_MAX = 32,
    APNS_H2_SESSION_FIELDS_MAX = 4,
    APNS_H2_REQUEST_FIELDS_MAX = 8,
    APNS_H2_CAPTURES_MAX = 8
};

/* ---------------------------------------------------------------- memory */

/* Creates an allocator with free lists by block size, which allocates at most bytes_max bytes. Returns NULL if there is
 * no memory. Owned by the caller: apns_h2_memory_destroy. */
apns_h2_memory *apns_h2_memory_create(size_t bytes_max);

/* Frees the allocator (NULL allowed) and everything allocated from it. */
void apns_h2_memory_destroy(apns_h2_memory *memory);

/* Allocates or releases (NULL allowed) a block. take returns NULL at the limit; the bytes are not initialized. */
void *apns_h2_memory_take(apns_h2_memory *memory, size_t bytes);
void apns_h2_memory_give(apns_h2_memory *memory, void *block);

/* Returns a block of at least the given size that begins with the bytes of block (NULL allowed), which is released if
 * it had to move. Returns NULL at the limit; block is unchanged then. */
void *apns_h2_memory_grow(apns_h2_memory *memory, void *block, size_t bytes);

/* ---------------------------------------------------------------- fields and messages */

enum apns_h2_indexing {
    APNS_H2_INDEXED = 0,   /* literal with incremental indexing (RFC 7541, section 6.2.1) */
    APNS_H2_LITERAL = 1,   /* literal never indexed (section 6.2.3) */
    APNS_H2_NAME_ONCE = 2, /* incremental indexing the first time in a session, afterwards literal without indexing */
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

/* The received part of a message: fields, and the part of the body that is kept. */
typedef struct apns_h2_message {
    struct apns_h2_message *next; /* link for lists of the owner */
    apns_h2_field *fields;
    uint8_t *text; /* the names and values of the fields */
    uint8_t *body;
    uint32_t field_count;
    uint32_t field_capacity;
    uint32_t text_length;
    uint32_t text_capacity;
    uint32_t body_length;
    uint32_t body_capacity;
} apns_h2_message;
_Static_assert(sizeof(apns_h2_message) == 56, "fixed layout");

/* ---------------------------------------------------------------- exchanges */

enum apns_h2_exchange_fact {
    APNS_H2_COMPLETE = 1,   /* END_STREAM was received: the message is complete */
    APNS_H2_CLOSED = 2,     /* the stream is closed with error_code; the session no longer refers to the exchange */
    APNS_H2_LISTED = 4,     /* in the session's list of changed exchanges */
    APNS_H2_FIELDS = 8,     /* server: the header fields are complete; see apns_h2_fault_early_set */
    APNS_H2_HEAD = 16,      /* the header section has been received; on a client that of the final response */
    APNS_H2_MALFORMED = 32, /* the message is malformed (RFC 9113, section 8.1.1), and the stream is reset */
};

/* A request and its response. */
typedef struct apns_h2_exchange {
    struct apns_h2_exchange *next; /* link of the free list and of the list of changed exchanges */
    apns_h2_message *message; /* received message; NULL if there is nothing to keep, or after the caller has taken it */
    const uint8_t *body;      /* body to send: borrowed until closed */
    uint32_t body_length;
    uint32_t body_sent;
    uint32_t body_received; /* number of body bytes received, including those not kept */
    int32_t stream;
    uint32_t error_code; /* with APNS_H2_CLOSED: error code of RST_STREAM, or 0 */
    uint16_t status;     /* client: :status, 0 until it is received */
    uint8_t facts;       /* enum apns_h2_exchange_fact */
    uint8_t reserved;
    int64_t window_added;   /* client: what the peer has added to the flow-control window of the stream */
    int64_t content_length; /* with APNS_H2_HEAD: the received body's length as announced, or -1 */
} apns_h2_exchange;
_Static_assert(sizeof(apns_h2_exchange) == 64, "fixed layout");

/* Creates a pool of count exchanges, each followed by extra bytes for the caller. Returns NULL if there is no memory.
 * Owned by the caller: apns_h2_pool_destroy. */
apns_h2_pool *apns_h2_pool_create(apns_h2_memory *memory, uint32_t count, size_t extra);

/* Frees the pool (NULL allowed). Sessions that use it must have been destroyed. */
void apns_h2_pool_destroy(apns_h2_pool *pool);

/* Returns the number of exchanges that can be taken. */
uint32_t apns_h2_pool_free_count(const apns_h2_pool *pool);

/* Returns a cleared exchange, whose extra bytes are as they were left, or NULL if all are in use. */
apns_h2_exchange *apns_h2_pool_take(apns_h2_pool *pool);

/* Returns an exchange to the pool, and its message if it still has one. */
void apns_h2_pool_give(apns_h2_pool *pool, apns_h2_exchange *exchange);

/* Returns to the pool a message (NULL allowed) that was taken from its exchange. */
void apns_h2_pool_message_give(apns_h2_pool *pool, apns_h2_message *message);

/* ---------------------------------------------------------------- sessions */

/* The buffer into which a session writes. bytes belong to the caller. */
typedef struct apns_h2_output {
    uint8_t *bytes;
    uint32_t length;
    uint32_t capacity;
    bool paused;                 /* no further frame is begun */
    int (*flush)(void *context); /* takes bytes, sets length to 0, may set paused; nonzero: failure */
    void *context;
} apns_h2_output;

typedef struct apns_h2_session_options {
    apns_h2_memory *memory;
    apns_h2_pool *pool;
    apns_h2_output *output;        /* borrowed until apns_h2_session_destroy */
    const apns_h2_field *captures; /* client: names of response fields to keep; borrowed until destroy */
    uint32_t capture_count;
    uint32_t body_received_max; /* maximum number of bytes kept of a body */
} apns_h2_session_options;

enum { APNS_H2_GOAWAYS_KEPT = 4, APNS_H2_DEBUG_BYTES_MAX = 256 };

typedef struct apns_h2_goaway {
    int32_t last_stream;
    uint32_t code;
    uint32_t debug_length;
    uint8_t debug[APNS_H2_DEBUG_BYTES_MAX]; /* the first bytes of the debug data */
} apns_h2_goaway;

/* Events of a session; the caller resets the counts that it has handled. */
typedef struct apns_h2_facts {
    uint32_t settings_count; /* number of SETTINGS frames received, saturating */
    uint32_t goaway_count;   /* number of entries in goaways; further GOAWAYs overwrite the last */
    uint32_t pong_count;
    uint64_t pong_opaque; /* opaque data of the last PING that the peer acknowledged */
    apns_h2_goaway goaways[APNS_H2_GOAWAYS_KEPT];
} apns_h2_facts;

/* The scope of a session's failure (apns_error.scope). apns_error.code: the error code of its GOAWAY (RFC 9113, section
 * 7).
 */
enum apns_h2_failure_kind {
    APNS_H2_FAILURE_NONE = 0,
    APNS_H2_FAILURE_PROTOCOL = 1, /* the peer violated the protocol */
    APNS_H2_FAILURE_LIMIT = 2,    /* the peer exceeded a limit */
    APNS_H2_FAILURE_MEMORY = 3,   /* no memory */
    APNS_H2_FAILURE_OUTPUT = 4,   /* flush failed */
    APNS_H2_FAILURE_LIBRARY = 5,  /* nghttp2 did not do what its documentation promises */
};

/* Creates a client session with its SETTINGS ready to be pumped. options: borrowed until return. Returns NULL if there
 * is no memory. Owned by the caller: apns_h2_session_destroy. */
apns_h2_session *apns_h2_session_create(const apns_h2_session_options *options);

/* Frees a session (NULL allowed). Its exchanges remain as they are; the caller returns them to the pool. */
void apns_h2_session_destroy(apns_h2_session *session);

/* Processes received bytes. bytes: borrowed until return. */
int apns_h2_session_receive(apns_h2_session *session, const uint8_t *bytes, size_t length);

/* Writes to the output everything that can be sent now, or until the output is paused. */
int apns_h2_session_pump(apns_h2_session *session);

/* Writes the frames with which a session ends, as far as the output is not paused: what the session has queued except
 * requests and bodies, such as the GOAWAY of apns_h2_session_goaway; or, if the session has failed, GOAWAY. */
void apns_h2_session_farewell(apns_h2_session *session);

/* Returns whether a pump may have something to write, or to report a failure. */
bool apns_h2_session_pending(const apns_h2_session *session);

/* Returns and clears the list of exchanges with new facts, linked by next, in the order of the first change. On a
 * server every exchange is listed when its request begins, so that the caller has all exchanges. */
apns_h2_exchange *apns_h2_session_changed_take(apns_h2_session *session);

/* Returns the facts of a session, which are valid as long as the session. The caller may modify them. */
apns_h2_facts *apns_h2_session_facts(apns_h2_session *session);

/* Returns the reason for which a session failed; its scope is APNS_H2_FAILURE_NONE if it has not failed. Valid as long
 * as the session. */
const apns_error *apns_h2_session_failure(const apns_h2_session *session);

/* Returns the peer's MAX_CONCURRENT_STREAMS. */
uint32_t apns_h2_session_peer_streams_max(const apns_h2_session *session);

/* Returns the number of streams that were opened by either side and are not closed; on a client this includes deferred
 * requests. */
uint32_t apns_h2_session_open_count(const apns_h2_session *session);

/* Returns the highest stream whose HEADERS were written to the output. */
int32_t apns_h2_session_written_stream(const apns_h2_session *session);

/* Client: returns whether the body that has waited longest waits for the peer's flow-control windows. */
bool apns_h2_session_waits_for_window(const apns_h2_session *session);

/* Queues a PING with 8 bytes of opaque data, which apns_h2_facts shows when the answer comes. */
int apns_h2_session_ping(apns_h2_session *session, uint64_t opaque);

/* Queues a GOAWAY with the last processed stream of the peer as last-stream-id. debug: borrowed until return. */
int apns_h2_session_goaway(apns_h2_session *session, uint32_t code, const uint8_t *debug, size_t debug_length);

/* ---------------------------------------------------------------- client */

/* Creates a header set from the fields that requests of one kind share, pseudo-header fields first, without :path.
 * fields: copied. Returns NULL if there is no memory or a limit is exceeded: APNS_H2_SET_FIELDS_MAX fields,
 * APNS_H2_HEADER_LIST_BYTES_MAX bytes encoded. Owned by the caller: apns_h2_header_set_destroy. */
apns_h2_header_set *apns_h2_header_set_create(const apns_h2_field *fields, uint32_t count);

/* Releases a header set (NULL allowed), which is freed when no deferred request refers to it. */
void apns_h2_header_set_destroy(apns_h2_header_set *set);

typedef struct apns_h2_request {
    apns_h2_header_set *set;     /* borrowed until return; kept by a deferred request */
    apns_h2_header_set *shared;  /* fields appended to every request of the connection, or NULL; likewise */
    const uint8_t *path;         /* borrowed until closed */
    const apns_h2_field *fields; /* array: borrowed until return; names and values: borrowed until closed */
    uint32_t path_length;
    uint32_t field_count; /* at most APNS_H2_REQUEST_FIELDS_MAX */
} apns_h2_request;

/* Submits a request, and writes it if the output has room; otherwise it is deferred. exchange: taken from the pool,
 * with the body set; borrowed until closed or abandoned. Returns 1, without any effect, if no stream number is left. */
int apns_h2_client_submit(apns_h2_session *session, apns_h2_exchange *exchange, const apns_h2_request *request);

/* Resets the stream of an exchange with an error code. The session no longer refers to the exchange afterwards, also if
 * it has failed. */
int apns_h2_client_abandon(apns_h2_session *session, apns_h2_exchange *exchange, uint32_t code);
