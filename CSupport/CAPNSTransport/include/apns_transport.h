/*
 * transport: HTTP/2 connections over TLS, driven by one event loop. This is the only header of the network core that
 * Swift imports; nothing in it is specific to APNs.
 *
 * Model. The interface passes data and makes no callbacks. The caller submits requests as an array of fixed-layout
 * records; apns_transport_poll runs the loop once and fills an array of completions (exactly one per request) and an
 * array of connection events. On a server (apns_transport_server.h), apns_transport_poll returns received requests, and
 * apns_transport_respond takes the responses.
 *
 * Pointers. The comment on each pointer names one of four kinds of ownership: "borrowed until return", "borrowed until
 * completion" (until apns_transport_poll has returned the completion of the request), "owned by callee", "valid until
 * next call" (of apns_transport_poll on the same transport).
 *
 * Threads. A transport may be used only by the thread that created it. The exception is apns_transport_wake, which any
 * thread may call.
 *
 * Limits. The numbers of connections and streams and the sizes of buffers are fixed at creation. Everything that a peer
 * can make grow has a limit; a peer that exceeds one loses its connection, which an event reports.
 *
 * Errors. Functions return 0 or a negative enum apns_status, unless stated otherwise. Failures caused by a peer are
 * reported in completions and events, as a scope and a code whose meaning depends on the scope.
 */
#pragma once

#include "apns_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

typedef struct apns_transport apns_transport;

/* Identifies a connection: slot number and generation. 0 is never a connection. */
typedef uint64_t apns_transport_connection;

enum apns_transport_scope {
    APNS_TRANSPORT_SCOPE_NONE = 0,
    APNS_TRANSPORT_SCOPE_SYSTEM = 1,  /* code: errno */
    APNS_TRANSPORT_SCOPE_TLS = 2,     /* code: packed error code of OpenSSL or, if verification failed, X509_V_ERR_* */
    APNS_TRANSPORT_SCOPE_HTTP2 = 3,   /* code: HTTP/2 error code (RFC 9113, section 7) of RST_STREAM or GOAWAY */
    APNS_TRANSPORT_SCOPE_SESSION = 4, /* code: of our GOAWAY (RFC 9113, section 7); the peer violated the protocol */
    APNS_TRANSPORT_SCOPE_TIMEOUT = 5, /* code: the limit that was exceeded, in milliseconds */
    APNS_TRANSPORT_SCOPE_LOCAL = 6,   /* code: enum apns_transport_local */
    APNS_TRANSPORT_SCOPE_PROXY = 8,   /* code: HTTP status of the proxy's response, 0 if there is no valid one */
    APNS_TRANSPORT_SCOPE_END = 7,     /* the peer closed the connection with close_notify; code: 0 */
};

enum apns_transport_local {
    APNS_TRANSPORT_LOCAL_CLOSED = 1,    /* the caller closed the connection */
    APNS_TRANSPORT_LOCAL_NO_STREAM = 2, /* connection not up, or no free stream (MAX_CONCURRENT_STREAMS) */
    APNS_TRANSPORT_LOCAL_NO_ALPN = 3,   /* the peer did not select h2 */
    APNS_TRANSPORT_LOCAL_LIMIT = 4,     /* the peer exceeded one of our limits */
    APNS_TRANSPORT_LOCAL_FAULT = 5,     /* server: requested through apns_transport_fault.h */
    APNS_TRANSPORT_LOCAL_GOAWAY = 6,    /* the stream is above the last-stream-id of the server's GOAWAY */
};

/* ---------------------------------------------------------------- creation */

enum apns_transport_loop {
    APNS_TRANSPORT_LOOP_AUTO = 0,
    APNS_TRANSPORT_LOOP_IO_URING = 1,
    APNS_TRANSPORT_LOOP_EPOLL = 2,
    APNS_TRANSPORT_LOOP_OTHER = 3, /* a simulated loop; not allowed in apns_transport_options */
};

