/*
 * Shared by the files of CAPNSTransport.
 *
 * Ownership. A connection owns its sessions, its buffers and its list of requests; the transport owns everything else,
 * the slots among it. A request is in its connection's list until its outcome is known, then in t->outcomes (a
 * server's: in t->received while it waits to be returned); its exchange is the session's in between, until that shows
 * APNS_H2_CLOSED or is abandoned or destroyed.
 *
 * Order. Whatever ends a connection goes through apns_connection_end (LEAVING: session gone, requests ended), then
 * apns_connection_close (CLOSING: the reactor closes the socket), then apns_connection_closed (CLOSED: joined), and its
 * slot is given back with the event DOWN. A function that calls into the session must call apns_connection_collect
 * before it returns to the poll, and may find the connection ended by it.
 */
#ifndef APNS_BATCH_TRANSPORT_INTERNAL_H
#define APNS_BATCH_TRANSPORT_INTERNAL_H

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
    EVENTS_PER_CONNECTION_MAX = 16, /* waiting to be returned; further GOAWAYs are passed over */
    LEAVE_MS_MAX = 500,             /* how long a closing connection waits for the peer to close */
    GOAWAY_MS_MAX = 100,            /* how long a client without requests waits for what follows a GOAWAY */
};

/* Room in a send buffer beyond send_buffer_max: the record that passes the mark, the rest of the frame being written
 * (two records), one more for what is left at the end of a pump, and one for alerts and key updates. */
enum { SEND_BUFFER_SLACK = 5 * (APNS_TLS_RECORD_PLAIN_MAX + 256) };

typedef struct connection connection;
typedef struct tunnel tunnel;

/* One stream: the client's request or the server's. Memory of an apns_h2_pool. */
typedef struct request {
    apns_h2_exchange exchange; /* first: the pool deals in exchanges */
    connection *connection;
    struct request *next; /* of the connection, in order of submission or arrival */
    struct request *previous;
    struct request *queue_next; /* of the queue it waits in */
    uint64_t connection_id;
    uint64_t ticket;
    uint64_t submitted_ns;
    int64_t code;
    uint8_t *response_body; /* server: the copy being sent */
    uint32_t latency_us;
    uint8_t delivery;
    uint8_t scope;
    uint8_t state; /* enum request_state */
    uint8_t reserved;
} request;

enum request_state {
    REQUEST_NEW = 0,       /* server: not yet in its connection's list; every free slot is in this state */
    REQUEST_OPEN = 1,      /* client: no outcome yet; server: not complete */
    REQUEST_ENDED = 2,     /* client: outcome known, waits to be returned */
    REQUEST_QUEUED = 3,    /* server: complete, waits to be returned */
    REQUEST_RECEIVED = 4,  /* server: returned, no answer yet */
    REQUEST_RESPONDED = 5, /* server: answered */
    REQUEST_GONE = 6,      /* server: its stream or connection went while it was queued */
};

typedef struct event_node {
    struct event_node *next;
    apns_transport_event event;
    char detail[EVENT_DETAIL_BYTES_MAX];
} event_node;

/* A connection goes through these from top to bottom, skipping some. */
enum connection_state {
    CONNECTION_CONNECTING = 0, /* TCP */
    CONNECTION_TUNNELING,      /* waiting for a proxy's answer */
    CONNECTION_HANDSHAKING,    /* TLS */
    CONNECTION_SETTLING,       /* waiting for the peer's first SETTINGS */
    CONNECTION_UP,
    CONNECTION_LEAVING, /* its end is known; says goodbye and waits for the peer to close */
    CONNECTION_CLOSING, /* apns_reactor_close called */
    CONNECTION_CLOSED,  /* joined: the event DOWN is due once all outcomes are returned */
};

/* What a transport stands on: the kernel's loops and OpenSSL, or what a simulation brings. */
typedef struct transport_ground {
    int (*reactor_open)(void *context, const apns_reactor_options *options, apns_reactor **out);
    int (*tls_create)(const apns_tls_role *role, const apns_tls_context_options *options, apns_tls_context **out,
                      apns_error *error);
    bool stepped; /* the reactor never sleeps: apns_transport_poll returns where another would wait */
} transport_ground;

/* What the connections of clients and those of servers (in CAPNSTransportServer) do differently. A client says GOAWAY
 * when it closes, for until then it may still send bodies and resets. */
