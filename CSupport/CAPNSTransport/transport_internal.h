/*
 * Shared by the files of CAPNSTransport.
 *
 * Ownership. A connection owns its sessions, its buffers and its list of requests; the transport owns everything else,
 * including the slots. A request is in the list of its connection until its completion is known, then in t->completions
 * (on a server: in t->received until it is returned). In between its exchange belongs to the session, until it has
 * APNS_H2_CLOSED, is abandoned, or the session is destroyed.
 *
 * Order. A connection always ends through apns_connection_end (state LEAVING: session destroyed, requests ended), then
 * apns_connection_close (CLOSING: the reactor closes the socket), then apns_connection_closed (CLOSED: no operation is
 * left); its slot is freed when the event DOWN is returned. A function that calls into the session must call
 * apns_connection_collect before it returns to the poll; that call may end the connection.
 */
#pragma once

#include "apns_check.h"
#include "apns_h2.h"
#include "apns_reactor.h"
#include "apns_tls.h"
#include "apns_transport.h"

enum {
    HEADER_SETS_MAX = 4096,
    TLS_CONTEXTS_MAX = 256,
    REACTOR_EVENTS_MAX = 256,
    EVENT_DETAIL_BYTES_MAX = 256,
    EVENTS_PER_CONNECTION_MAX = 16, /* events not yet returned; further GOAWAYs are dropped */
    LEAVE_MS_MAX = 500,             /* time for the peer to close a connection that is closing */
    GOAWAY_MS_MAX = 100,            /* time for a second GOAWAY, while a client has no requests */
};

/* The size of a send buffer beyond send_buffer_max: the record that exceeds send_buffer_max, the rest of the frame
 * being written (two records), one record for the end of a pump, and one for alerts and key updates. */
enum { SEND_BUFFER_SLACK = 5 * (APNS_TLS_RECORD_PLAIN_MAX + 256) };

typedef struct connection connection;
typedef struct tunnel tunnel;

/* One stream: a request sent by a client or received by a server. Allocated from an apns_h2_pool. */
typedef struct request {
    apns_h2_exchange exchange; /* must be first: the pool allocates exchanges */
    connection *connection;
    struct request *next; /* in the list of the connection, in order of submission or arrival */
    struct request *previous;
    struct request *queue_next; /* in the queue that contains the request */
    uint64_t connection_id;
    uint64_t ticket;
    uint64_t submitted_ns;
    int64_t code;
    uint8_t *response_body; /* server: copy of the body being sent */
    uint32_t latency_us;
    uint8_t delivery;
    uint8_t scope;
    uint8_t state; /* enum request_state */
    uint8_t reserved;
} request;

enum request_state {
    REQUEST_NEW = 0,       /* server: not yet in the list of its connection; also every free slot */
    REQUEST_OPEN = 1,      /* client: no completion yet; server: request incomplete */
    REQUEST_ENDED = 2,     /* client: completion known, not yet returned */
    REQUEST_QUEUED = 3,    /* server: request complete, not yet returned */
    REQUEST_RECEIVED = 4,  /* server: returned, no response yet */
    REQUEST_RESPONDED = 5, /* server: response submitted */
    REQUEST_GONE = 6,      /* server: stream or connection closed while the request was queued */
};

typedef struct event_node {
    struct event_node *next;
    apns_transport_event event;
    char detail[EVENT_DETAIL_BYTES_MAX];
} event_node;

/* States of a connection, in the order in which they are entered; some may be skipped. */
enum connection_state {
    CONNECTION_CONNECTING = 0, /* TCP connect */
    CONNECTION_TUNNELING,      /* CONNECT request sent, waiting for the proxy's response */
    CONNECTION_HANDSHAKING,    /* TLS handshake */
    CONNECTION_SETTLING,       /* waiting for the peer's first SETTINGS */
    CONNECTION_UP,
    CONNECTION_LEAVING, /* ended: GOAWAY and close_notify are sent, then waits for the peer to close */
    CONNECTION_CLOSING, /* apns_reactor_close was called */
    CONNECTION_CLOSED,  /* socket closed; the event DOWN follows when all completions are returned */
};

/* The loop and TLS below a transport: those of the system, or those of a simulation. */
typedef struct transport_ground {
    int (*reactor_open)(void *context, const apns_reactor_options *options, apns_reactor **out);
    int (*tls_create)(const apns_tls_role *role, const apns_tls_context_options *options, apns_tls_context **out,
                      apns_error *error);
    bool stepped; /* the reactor never sleeps: apns_transport_poll returns instead of waiting */
} transport_ground;