typedef struct apns_transport_options {
    uint32_t loop;               /* enum apns_transport_loop */
    uint32_t connections_max;    /* maximum number of connections and listeners together */
    uint32_t streams_max;        /* maximum number of open streams, over all connections */
    uint32_t body_received_max;  /* maximum number of bytes kept of a message body; the rest is counted and dropped */
    uint32_t request_timeout_ms; /* client: time from submission to completion, after which the stream is reset with
                                    CANCEL; 0 for no limit. Time during which this process does not run is not counted,
                                    here and in connect_timeout_ms */
    uint32_t connect_timeout_ms; /* time for TCP, TLS and the peer's first SETTINGS together, on clients and servers; 0
                                    for no limit */
    uint32_t send_buffer_max;    /* bytes of ciphertext that may wait per connection before encryption pauses; as much
                                    again may be in the send operation under way */
    uint32_t capture_count;      /* number of names in captures, at most 8 */
    const char *const *captures; /* client: names of the response header fields to return, at most 8 fields per response
                                    and 1,024 bytes per value; borrowed until return */
} apns_transport_options;
_Static_assert(sizeof(apns_transport_options) == 40, "fixed layout");

/* Creates a transport, which belongs to the calling thread, and stores it in *out, to be freed with
 * apns_transport_destroy. options: borrowed until return. error: filled on failure, may be NULL. Returns 0, APNS_MISUSE
 * if an option is out of range, or APNS_RESOURCE; on failure *out is NULL. */
int apns_transport_create(const apns_transport_options *options, apns_transport **out, apns_error *error);

/* Says goodbye on all connections, as a program does before it destroys its transport: ends them with GOAWAY and TLS's
 * close_notify, and waits until the peers have closed them, 0.1 s at most. Outstanding requests get their completions,
 * which only a later poll returns. Does nothing in a simulated loop, whose time does not pass meanwhile. */
void apns_transport_farewell(apns_transport *t);

/* Closes all connections at once and without a goodbye, waits for outstanding kernel operations, and frees the
 * transport (NULL allowed). Outstanding requests get no completion. */
void apns_transport_destroy(apns_transport *t);

/* Returns the loop in use: APNS_TRANSPORT_LOOP_IO_URING, APNS_TRANSPORT_LOOP_EPOLL or APNS_TRANSPORT_LOOP_OTHER. */
uint32_t apns_transport_loop_kind(const apns_transport *t);

/* Returns the errno with which io_uring was refused, if APNS_TRANSPORT_LOOP_AUTO fell back to epoll; otherwise 0. */
int apns_transport_loop_refusal(const apns_transport *t);

/* Returns the errno of the failure of the loop itself, after apns_transport_poll has failed; otherwise 0. */
int apns_transport_loop_error(const apns_transport *t);

/* Returns the monotonic time of the loop, in nanoseconds. */
uint64_t apns_transport_now_ns(apns_transport *t);

/* Makes the current or next apns_transport_poll return with APNS_TRANSPORT_EVENT_WOKEN. May be called from any
 * thread. */
void apns_transport_wake(apns_transport *t);

/* ---------------------------------------------------------------- TLS */

typedef struct apns_transport_tls_options {
    const uint8_t *ca_pem;          /* additional trusted certificates, PEM (server: the issuers of acceptable client
                                       certificates); NULL for none; borrowed until return */
    const uint8_t *certificate_pem; /* own certificate chain, leaf first, PEM; NULL for none; borrowed until return */
    const uint8_t *key_pem;         /* private key of the leaf certificate, PEM; borrowed until return */
    uint32_t ca_length;
    uint32_t certificate_length;
    uint32_t key_length;
    uint8_t verify_disabled;            /* client: 1 disables the verification of chain and host name; for tests only */
    uint8_t request_client_certificate; /* server: 1 requests a client certificate, which remains optional. Without
                                           ca_pem any certificate is accepted; with ca_pem one that cannot be verified
                                           ends the handshake */
    uint8_t system_trusted;             /* client: 1 trusts the certificates of the system, too (apns_tls.h) */
    uint8_t reserved;
} apns_transport_tls_options;
_Static_assert(sizeof(apns_transport_tls_options) == 40, "fixed layout");

/* Creates a TLS configuration for clients (TLS 1.2 and 1.3, ALPN h2 required) and returns its number, or a negative
 * enum apns_status. The configuration exists until apns_transport_tls_release or apns_transport_destroy; there are at
 * most 256 at a time. options: borrowed until return. error: filled on failure, may be NULL. */
int apns_transport_tls_create(apns_transport *t, const apns_transport_tls_options *options, apns_error *error);

/* Releases a TLS configuration; apns_transport_tls_create may reuse its number. Connections made with it stay valid; no
 * listener may be using it. Returns 0, or APNS_MISUSE if there is no such configuration. */
int apns_transport_tls_release(apns_transport *t, int32_t number);

/* ---------------------------------------------------------------- header fields */

