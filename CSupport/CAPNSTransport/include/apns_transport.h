/*
 * transport: connections. Joins event loop, TLS and HTTP/2. The only header of the core's network part that the sender
 * sees; it knows nothing of APNs.
 *
 * Model. The border is data, not callbacks. The caller submits requests as an array of fixed-layout records;
 * apns_transport_poll drives everything once and fills an array of outcomes (one per request, always) and an array of
 * connection events. A server (apns_transport_server.h) is the same with the roles turned: apns_transport_poll fills
 * requests received, and apns_transport_respond takes responses.
 *
 * Pointers. Each one is owned in one of four ways, named where it stands: "borrowed until return", "borrowed until
 * outcome" (until the request's outcome record has been returned by apns_transport_poll), "owned by callee", "valid
 * until next call" (of apns_transport_poll on the same transport).
 *
 * Threads. A transport belongs to the thread that made it. Only apns_transport_wake may be called from another.
 *
 * Limits. Connections, streams and buffer sizes are fixed at creation, memory is slabs sized from them. Whatever a peer
 * can make grow has a limit, and going past it ends that connection with an event, never the process.
 *
 * Errors. Functions return 0 or a negative enum apns_status. Failures of a peer arrive as outcomes and events
 * with a scope and the code of that scope.
 */
#ifndef APNS_BATCH_TRANSPORT_H
#define APNS_BATCH_TRANSPORT_H

#include "apns_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

typedef struct apns_transport apns_transport;

/* Slot and generation; 0 is never a connection. */
typedef uint64_t apns_transport_connection;

enum apns_transport_scope {
    APNS_TRANSPORT_SCOPE_NONE = 0,
    APNS_TRANSPORT_SCOPE_SYSTEM = 1,  /* code: errno */
    APNS_TRANSPORT_SCOPE_TLS = 2,     /* code: the library's packed error or, for verification, X509_V_ERR_* */
    APNS_TRANSPORT_SCOPE_HTTP2 = 3,   /* code: HTTP/2 error code (RFC 9113, section 7) of RST_STREAM or GOAWAY */
    APNS_TRANSPORT_SCOPE_SESSION = 4, /* code: error of the HTTP/2 library: the peer's bytes made no sense */
    APNS_TRANSPORT_SCOPE_TIMEOUT = 5, /* code: milliseconds waited */
    APNS_TRANSPORT_SCOPE_LOCAL = 6,   /* code: enum apns_transport_local */
    APNS_TRANSPORT_SCOPE_PROXY = 8,   /* code: status of the proxy's answer, 0 when it made no sense */
    APNS_TRANSPORT_SCOPE_END = 7,     /* the peer closed the connection in order; code 0 */
};

enum apns_transport_local {
    APNS_TRANSPORT_LOCAL_CLOSED = 1,    /* the caller closed the connection */
    APNS_TRANSPORT_LOCAL_NO_STREAM = 2, /* submitted past the peer's MAX_CONCURRENT_STREAMS or to a connection not up */
    APNS_TRANSPORT_LOCAL_NO_ALPN = 3,   /* the peer did not choose h2 */
    APNS_TRANSPORT_LOCAL_LIMIT = 4,     /* the peer went past a limit of ours */
    APNS_TRANSPORT_LOCAL_FAULT = 5,     /* server: asked for with apns_transport_fault.h */
    APNS_TRANSPORT_LOCAL_GOAWAY = 6,    /* above the last-stream-id of the server's GOAWAY */
};

/* ---------------------------------------------------------------- creation */

enum apns_transport_loop {
    APNS_TRANSPORT_LOOP_AUTO = 0,
    APNS_TRANSPORT_LOOP_IO_URING = 1,
    APNS_TRANSPORT_LOOP_EPOLL = 2,
    APNS_TRANSPORT_LOOP_OTHER = 3, /* never asked for here: one that is made elsewhere, in a simulation */
};