/* The functions that differ between client connections and server connections (CAPNSTransportServer). A client sends
 * GOAWAY only when it closes, because until then it may still send bodies and RST_STREAM. */
typedef struct connection_side {
    bool client;

    /* For servers. NULL for clients, and for a listener, of which only close, closed and release are called. */
    apns_h2_session *(*session_create)(connection *c, const apns_h2_session_options *options);

    /* Called for received bytes; passes them to apns_connection_take, at once or later. */
    void (*received)(connection *c, const uint8_t *bytes, size_t length);

    /* Called when the exchange of a request has new facts. */
    void (*changed)(connection *c, request *r);

    /* Called when the session is destroyed; ends all requests of the connection. */
    void (*requests_end)(connection *c, uint32_t scope, int64_t code);

    void (*closed)(connection *c); /* called when the socket is closed */

    /* The following functions may be NULL. Called when the connection is up; completes its event. text holds length
     * bytes and has room for capacity. */
    void (*introduce)(connection *c, event_node *node, char *text, size_t length, size_t capacity);

    /* Returns how many of the next length bytes may be sent (NULL: all); sent is called with the number that was
     * sent. */
    size_t (*sendable)(connection *c, size_t length);
    void (*sent)(connection *c, size_t length);

    /* Ends requests whose deadline has passed, and lowers t->next_deadline_ns to the earliest remaining one. */
    void (*expire)(connection *c);

    void (*farewell)(connection *c);       /* appends the final TLS message; NULL: close_notify */
    bool (*hangs_up)(const connection *c); /* whether to close without waiting for the peer */
    void (*close)(connection *c);          /* starts closing the socket; NULL: apns_reactor_close */
    void (*release)(connection *c);        /* frees the side's own state */
} connection_side;

extern const connection_side apns_connection_client_side;

/* Functions of a transport that listens. */
typedef struct transport_acceptor {
    void (*accepted)(apns_transport *t, const apns_reactor_event *event);
    void (*received_fill)(apns_transport *t, apns_transport_poll_io *io);
    void (*destroy)(apns_transport *t);
} transport_acceptor;

struct connection {
    apns_transport *transport;
    const connection_side *side; /* NULL for a free slot */
    uint64_t id;
    uint64_t context;
    apns_reactor_socket socket;
    uint32_t generation;
    uint8_t state; /* enum connection_state */
    bool dirty;    /* in t->dirty, the list of connections to flush */
    bool draining; /* takes no new requests */
    bool goaway_received;
    bool goaway_sent;
    bool settings_lost; /* a SETTINGS event is due, but there was no room for it */
    bool peer_closed;   /* close_notify received: can close once our own was sent */
    uint32_t goaway_code;
    int32_t goaway_last; /* last-stream-id, valid if goaway_received */
    tunnel *tunnel;      /* only while TUNNELING */
    apns_tls_session *tls;
    apns_h2_session *h2;
    apns_h2_header_set *shared;
    apns_h2_output plain;
    apns_tls_output fill; /* ciphertext not yet given to the reactor; bytes NULL if there is none */
    uint8_t *flight;      /* ciphertext in the reactor's send operation, or NULL */
    uint8_t *secret; /* whichever of fill and flight contains a proxy password, or NULL; wiped when it is released */
    request *first;  /* requests without a completion; on a server, streams that are not closed */
    request *last;
    uint32_t unreturned; /* number of completions not yet returned */
    uint32_t events;     /* number of events not yet returned */
    uint32_t streams_max;
    int32_t handed_stream; /* highest stream whose HEADERS were passed to the reactor, after the hand-over */
    uint64_t deadline_ns;  /* of connecting, leaving, or a GOAWAY; UINT64_MAX for none */
    connection *dirty_next;
    connection *closed_next;
    event_node *down;     /* preallocated for the last event */
    event_node *settings; /* the event not yet returned, which a later change updates, or NULL */
    event_node *pong;     /* likewise */
    void *own;            /* state of the side */
};

static inline bool connection_is_listener(const connection *c) {
    return !c->side->client && c->side->session_create == NULL;
}

typedef struct request_queue {
    request *first;
    request **last;
} request_queue;

/* A free list of buffers of one size. */
typedef struct buffer buffer;
typedef struct buffer_list {
    buffer *first;
    size_t bytes; /* size of each buffer */
} buffer_list;

typedef struct tls_entry {
    apns_tls_context *context; /* NULL for a free number */
    const apns_tls_role *role;
} tls_entry;