enum apns_transport_indexing {
    APNS_TRANSPORT_INDEXED = 0, /* literal with incremental indexing (RFC 7541, section 6.2.1) */
    APNS_TRANSPORT_LITERAL = 1, /* literal never indexed (section 6.2.3) */
    /* incremental indexing the first time on a connection, so that the name enters the table; afterwards literal
     * without indexing (section 6.2.2) */
    APNS_TRANSPORT_NAME_ONCE = 2,
};

typedef struct apns_transport_field {
    const uint8_t *name; /* lower case */
    const uint8_t *value;
    uint32_t name_length;
    uint32_t value_length;
    uint32_t indexing; /* enum apns_transport_indexing; ignored in received fields */
    uint32_t reserved;
} apns_transport_field;
_Static_assert(sizeof(apns_transport_field) == 32, "fixed layout");

/* Defines or replaces a header set (number 0 to 4,095): the fields that all requests of one kind share, pseudo-header
 * fields first, without :path. Requests submitted before a replacement keep the old fields. Fields with
 * APNS_TRANSPORT_INDEXED take one or two bytes in each request. fields: copied; at most 32 fields and 32 KiB encoded.
 * Returns 0, APNS_MISUSE if a limit is exceeded, or APNS_RESOURCE. */
int apns_transport_header_set_define(apns_transport *t, uint16_t number, const apns_transport_field *fields,
                                     uint32_t count);

/* ---------------------------------------------------------------- client connections */

typedef struct apns_transport_connect_options {
    const struct sockaddr *address; /* borrowed until return */
    const char *host_name; /* sent as server name (SNI) and verified against the certificate; borrowed until return */
    uint64_t context;      /* copied into the events of the connection */
    uint32_t address_length;
    int32_t tls; /* number returned by apns_transport_tls_create */
} apns_transport_connect_options;
_Static_assert(sizeof(apns_transport_connect_options) == 32, "fixed layout");

/* Sets the time after which a connection fails (scope SYSTEM, ETIMEDOUT) while the peer's kernel does not acknowledge
 * sent data, for connections started from now on. 0: the default of the kernel. */
void apns_transport_user_timeout_set(apns_transport *t, uint32_t milliseconds);

/* Sets the CONNECT request (RFC 9110, section 9.3.6) with which connections started from now on open a tunnel through
 * an HTTP proxy. They send the request, a complete HTTP/1.1 request, and begin TLS after a 2xx response. For such a
 * connection, address is that of the proxy and host_name that of the server. Request and response may have 8 KiB each,
 * and connect_timeout_ms covers both. request: copied, and wiped when replaced or freed; length 0 for no proxy. Returns
 * 0, APNS_MISUSE if the request is too long, or APNS_RESOURCE. */
int apns_transport_tunnel_set(apns_transport *t, const uint8_t *request, uint32_t length);

/* Starts a connection and stores its identity in *out. Every started connection ends with exactly one
 * APNS_TRANSPORT_EVENT_DOWN, whether or not it was ever up. options: borrowed until return. Returns 0, APNS_MISUSE
 * (unknown TLS configuration, no address), or APNS_RESOURCE, for which error is filled; error may be NULL. */
int apns_transport_connect(apns_transport *t, const apns_transport_connect_options *options,
                           apns_transport_connection *out, apns_error *error);

/* Returns the stage of a client connection, an enum apns_transport_stage; APNS_TRANSPORT_STAGE_NONE if it has ended or
 * is unknown. */
uint32_t apns_transport_connection_stage(const apns_transport *t, apns_transport_connection connection);

/* Returns 1 if a request's body waits on this connection until the peer opens its flow-control windows (RFC 9113,
 * section 5.2), and 0 if none does, or if the connection has ended or is unknown. */
uint32_t apns_transport_connection_waits_for_window(const apns_transport *t, apns_transport_connection connection);

/* Sets the fields that are appended to every request submitted to this connection from now on, such as authorization.
 * fields: copied, at most 4. Returns 0, APNS_MISUSE (not a client connection, too many fields), or APNS_RESOURCE. */
int apns_transport_connection_fields_set(apns_transport *t, apns_transport_connection connection,
                                         const apns_transport_field *fields, uint32_t count);

enum apns_transport_close { APNS_TRANSPORT_CLOSE_DRAIN = 0, APNS_TRANSPORT_CLOSE_NOW = 1 };