typedef struct connection_side {
    bool client;

    /* NULL: a listener's side, of which only close, closed and release are called. */
    apns_h2_session *(*session_create)(connection *c, const apns_h2_session_options *options);

    /* Bytes have come: gives them to apns_connection_take, now or later. */
    void (*received)(connection *c, const uint8_t *bytes, size_t length);

    /* The session has new facts about a stream. */
    void (*changed)(connection *c, request *r);

    /* The session is gone: ends all requests of the connection. */
    void (*requests_end)(connection *c, uint32_t scope, int64_t code);

    void (*closed)(connection *c); /* the socket is closed */

    /* The rest may be NULL. The connection is up: completes its event, which has a text of length bytes of capacity. */
    void (*introduce)(connection *c, event_node *node, char *text, size_t length, size_t capacity);

    /* How many of the next length bytes may be sent (NULL: all), and that so many were. */
    size_t (*sendable)(connection *c, size_t length);
    void (*sent)(connection *c, size_t length);

    /* The caller wants no new request on this connection. */
    void (*drain)(connection *c);

    /* Gives up what waited too long; lowers the transport's next deadline to that of the others. */
    void (*expire)(connection *c);

    void (*farewell)(connection *c);       /* appends the last word of TLS; NULL: close_notify */
    bool (*hangs_up)(const connection *c); /* closes without waiting for the peer */
    void (*close)(connection *c);          /* begins closing the socket; NULL: apns_reactor_close */
    void (*release)(connection *c);        /* frees what is its own */
} connection_side;

extern const connection_side apns_connection_client_side;

/* What a transport that listens does besides. */
typedef struct transport_acceptor {
    void (*accepted)(apns_transport *t, const apns_reactor_event *event);
    void (*received_fill)(apns_transport *t, apns_transport_poll_io *io);
    void (*destroy)(apns_transport *t);
} transport_acceptor;

struct connection {
    apns_transport *transport;
    const connection_side *side; /* NULL: a free slot */
    uint64_t id;
    uint64_t context;
    apns_reactor_socket socket;
    uint32_t generation;
    uint8_t state; /* enum connection_state */
    bool dirty;    /* in the list of connections to flush */
    bool draining; /* takes no new request */
    bool goaway_received;
    bool goaway_sent;
    bool settings_lost; /* there was no room to say that the peer's limit changed */
    bool peer_closed;   /* close_notify received: nothing more to wait for once ours is sent */
    uint32_t goaway_code;
    int32_t goaway_last; /* the last stream that the server may process; with goaway_received */
    tunnel *tunnel;      /* while TUNNELING */
    apns_tls_session *tls;
    apns_h2_session *h2;
    apns_h2_header_set *shared;
    apns_h2_output plain;
    apns_tls_output fill; /* ciphertext waiting; bytes NULL while there is none */
    uint8_t *flight;      /* ciphertext that the reactor is sending, or NULL */
    uint8_t *secret;      /* that of the two with a proxy's password, or NULL: it is wiped when it is given back */
    request *first;       /* requests without an outcome; on a server, streams not closed */
    request *last;
    uint32_t unreturned; /* outcomes known and not yet returned */
    uint32_t events;     /* events waiting to be returned */
    uint32_t streams_max;
    int32_t handed_stream; /* the highest stream whose HEADERS were handed to the reactor */
    uint64_t deadline_ns;  /* connecting, leaving or after a GOAWAY; UINT64_MAX for none */
    connection *dirty_next;
    connection *closed_next;
    event_node *down;     /* kept for the last event */
    event_node *settings; /* waiting to be returned: a later change is put into it */
    event_node *pong;     /* the same */
    void *own;            /* of the side */
};

static inline bool connection_is_listener(const connection *c) {
    return c->side->session_create == NULL;
}

typedef struct request_queue {
    request *first;
    request **last;
} request_queue;

/* Buffers of one size that are kept for reuse. */
typedef struct buffer buffer;
typedef struct buffer_list {
    buffer *first;
    size_t bytes; /* of each */
} buffer_list;

typedef struct tls_entry {
    apns_tls_context *context; /* NULL: a free number */
    const apns_tls_role *role;
} tls_entry;