typedef struct apns_transport_options {
    uint32_t loop;               /* enum apns_transport_loop */
    uint32_t connections_max;    /* connections and listeners together */
    uint32_t streams_max;        /* streams open at once over all connections */
    uint32_t body_received_max;  /* bytes of one message body kept (a longer one is counted, not kept) */
    uint32_t request_timeout_ms; /* client: from submit to outcome, 0 for none; then RST_STREAM(CANCEL). Time in which
                                    this process stands still does not count, here and in connect_timeout_ms */
    uint32_t connect_timeout_ms; /* TCP, TLS and the peer's first SETTINGS together, client and server */
    uint32_t send_buffer_max;    /* bytes of ciphertext waiting per connection before pumping pauses; as much again may
                                    be on its way to the kernel */
    uint32_t capture_count;      /* number of names below, at most 8 */
    const char *const *captures; /* client: names of response header fields to hand over, up to 8 of a response and
                                    values up to 1,024 bytes; borrowed until return */
} apns_transport_options;
_Static_assert(sizeof(apns_transport_options) == 40, "fixed layout");

/* Makes a transport on the calling thread. error: filled on failure, may be NULL. */
int apns_transport_create(const apns_transport_options *options, apns_transport **out, apns_error *error);

/* Closes everything at once, joins the kernel's operations, frees (NULL allowed). Outstanding requests get no outcome.
 */
void apns_transport_destroy(apns_transport *t);

/* APNS_TRANSPORT_LOOP_IO_URING, APNS_TRANSPORT_LOOP_EPOLL or APNS_TRANSPORT_LOOP_OTHER: the one that runs. */
uint32_t apns_transport_loop_kind(const apns_transport *t);

/* Where APNS_TRANSPORT_LOOP_AUTO was asked for and io_uring cannot be had: its errno; else 0. */
int apns_transport_loop_refusal(const apns_transport *t);

/* The errno with which the loop itself failed, when apns_transport_poll says so; else 0. */
int apns_transport_loop_error(const apns_transport *t);

/* Monotonic nanoseconds of the loop's clock. */
uint64_t apns_transport_now_ns(apns_transport *t);

/* From any thread: the current or next apns_transport_poll returns with APNS_TRANSPORT_EVENT_WOKEN. */
void apns_transport_wake(apns_transport *t);

/* ---------------------------------------------------------------- TLS */

/* The certificates that the system trusts. For any number of transports and threads. */
typedef struct apns_tls_roots apns_transport_roots;

/* Reads them, which takes tens of milliseconds. *out: to be freed with apns_transport_roots_free; NULL on failure, of
 * which error (not NULL) says more. */
int apns_transport_roots_load(apns_transport_roots **out, apns_error *error);

/* Frees them (NULL allowed); TLS configurations made with them live on. */
void apns_transport_roots_free(apns_transport_roots *roots);

typedef struct apns_transport_tls_options {
    const uint8_t *ca_pem;          /* further trusted certificates, PEM (server: who may sign clients' certificates);
                                       NULL for none; borrowed until return */
    const uint8_t *certificate_pem; /* own chain, leaf first, PEM; NULL for none; borrowed until return */
    const uint8_t *key_pem;         /* its private key, PEM; borrowed until return */
    const apns_transport_roots *system_roots; /* client: the system's certificates, to be trusted too; NULL for not;
                                            borrowed until return */
    uint32_t ca_length;
    uint32_t certificate_length;
    uint32_t key_length;
    uint8_t verify_disabled;            /* client: tests only. Chain and host name are verified unless this is 1 */
    uint8_t request_client_certificate; /* server: ask for one, which need not come. Without ca_pem any is accepted,
                                           with it one that does not verify ends the handshake */
    uint8_t reserved[2];
} apns_transport_tls_options;
_Static_assert(sizeof(apns_transport_tls_options) == 48, "fixed layout");

/* Makes a TLS configuration for clients (1.2 and 1.3, ALPN h2 required) and returns its number, or a negative status.
 * Kept until apns_transport_tls_release or apns_transport_destroy; at most 256 at once. */
int apns_transport_tls_create(apns_transport *t, const apns_transport_tls_options *options, apns_error *error);