/* Closes a connection. APNS_TRANSPORT_CLOSE_DRAIN: takes no new requests and closes after the last completion (server:
 * after the last response). A server sends GOAWAY at once; a client sends it when it closes, because until then it may
 * still send bodies and RST_STREAM. A connection that is not up yet is closed immediately. APNS_TRANSPORT_CLOSE_NOW:
 * open requests get their completions with the next poll. In both cases APNS_TRANSPORT_EVENT_DOWN follows when the peer
 * has closed too, or after half a second. Returns 0, or APNS_MISUSE if the connection is unknown. */
int apns_transport_connection_close(apns_transport *t, apns_transport_connection connection, uint32_t how);

/* Sends a PING. The answer is reported as APNS_TRANSPORT_EVENT_PONG. Returns 0, APNS_MISUSE if the connection is not
 * up, or another negative value if the PING could not be queued. */
int apns_transport_connection_ping(apns_transport *t, apns_transport_connection connection);

/* ---------------------------------------------------------------- requests */

typedef struct apns_transport_request {
    uint64_t ticket; /* chosen by the caller and returned in the completion */
    uint64_t connection;
    const uint8_t *path;                /* borrowed until completion */
    const uint8_t *body;                /* borrowed until completion, not copied; NULL with length 0 for none */
    const apns_transport_field *fields; /* array: borrowed until return; names and values: borrowed until completion */
    uint32_t path_length;
    uint32_t body_length;
    uint16_t header_set;
    uint16_t field_count; /* at most 8 */
    uint32_t reserved;
} apns_transport_request;
_Static_assert(sizeof(apns_transport_request) == 56, "fixed layout");

/* Submits count requests, all or none. Each gets exactly one completion from a later poll, even if its connection is
 * gone (APNS_TRANSPORT_NOT_SENT). Requests do not wait for a free stream: those that exceed MAX_CONCURRENT_STREAMS of
 * the peer get APNS_TRANSPORT_NOT_SENT with APNS_TRANSPORT_LOCAL_NO_STREAM. requests: borrowed until return. Returns 0,
 * or APNS_MISUSE if count exceeds apns_transport_streams_free, a header set is not defined, or a field_count is too
 * large. */
int apns_transport_submit(apns_transport *t, const apns_transport_request *requests, uint32_t count);

/* Returns the number of requests that can be submitted until streams_max are in flight. */
uint32_t apns_transport_streams_free(const apns_transport *t);

enum apns_transport_delivery {
    APNS_TRANSPORT_NOT_SENT = 0, /* not sent, or not processed by the peer (REFUSED_STREAM, or above the last-stream-id
                                    of GOAWAY: RFC 9113, section 8.7) */
    APNS_TRANSPORT_MAY_HAVE_ARRIVED = 1, /* the request may have been processed; there is no complete response */
    APNS_TRANSPORT_ANSWERED = 2,         /* a complete response was received */
};

typedef struct apns_transport_completion {
    uint64_t ticket;
    uint64_t connection;
    const uint8_t *body;                /* the part of the response body that was kept; valid until next call */
    const apns_transport_field *fields; /* captured fields of the response; valid until next call */
    int64_t code;                       /* meaning depends on scope; 0 when answered */
    uint32_t body_length;
    uint32_t field_count;
    uint32_t latency_us; /* from submission to the end of the response, in microseconds */
    uint16_t status;     /* :status, or 0 if there was none */
    uint8_t delivery;    /* enum apns_transport_delivery */
    uint8_t scope;       /* enum apns_transport_scope; NONE when answered */
} apns_transport_completion;
_Static_assert(sizeof(apns_transport_completion) == 56, "fixed layout");

/* ---------------------------------------------------------------- events */

/* The step that a connection is waiting for, or was waiting for when it ended. */
enum apns_transport_stage {
    APNS_TRANSPORT_STAGE_NONE = 0,
    APNS_TRANSPORT_STAGE_CONNECTING = 1,  /* TCP connection */
    APNS_TRANSPORT_STAGE_TUNNELING = 2,   /* response of the proxy */
    APNS_TRANSPORT_STAGE_HANDSHAKING = 3, /* TLS handshake */
    APNS_TRANSPORT_STAGE_SETTLING = 4,    /* first SETTINGS of the peer */
    APNS_TRANSPORT_STAGE_UP = 5,
};