struct apns_transport {
    apns_reactor *reactor;
    const transport_ground *ground;
    const transport_acceptor *acceptor; /* NULL: does not listen */
    void *acceptor_state;
    apns_h2_memory *memory;
    apns_h2_pool *pool;
    connection *slots;
    uint32_t slot_count;
    uint32_t *slots_free; /* stack of indices */
    uint32_t slots_free_count;
    apns_transport_options options;
    apns_h2_field captures[APNS_H2_CAPTURES_MAX];
    char *capture_names;
    apns_h2_header_set **header_sets;
    tls_entry tls[TLS_CONTEXTS_MAX];
    uint32_t tls_count;
    uint8_t *tunnel_request; /* NULL without a proxy */
    uint32_t tunnel_request_length;
    uint64_t now_ns;    /* the loop's time without that in which this process stood still; see apns_transport_look */
    uint64_t looked_ns; /* the loop's time at the last look */
    uint64_t asleep_ns; /* how long a wait since then was meant to take at most */
    uint64_t stood_ns;  /* how long this process stood still so far */
    int32_t loop_error; /* errno of the loop's own failure, or 0 */
    uint64_t next_deadline_ns; /* no deadline is earlier */
    connection *dirty;
    connection *closed;
    request_queue outcomes;
    request_queue received;
    apns_h2_message *messages; /* of what the last poll returned */
    event_node *events_first;  /* waiting */
    event_node **events_last;
    event_node *events_returned; /* returned last */
    event_node *events_free;
    buffer_list plain_buffers; /* of one record's plaintext */
    buffer_list send_buffers;  /* of send_buffer_max and slack */
    bool woken;
    apns_transport_statistics statistics;
    uint8_t decrypted[2 * APNS_TLS_RECORD_PLAIN_MAX];
    apns_reactor_event reactor_events[REACTOR_EVENTS_MAX];
};

/* transport.c: as apns_transport_create, on another ground. ground: borrowed until apns_transport_destroy; context: its
 * own. */
int apns_transport_open_with(const transport_ground *ground, void *context, const apns_transport_options *options,
                             apns_transport **out, apns_error *error);

/* transport.c: as apns_transport_tls_create, for a role. */
int apns_transport_tls_add(apns_transport *t, const apns_tls_role *role, const apns_transport_tls_options *options,
                           apns_error *error);

/* transport.c: the context of a number for a role, or NULL. */
apns_tls_context *apns_transport_tls_find(const apns_transport *t, int32_t number, const apns_tls_role *role);

/* ---- transport_lists.c */

/* A queue of requests through queue_next; a request is in one at most. pop returns NULL when it is empty. */
void apns_transport_request_queue_init(request_queue *queue);
void apns_transport_request_queue_push(request_queue *queue, request *r);
request *apns_transport_request_queue_pop(request_queue *queue);

/* Puts a request at the end of its connection's list, and takes it out again. r->connection stays as it is. */
void apns_transport_request_link(connection *c, request *r);
void apns_transport_request_unlink(connection *c, request *r);

/* ---- transport_event.c */

/* A cleared node, owned by the caller until it is given back (NULL allowed). NULL when memory is short. */
event_node *apns_transport_event_node_take(apns_transport *t);
void apns_transport_event_node_give(apns_transport *t, event_node *node);

/* Frees all nodes: waiting, returned and free ones. */
void apns_transport_event_nodes_free(apns_transport *t);

/* Adds an event of a connection, to be completed by the caller. NULL when many wait already or memory is short. */
event_node *apns_transport_event_add(connection *c, uint32_t kind);

/* Copies the beginning of a detail into the node. */
void apns_transport_event_detail_set(event_node *node, const void *bytes, size_t length);

/* Gives back the nodes that the last poll returned. */
void apns_transport_events_release(apns_transport *t);

/* ---- transport_slot.c */

/* The connection or listener of an identity, in any state; NULL when its slot is free or another's. */
connection *apns_transport_slot_find(const apns_transport *t, uint64_t id);

/* A cleared slot with an identity of its own and the node of its last event. NULL when all are taken or memory is
 * short. */
connection *apns_transport_slot_take(apns_transport *t, const connection_side *side);

/* Frees a slot. Requests, buffers and sessions of the connection must be gone. */
void apns_transport_slot_give(connection *c);

/* ---- transport_connection.c: from the TCP connection to its end. Functions below that find a failure end the
 * connection themselves: look at its state after them. */