/* Frees the number, which the next apns_transport_tls_create may give out again. Connections made with it live on;
 * listeners must not use it any more. */
int apns_transport_tls_release(apns_transport *t, int32_t number);

/* ---------------------------------------------------------------- header fields */

enum apns_transport_indexing {
    APNS_TRANSPORT_INDEXED = 0, /* incremental indexing (HPACK, RFC 7541 section 6.2.1) */
    APNS_TRANSPORT_LITERAL = 1, /* literal, never put into the table, here or further on (6.2.3) */
    /* indexed the first time on a connection so that the name enters the table, then literal (6.2.2) */
    APNS_TRANSPORT_NAME_ONCE = 2,
};

typedef struct apns_transport_field {
    const uint8_t *name; /* lower case */
    const uint8_t *value;
    uint32_t name_length;
    uint32_t value_length;
    uint32_t indexing; /* enum apns_transport_indexing; ignored on fields received */
    uint32_t reserved;
} apns_transport_field;
_Static_assert(sizeof(apns_transport_field) == 32, "fixed layout");

/* Defines or replaces header set number (0 to 4,095): the fields that every request of that kind shares, pseudo-header
 * fields first, without :path. fields: copied. Replacing is for requests submitted afterwards. At most 32 fields, 32
 * KiB encoded. What is INDEXED here costs a byte or two a request, and next to no time. */
int apns_transport_header_set_define(apns_transport *t, uint16_t number, const apns_transport_field *fields,
                                     uint32_t count);

/* ---------------------------------------------------------------- client connections */

typedef struct apns_transport_connect_options {
    const struct sockaddr *address; /* borrowed until return */
    const char *host_name;          /* server name sent and verified; borrowed until return */
    uint64_t context;               /* carried by the connection's events */
    uint32_t address_length;
    int32_t tls; /* number from apns_transport_tls_create */
} apns_transport_connect_options;
_Static_assert(sizeof(apns_transport_connect_options) == 32, "fixed layout");

/* Connections begun from now on end when what was sent stays without an acknowledgement of the peer's kernel for so
 * long (scope SYSTEM, ETIMEDOUT). 0: as long as the own kernel likes. */
void apns_transport_user_timeout_set(apns_transport *t, uint32_t milliseconds);

/* Connections begun from now on lead through a proxy (CONNECT, RFC 9110 section 9.3.6): they send these bytes first, a
 * whole HTTP/1.1 request, and begin TLS once a 2xx has come; address is the proxy's, host_name the server's. Limits: 8
 * KiB of request and of answer, and connect_timeout_ms for all. request: copied, wiped when replaced; length 0: no
 * proxy. */
int apns_transport_tunnel_set(apns_transport *t, const uint8_t *request, uint32_t length);

/* Starts a connection. Its end is always one APNS_TRANSPORT_EVENT_DOWN, also when it never comes up. error: filled when
 * it could not be started, may be NULL. */
int apns_transport_connect(apns_transport *t, const apns_transport_connect_options *options,
                           apns_transport_connection *out, apns_error *error);

/* How far a connection has got: an enum apns_transport_stage, APNS_TRANSPORT_STAGE_NONE when it has ended or is
 * unknown. */
uint32_t apns_transport_connection_stage(const apns_transport *t, apns_transport_connection connection);

/* Fields appended to every request submitted to this connection from now on (an authorization, for instance). Copied.
 * At most 4. */
int apns_transport_connection_fields_set(apns_transport *t, apns_transport_connection connection,
                                         const apns_transport_field *fields, uint32_t count);

enum apns_transport_close { APNS_TRANSPORT_CLOSE_DRAIN = 0, APNS_TRANSPORT_CLOSE_NOW = 1 };

/* DRAIN: takes no new request and closes after the last outcome (a server: after the last answer). A server says GOAWAY
 * at once, a client when it closes: until then it may still send bodies and resets. A connection that is not up yet is
 * closed now. NOW: open requests get their outcomes with the next poll. Either way APNS_TRANSPORT_EVENT_DOWN comes when
 * the peer has closed too, or half a second later. */