struct apns_transport {
    apns_reactor *reactor;
    const transport_ground *ground;
    const transport_acceptor *acceptor; /* NULL if the transport does not listen */
    void *acceptor_state;
    apns_h2_memory *memory;
    apns_h2_pool *pool;
    connection *slots;
    uint32_t slot_count;
    uint32_t *slots_free; /* stack of slot numbers */
    uint32_t slots_free_count;
    apns_transport_options options;
    apns_h2_field captures[APNS_H2_CAPTURES_MAX];
    char *capture_names;
    apns_h2_header_set **header_sets;
    tls_entry tls[TLS_CONTEXTS_MAX];
    uint32_t tls_count;
    uint8_t *tunnel_request; /* CONNECT request, or NULL for no proxy */
    uint32_t tunnel_request_length;
    uint64_t now_ns;           /* loop time minus stood_ns; see apns_transport_look */
    uint64_t looked_ns;        /* loop time of the last apns_transport_look */
    uint64_t asleep_ns;        /* maximum time that the wait since then was meant to take */
    uint64_t stood_ns;         /* total time in which this process did not run */
    int32_t loop_error;        /* errno of a failure of the loop itself, or 0 */
    uint64_t next_deadline_ns; /* no deadline is earlier than this */
    connection *dirty;
    connection *closed;
    request_queue completions;
    request_queue received;
    apns_h2_message *messages; /* messages that the last poll returned */
    event_node *events_first;  /* not yet returned */
    event_node **events_last;
    event_node *events_returned; /* returned by the last poll */
    event_node *events_free;
    buffer_list plain_buffers; /* plaintext of one record */
    buffer_list send_buffers;  /* send_buffer_max + SEND_BUFFER_SLACK */
    bool woken;
    apns_transport_statistics statistics;
    uint8_t decrypted[2 * APNS_TLS_RECORD_PLAIN_MAX];
    apns_reactor_event reactor_events[REACTOR_EVENTS_MAX];
};

/* transport.c: like apns_transport_create, with another loop and TLS. ground: borrowed until apns_transport_destroy;
 * context: passed to ground->reactor_open. */
int apns_transport_open_with(const transport_ground *ground, void *context, const apns_transport_options *options,
                             apns_transport **out, apns_error *error);

/* transport.c: like apns_transport_tls_create, for the given role. */
int apns_transport_tls_add(apns_transport *t, const apns_tls_role *role, const apns_transport_tls_options *options,
                           apns_error *error);

/* transport.c: returns the TLS context with this number and role, or NULL. */
apns_tls_context *apns_transport_tls_find(const apns_transport *t, int32_t number, const apns_tls_role *role);

/* ---- transport_lists.c */

/* A queue of requests, linked through queue_next. A request is in at most one queue. pop returns NULL if the queue is
 * empty. */
void apns_transport_request_queue_init(request_queue *queue);
void apns_transport_request_queue_push(request_queue *queue, request *r);
request *apns_transport_request_queue_pop(request_queue *queue);

/* Appends a request to the list of a connection, or removes it. Removal leaves r->connection unchanged. */
void apns_transport_request_link(connection *c, request *r);
void apns_transport_request_unlink(connection *c, request *r);

/* ---- transport_event.c */

/* Returns a cleared event node, owned by the caller until it calls give (NULL allowed), or NULL if there is no
 * memory. */
event_node *apns_transport_event_node_take(apns_transport *t);
void apns_transport_event_node_give(apns_transport *t, event_node *node);

/* Frees all nodes, whatever list they are in. */
void apns_transport_event_nodes_free(apns_transport *t);

/* Adds an event of a connection and returns its node for the caller to complete. Returns NULL if
 * EVENTS_PER_CONNECTION_MAX events are waiting or there is no memory. */
event_node *apns_transport_event_add(connection *c, uint32_t kind);

/* Copies at most EVENT_DETAIL_BYTES_MAX bytes of a detail into the node. */
void apns_transport_event_detail_set(event_node *node, const void *bytes, size_t length);

/* Releases the nodes that the last poll returned. */
void apns_transport_events_release(apns_transport *t);

/* ---- transport_slot.c */

/* Returns the connection or listener with this identity, in any state, or NULL. */
connection *apns_transport_slot_find(const apns_transport *t, uint64_t id);

/* Returns a cleared slot with a new identity and the node of its last event, or NULL if all slots are in use or there
 * is no memory. */
connection *apns_transport_slot_take(apns_transport *t, const connection_side *side);

/* Frees a slot. The requests, buffers and sessions of the connection must have been released. */
void apns_transport_slot_give(connection *c);

/* ---- transport_connection.c: connect, handshake, end. On failure the functions below end the connection themselves,
 * so that callers must check its state afterwards. */

/* Changes the state of a connection; no other code does. Traps if the transition is not allowed. */
void apns_connection_state_set(connection *c, enum connection_state state);