/* The one way to change a connection's state. Traps where that may not follow. */
void apns_connection_state_set(connection *c, enum connection_state state);

/* TCP is connected, or failed: goes on with the tunnel or with TLS. */
void apns_connection_connected(connection *c, const apns_reactor_event *event);

/* The reactor has let go of the socket: the connection waits in t->closed for its last event. Not for listeners. */
void apns_connection_closed(connection *c);

/* Goes on with TLS, and makes the session of HTTP/2 when that is done. input: consumed as far as it is needed. */
void apns_connection_handshake(connection *c, apns_tls_input *input);

/* An enum transport_stage. */
uint32_t apns_connection_stage(const connection *c);

/* Ends a connection; the first reason counts. All its requests get their outcomes. polite: what is still to be said is
 * sent, and the peer has a moment to close. text: copied. */
void apns_connection_end(connection *c, uint32_t scope, int64_t code, const char *text, bool polite);

/* The same with the reason that TLS, or the session, has recorded. */
void apns_connection_end_tls(connection *c);
void apns_connection_end_h2(connection *c);

/* Begins closing the socket, at once. */
void apns_connection_close(connection *c);

/* Closes a connection that takes no more requests and has none left. */
void apns_connection_drained_check(connection *c);

/* Replaces the connection's deadline. */
void apns_connection_deadline_set(connection *c, uint64_t after_ms);

/* ---- transport_tunnel.c: state TUNNELING */

/* Asks the proxy. */
void apns_connection_tunnel(connection *c);

/* Takes bytes of the proxy's answer, and begins TLS behind a good one. */
void apns_connection_tunnel_received(connection *c, apns_tls_input *input);

/* The proxy closed the connection. */
void apns_connection_tunnel_ended(connection *c);

/* Frees what was kept of an answer. */
void apns_connection_tunnel_drop(connection *c);

/* Wipes and frees the request to proxies, in which a password may stand. */
void apns_transport_tunnel_request_clear(apns_transport *t);

/* ---- transport_receive.c */

/* Takes bytes received, all of them, in any state before LEAVING; later they are passed over. */
void apns_connection_take(connection *c, const uint8_t *bytes, size_t length);

/* Bytes, an end of stream or an error has come from the reactor. */
void apns_connection_received(connection *c, const apns_reactor_event *event);

/* Looks at what the session has recorded, and decides. After each call of the session that may call back; c->h2 may be
 * NULL afterwards. */
void apns_connection_collect(connection *c);

/* ---- transport_send.c */

/* Puts a connection into the list of those to flush before the next wait, unless it is there or closing. */
void apns_connection_dirty(connection *c);

/* Takes it out again: its slot may be another's before that is looked at. */
void apns_connection_clean(connection *c);

/* Makes sure that there is a buffer for ciphertext, or for plaintext; false when memory is short. */
bool apns_connection_output_ready(connection *c);
bool apns_connection_plain_ready(connection *c);

/* Turns what the session has to send into records, and hands them to the reactor unless a send is under way. */
void apns_connection_flush(connection *c);

/* The reactor has sent c->flight, or failed to. */
void apns_connection_sent(connection *c, const apns_reactor_event *event);

/* Frees the buffers that were given back. */
void apns_transport_buffers_free(buffer_list *list);

/* Gives back the buffers being filled. That of the reactor stays until apns_connection_flight_give. */
void apns_connection_send_buffers_drop(connection *c);
void apns_connection_flight_give(connection *c);

/* Turns the plaintext gathered into one record; not 0 when TLS failed. The session's flush: context is a connection. */
int apns_connection_encrypt(void *context);

/* ---- transport_client.c */

/* Knows the outcome of an open request: it leaves its connection and waits to be returned. */
void apns_transport_client_finish(apns_transport *t, request *r, uint32_t delivery, uint32_t scope, int64_t code);

/* ---- transport_poll.c */

/* Reads the loop's clock into t->now_ns, without the time in which this process stood still. */
void apns_transport_look(apns_transport *t);

/* Gives a request back to the pool. */
void apns_transport_request_give(apns_transport *t, request *r);

/* Takes the message off a request that has one: it stays readable until the next poll. */
const apns_h2_message *apns_transport_message_return(apns_transport *t, request *r);

#endif