int apns_transport_connection_close(apns_transport *t, apns_transport_connection connection, uint32_t how);

/* Sends a PING; the answer is APNS_TRANSPORT_EVENT_PONG with the round trip in microseconds as code. */
int apns_transport_connection_ping(apns_transport *t, apns_transport_connection connection);

/* ---------------------------------------------------------------- requests */

typedef struct apns_transport_request {
    uint64_t ticket; /* the caller's, comes back in the outcome */
    uint64_t connection;
    const uint8_t *path; /* borrowed until outcome */
    const uint8_t *body; /* borrowed until outcome; sent without a copy of its own; NULL with length 0 for none */
    const apns_transport_field *fields; /* the array: borrowed until return; names and values: borrowed until outcome */
    uint32_t path_length;
    uint32_t body_length;
    uint16_t header_set;
    uint16_t field_count; /* at most 8 */
    uint32_t reserved;
} apns_transport_request;
_Static_assert(sizeof(apns_transport_request) == 56, "fixed layout");

/* Takes all count requests (borrowed until return). Each gets exactly one outcome from a later poll, also when its
 * connection is gone (then NOT_SENT). Never queues behind the peer's MAX_CONCURRENT_STREAMS: past it the outcome is
 * NOT_SENT with APNS_TRANSPORT_LOCAL_NO_STREAM. Fails with APNS_MISUSE when count exceeds the streams free in the slab
 * (apns_transport_streams_free), a header set is not defined or a field_count is too large; then none was taken. */
int apns_transport_submit(apns_transport *t, const apns_transport_request *requests, uint32_t count);

/* Requests that may still be submitted before the slab of streams_max is full. */
uint32_t apns_transport_streams_free(const apns_transport *t);

enum apns_transport_delivery {
    APNS_TRANSPORT_NOT_SENT = 0,   /* no byte of it left, or the peer said it did not process it (REFUSED_STREAM, above
                                 GOAWAY's last-stream-id: RFC 9113, section 8.7) */
    APNS_TRANSPORT_MAYBE_SENT = 1, /* may have been processed; no complete answer */
    APNS_TRANSPORT_ANSWERED = 2,   /* a complete response */
};

typedef struct apns_transport_outcome {
    uint64_t ticket;
    uint64_t connection;
    const uint8_t *body;                /* response body kept; valid until next call */
    const apns_transport_field *fields; /* captured fields present; valid until next call */
    int64_t code;                       /* of scope; 0 when answered */
    uint32_t body_length;
    uint32_t field_count;
    uint32_t latency_us; /* submit to end of the response */
    uint16_t status;     /* :status, 0 when there was none */
    uint8_t delivery;    /* enum apns_transport_delivery */
    uint8_t scope;       /* enum apns_transport_scope; NONE when answered */
} apns_transport_outcome;
_Static_assert(sizeof(apns_transport_outcome) == 56, "fixed layout");

/* ---------------------------------------------------------------- events */

/* How far a connection had got, and so what it waited for. */
enum apns_transport_stage {
    APNS_TRANSPORT_STAGE_NONE = 0,
    APNS_TRANSPORT_STAGE_CONNECTING = 1,  /* TCP */
    APNS_TRANSPORT_STAGE_TUNNELING = 2,   /* a proxy's answer */
    APNS_TRANSPORT_STAGE_HANDSHAKING = 3, /* TLS */
    APNS_TRANSPORT_STAGE_SETTLING = 4,    /* the peer's first SETTINGS */
    APNS_TRANSPORT_STAGE_UP = 5,
};