/* Called when the TCP connect has succeeded or failed; continues with the proxy or with TLS. */
void apns_connection_connected(connection *c, const apns_reactor_event *event);

/* Called when the reactor has closed the socket; puts the connection into t->closed until its last event is returned.
 * Not for listeners. */
void apns_connection_closed(connection *c);

/* Continues the TLS handshake and creates the HTTP/2 session when it is complete. Advances input by what was
 * consumed. */
void apns_connection_handshake(connection *c, apns_tls_input *input);

/* Returns the enum apns_transport_stage of a connection. */
uint32_t apns_connection_stage(const connection *c);

/* Ends a connection; later calls have no effect, so that the first reason is reported. All its requests get their
 * completions. polite: sends pending frames, GOAWAY and close_notify, and gives the peer time to close. text: copied.
 */
void apns_connection_end(connection *c, uint32_t scope, int64_t code, const char *text, bool polite);

/* Like apns_connection_end, with the error that TLS or the HTTP/2 session has recorded. */
void apns_connection_end_tls(connection *c);
void apns_connection_end_h2(connection *c);

/* Sends GOAWAY, unless that was done before. */
void apns_connection_goaway(connection *c);

/* Starts closing the socket at once. */
void apns_connection_close(connection *c);

/* Closes a connection that takes no new requests and has none left. */
void apns_connection_drained_check(connection *c);

/* Sets the connection's deadline, after_ms from now. */
void apns_connection_deadline_set(connection *c, uint64_t after_ms);

/* ---- transport_tunnel.c: state TUNNELING */

/* Sends the CONNECT request to the proxy. */
void apns_connection_tunnel(connection *c);

/* Processes bytes of the proxy's response and starts TLS after a 2xx. */
void apns_connection_tunnel_received(connection *c, apns_tls_input *input);

/* Called when the proxy has closed the connection. */
void apns_connection_tunnel_ended(connection *c);

/* Frees the received part of the response. */
void apns_connection_tunnel_drop(connection *c);

/* Wipes and frees the CONNECT request, which may contain a password. */
void apns_transport_tunnel_request_clear(apns_transport *t);

/* ---- transport_receive.c */

/* Processes all received bytes. Does nothing from state LEAVING on. */
void apns_connection_take(connection *c, const uint8_t *bytes, size_t length);

/* Handles a receive event: bytes, end of stream, or an error. */
void apns_connection_received(connection *c, const apns_reactor_event *event);

/* Handles the facts that the session has recorded. Must be called after every call of the session that may record some;
 * c->h2 may be NULL afterwards. */
void apns_connection_collect(connection *c);

/* ---- transport_send.c */

/* Adds a connection to the list of those that are flushed before the next wait, unless it is closing. */
void apns_connection_dirty(connection *c);

/* Removes a connection from that list, because its slot may be reused before the next flush. */
void apns_connection_clean(connection *c);

/* Make sure that the connection has a buffer for ciphertext, or for plaintext; return false if there is no memory. */
bool apns_connection_output_ready(connection *c);
bool apns_connection_plain_ready(connection *c);

/* Encrypts what the session has to send, and gives it to the reactor unless a send is under way. */
void apns_connection_flush(connection *c);

/* Handles the completion of the reactor's send operation. */
void apns_connection_sent(connection *c, const apns_reactor_event *event);

/* Frees the buffers in a free list. */
void apns_transport_buffers_free(buffer_list *list);

/* send_buffers_drop releases the buffers being filled; flight_give releases the one that the reactor was sending. */
void apns_connection_send_buffers_drop(connection *c);
void apns_connection_flight_give(connection *c);

/* Encrypts the gathered plaintext as one record; returns nonzero if TLS failed. Used as flush function of the session's
 * output; context is the connection. */
int apns_connection_encrypt(void *context);

/* ---- transport_client.c */

/* Ends an open request: removes it from its connection and queues its completion. */
void apns_transport_client_finish(apns_transport *t, request *r, uint32_t delivery, uint32_t scope, int64_t code);

/* ---- transport_poll.c */

/* Reads the clock of the loop and sets t->now_ns, which excludes time in which this process did not run. */
void apns_transport_look(apns_transport *t);

/* Sends what is waiting to be sent, waits at most timeout_ns for events of the reactor, and handles them. Returns their
 * number, or the negative errno of the loop. No deadline takes effect. */
int apns_transport_step(apns_transport *t, uint64_t timeout_ns);

/* Returns a request to the pool. */
void apns_transport_request_give(apns_transport *t, request *r);

/* Detaches the message of a request, which must have one, and keeps it readable until the next poll. */
const apns_h2_message *apns_transport_message_return(apns_transport *t, request *r);