enum apns_transport_event_kind {
    /* the connection is up and takes requests: TLS is established and the peer's SETTINGS were received. streams_max is
     * set; detail: protocol and cipher, for the log */
    APNS_TRANSPORT_EVENT_UP = 1,
    /* the peer changed MAX_CONCURRENT_STREAMS, and streams_max has the new value */
    APNS_TRANSPORT_EVENT_SETTINGS = 2,
    /* the peer sent GOAWAY. code: HTTP/2 error code; last_stream is set; detail: debug data as received (arbitrary
     * bytes). The connection takes no new requests; open requests above last_stream get NOT_SENT, the others still wait
     * for their responses. Some servers send GOAWAY twice, so a client without requests waits 0.1 s for a second one
     * before it closes */
    APNS_TRANSPORT_EVENT_GOAWAY = 3,
    /* the connection has ended. Last event of a connection, after the completions of all its requests; scope, code and
     * stage are set; detail: a message */
    APNS_TRANSPORT_EVENT_DOWN = 4,
    /* the peer answered a PING; code: round-trip time in microseconds */
    APNS_TRANSPORT_EVENT_PONG = 5,
    /* apns_transport_wake was called */
    APNS_TRANSPORT_EVENT_WOKEN = 6,
    /* server: an accepted connection is up (TLS is established, client preface received). code: ordinal number of the
     * accepted TCP connection, from 1; detail: one line with protocol and cipher, then, if a client certificate was
     * verified, a line each for UID= and CN= of its subject, as far as present */
    APNS_TRANSPORT_EVENT_ACCEPTED = 7,
};

typedef struct apns_transport_event {
    uint64_t connection;
    uint64_t context;      /* of the connection or, on a server, of the listener */
    const uint8_t *detail; /* valid until next call */
    int64_t code;
    uint32_t detail_length;
    uint32_t streams_max; /* MAX_CONCURRENT_STREAMS of the peer */
    uint32_t last_stream;
    uint8_t kind;  /* enum apns_transport_event_kind */
    uint8_t scope; /* enum apns_transport_scope */
    uint8_t stage; /* enum apns_transport_stage reached before the end */
    uint8_t reserved;
} apns_transport_event;
_Static_assert(sizeof(apns_transport_event) == 48, "fixed layout");

/* ---------------------------------------------------------------- poll */

/* A request received by a server. */
typedef struct apns_transport_received {
    uint64_t connection;
    const apns_transport_field *fields; /* with pseudo-header fields, in order of arrival; valid until next call */
    const uint8_t *body;                /* at most body_received_max bytes; valid until next call */
    uint32_t stream;
    uint32_t field_count;
    uint32_t body_length; /* bytes in body */
    uint32_t body_total;  /* bytes sent by the client */
} apns_transport_received;
_Static_assert(sizeof(apns_transport_received) == 40, "fixed layout");

typedef struct apns_transport_poll_io {
    /* in */
    apns_transport_completion *completions; /* borrowed until return; may be NULL with capacity 0 (a server) */
    apns_transport_event *events;           /* borrowed until return */
    apns_transport_received *received;      /* borrowed until return; may be NULL with capacity 0 (a client) */
    uint32_t completion_capacity;
    uint32_t event_capacity;
    uint32_t received_capacity;
    uint32_t timeout_us; /* maximum wait for something to report, in microseconds; UINT32_MAX for no limit */
    uint32_t linger_us;  /* time during which answers gather before the poll returns, so that one system call handles
                            many, in microseconds; 0 while there are requests to submit */
    uint32_t reserved;
    /* out */
    uint32_t completion_count;
    uint32_t event_count;
    uint32_t received_count;
    uint32_t reserved_out;
} apns_transport_poll_io;
_Static_assert(sizeof(apns_transport_poll_io) == 64, "fixed layout");

/* Runs the loop once: passes everything submitted to TLS and the kernel, waits, receives, and fills the three arrays.
 * Records that do not fit are returned by the next call, which then does not wait. io: borrowed until return. Returns
 * 0, or APNS_RESOURCE if the loop itself failed; see apns_transport_loop_error. */
int apns_transport_poll(apns_transport *t, apns_transport_poll_io *io);

/* Counters since creation. */
typedef struct apns_transport_statistics {
    uint64_t bytes_sent;
    uint64_t bytes_received;
    uint64_t records_sent; /* TLS records */
    uint64_t polls;
    uint64_t sends;    /* send operations started */
    uint64_t receives; /* completed receive operations */
} apns_transport_statistics;
_Static_assert(sizeof(apns_transport_statistics) == 48, "fixed layout");

/* Copies the counters to *out. */
void apns_transport_statistics_get(const apns_transport *t, apns_transport_statistics *out);