enum apns_transport_event_kind {
    /* TLS done and the peer's SETTINGS received: requests may go; streams_max filled; detail: protocol and cipher, for
     * the log */
    APNS_TRANSPORT_EVENT_UP = 1,
    /* the peer changed MAX_CONCURRENT_STREAMS: streams_max filled */
    APNS_TRANSPORT_EVENT_SETTINGS = 2,
    /* code: error code; last_stream filled; detail: debug data as sent (may be anything). No new request may go to this
     * connection; its open ones above last_stream come back NOT_SENT, the others are still awaited. Some servers say it
     * twice; a client without requests waits a tenth of a second for the second one */
    APNS_TRANSPORT_EVENT_GOAWAY = 3,
    /* the last event of a connection, after the outcomes of all its requests; scope, code, stage; detail: text */
    APNS_TRANSPORT_EVENT_DOWN = 4,
    /* code: round trip in microseconds */
    APNS_TRANSPORT_EVENT_PONG = 5,
    /* apns_transport_wake was called */
    APNS_TRANSPORT_EVENT_WOKEN = 6,
    /* server: a connection is up (TLS and client preface done); code: the how many-th TCP connection accepted it is,
     * from 1; detail: a line with protocol and cipher, then, when the client showed a certificate that was verified,
     * UID= and CN= of its subject, a line each where it has them */
    APNS_TRANSPORT_EVENT_ACCEPTED = 7,
};

typedef struct apns_transport_event {
    uint64_t connection;
    uint64_t context;      /* from connect or, on a server, from the listener */
    const uint8_t *detail; /* valid until next call */
    int64_t code;
    uint32_t detail_length;
    uint32_t streams_max; /* the peer's MAX_CONCURRENT_STREAMS */
    uint32_t last_stream;
    uint8_t kind;  /* enum apns_transport_event_kind */
    uint8_t scope; /* enum apns_transport_scope */
    uint8_t stage; /* enum apns_transport_stage: how far it had got when it ended */
    uint8_t reserved;
} apns_transport_event;
_Static_assert(sizeof(apns_transport_event) == 48, "fixed layout");

/* ---------------------------------------------------------------- poll */

/* A request that a server received. */
typedef struct apns_transport_received {
    uint64_t connection;
    const apns_transport_field
        *fields;         /* pseudo-header fields among them, in order of arrival; valid until next call */
    const uint8_t *body; /* up to body_received_max; valid until next call */
    uint32_t stream;
    uint32_t field_count;
    uint32_t body_length; /* bytes kept */
    uint32_t body_total;  /* bytes the client sent */
} apns_transport_received;
_Static_assert(sizeof(apns_transport_received) == 40, "fixed layout");

typedef struct apns_transport_poll_io {
    /* in */
    apns_transport_outcome *outcomes;  /* borrowed until return; may be NULL with capacity 0 (a server) */
    apns_transport_event *events;      /* borrowed until return */
    apns_transport_received *received; /* borrowed until return; may be NULL with capacity 0 (a client) */
    uint32_t outcome_capacity;
    uint32_t event_capacity;
    uint32_t received_capacity;
    uint32_t timeout_ms; /* how long to wait for a first thing to report; UINT32_MAX: without limit */
    uint32_t linger_us; /* how long to let answers gather, so that one trip through the kernel carries many; give 0 when
                           there are streams to fill */
    uint32_t reserved;
    /* out */
    uint32_t outcome_count;
    uint32_t event_count;
    uint32_t received_count;
    uint32_t reserved_out;
} apns_transport_poll_io;
_Static_assert(sizeof(apns_transport_poll_io) == 64, "fixed layout");

/* Drives the loop once: hands everything submitted to TLS and the kernel, waits, receives, and fills the three arrays.
 * What does not fit stays for the next call, which then does not wait. Returns 0, or a negative status when the loop
 * itself failed. */
int apns_transport_poll(apns_transport *t, apns_transport_poll_io *io);

/* Counters since creation, for reports and benchmarks. */
typedef struct apns_transport_statistics {
    uint64_t bytes_sent;
    uint64_t bytes_received;
    uint64_t records_sent; /* TLS records */
    uint64_t polls;
    uint64_t sends;    /* send operations handed to the loop */
    uint64_t receives; /* receive completions */
} apns_transport_statistics;
_Static_assert(sizeof(apns_transport_statistics) == 48, "fixed layout");

void apns_transport_statistics_get(const apns_transport *t, apns_transport_statistics *out);

#endif
