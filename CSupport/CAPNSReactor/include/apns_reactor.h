/*
 * reactor: the event loop. The only place in the core that touches the kernel: the clock, readiness and every byte come
 * through this interface, so that a simulated back end (virtual time, seeded network) can stand in for io_uring or
 * epoll.
 *
 * Model. The caller starts operations and then asks apns_reactor_wait for an array of event records. Completions are
 * all collected first and handed over together; there are no callbacks.
 *
 * Sockets. A socket is a slot with a generation, never a descriptor; an event for a slot that has been reused carries
 * the old generation and can be told apart. Closing goes begin, join, finish: apns_reactor_close begins, the kernel's
 * last operation on the socket is waited for, and APNS_REACTOR_CLOSED finishes. Until then no buffer given to
 * apns_reactor_send may be freed.
 *
 * Threads. A reactor belongs to the thread that made it. Only apns_reactor_wake may be called from another.
 *
 * Limits. Sockets and receive buffers are fixed at creation; nothing grows afterwards.
 *
 * Errors. Functions return 0 or a negative errno value. Errors of the peer or the network arrive as events.
 */
#ifndef APNS_BATCH_REACTOR_H
#define APNS_BATCH_REACTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

typedef struct apns_reactor apns_reactor;

/* Slot in the low half, generation in the high half. Zero is never a socket. */
typedef uint64_t apns_reactor_socket;

enum apns_reactor_backend {
    /* io_uring, or epoll where io_uring cannot be had (EPERM, ENOSYS, ENOMEM, too old) */
    APNS_REACTOR_BACKEND_AUTO = 0,
    APNS_REACTOR_BACKEND_IO_URING = 1,
    APNS_REACTOR_BACKEND_EPOLL = 2,
    /* never asked for here: a table of functions given to apns_reactor_open_with */
    APNS_REACTOR_BACKEND_OTHER = 3,
    /* io_uring without anything newer than Linux 5.19: for tests, to compare */
    APNS_REACTOR_BACKEND_IO_URING_PLAIN = 4,
};

typedef struct apns_reactor_options {
    uint32_t backend;              /* enum apns_reactor_backend */
    uint32_t sockets_max;          /* connected and listening sockets together */
    uint32_t receive_buffer_bytes; /* size of one receive buffer */
    uint32_t receive_buffer_count; /* how many; a power of two, at most 32,768. io_uring goes through all of them in
                                      turn, so no more than are needed keeps them in the cache */
} apns_reactor_options;
_Static_assert(sizeof(apns_reactor_options) == 16, "fixed layout");

enum apns_reactor_event_kind {
    APNS_REACTOR_CONNECTED = 1, /* socket: the connection; error: 0 or errno (then call apns_reactor_close) */
    /* socket: the new connection, with the listener's context as its own; or error: errno, then socket is 0 and the
     * listener, out of descriptors or memory, tries again by itself */
    APNS_REACTOR_ACCEPTED = 2,
    APNS_REACTOR_RECEIVED = 3, /* bytes, length; length 0 with error 0: end of stream; error: errno */
    APNS_REACTOR_SENT = 4,     /* the whole buffer of apns_reactor_send was taken by the kernel, or error: errno */
    APNS_REACTOR_CLOSED = 5,   /* the last word about this socket: slot and buffers are free again */
    APNS_REACTOR_WOKEN = 6,    /* one or more calls of apns_reactor_wake since the last wait */
};

typedef struct apns_reactor_event {
    uint64_t socket;      /* apns_reactor_socket */
    uint64_t context;     /* the value given at connect or listen; see apns_reactor_context_set */
    const uint8_t *bytes; /* RECEIVED: valid until next call of apns_reactor_wait on this reactor */
    uint32_t length;      /* RECEIVED: bytes; SENT: bytes sent in all */
    int32_t error;        /* errno, or 0 */
    uint32_t kind;        /* enum apns_reactor_event_kind */
    uint32_t reserved;
} apns_reactor_event;
_Static_assert(sizeof(apns_reactor_event) == 40, "fixed layout");

typedef struct apns_reactor_wait_options {
    uint64_t timeout_ns; /* how long to wait for a first event; 0: do not wait; UINT64_MAX: without limit */
    uint64_t linger_ns;  /* how long, from the call, to let completions gather up to batch_min before returning: some
                            milliseconds, for apns_reactor_wake need not cut it short */
    uint32_t batch_min;  /* 0 or 1: return at the first event. UINT32_MAX: gather for the whole linger_ns, as epoll does
                            with any number */
    uint32_t reserved;
} apns_reactor_wait_options;
_Static_assert(sizeof(apns_reactor_wait_options) == 24, "fixed layout");

/* Makes a reactor. options: borrowed until return. On failure *out is NULL and nothing is left behind. With
 * APNS_REACTOR_BACKEND_IO_URING a refusal is returned as it is (-EPERM, -ENOSYS). */
int apns_reactor_create(const apns_reactor_options *options, apns_reactor **out);

/* Frees a reactor (NULL is allowed). Sockets still open are closed and joined first, without further events. */
void apns_reactor_destroy(apns_reactor *r);

/* The back end that runs: APNS_REACTOR_BACKEND_IO_URING, APNS_REACTOR_BACKEND_EPOLL or APNS_REACTOR_BACKEND_OTHER. */
uint32_t apns_reactor_backend_kind(const apns_reactor *r);

/* Where APNS_REACTOR_BACKEND_AUTO was asked for and io_uring cannot be had: its errno; else 0. */
int apns_reactor_refusal(const apns_reactor *r);

/* Monotonic time in nanoseconds, read anew. */
uint64_t apns_reactor_now_ns(apns_reactor *r);

/* Connections started from now on end with ETIMEDOUT when bytes sent, or the attempt to connect, stay without an
 * acknowledgement for so long (TCP_USER_TIMEOUT, tcp(7)). 0: as long as the kernel likes, some 15 minutes. */
void apns_reactor_user_timeout_set(apns_reactor *r, uint32_t milliseconds);

/* Starts a TCP connection (TCP_NODELAY, non-blocking). address: borrowed until return. The outcome is an event
 * APNS_REACTOR_CONNECTED; receiving starts by itself once connected. */
int apns_reactor_connect(apns_reactor *r, const struct sockaddr *address, socklen_t address_length, uint64_t context,
                         apns_reactor_socket *out);

/* Listens (SO_REUSEADDR). Port 0 lets the kernel choose: see apns_reactor_local_port. Every accepted connection is a
 * APNS_REACTOR_ACCEPTED event and receives by itself. Accepting pauses by itself while all slots are taken. */
int apns_reactor_listen(apns_reactor *r, const struct sockaddr *address, socklen_t address_length, uint32_t backlog,
                        uint64_t context, apns_reactor_socket *out);

/* The local port of a socket, in host order; or a negative errno. */
int apns_reactor_local_port(apns_reactor *r, apns_reactor_socket socket);

/* Replaces the context carried by the socket's events. -EBADF: not a socket, or closing. */
int apns_reactor_context_set(apns_reactor *r, apns_reactor_socket socket, uint64_t context);

/* Sends a buffer whole, however many short writes that takes. One send at a time per socket: -EBUSY while one is under
 * way; -ENOTCONN before APNS_REACTOR_CONNECTED. bytes: borrowed until the socket's APNS_REACTOR_SENT or
 * APNS_REACTOR_CLOSED event; length: 1 to 2^31 - 1. Nothing is handed to the kernel before the next apns_reactor_wait,
 * unless more is started than one submission holds. No signal is raised. */
int apns_reactor_send(apns_reactor *r, apns_reactor_socket socket, const uint8_t *bytes, size_t length);

/* Begins closing. No later apns_reactor_wait returns an event but APNS_REACTOR_CLOSED for this socket, and that one
 * always comes (others may still stand further on in the array being read). A send under way is given up; call it after
 * APNS_REACTOR_SENT to close in order. */
int apns_reactor_close(apns_reactor *r, apns_reactor_socket socket);

/* As apns_reactor_close, but the peer gets a TCP RST instead of a FIN: for servers that misbehave on purpose. */
int apns_reactor_reset(apns_reactor *r, apns_reactor_socket socket);

/* From any thread: makes the current or the next apns_reactor_wait return with APNS_REACTOR_WOKEN. Cheap to call often.
 */
void apns_reactor_wake(apns_reactor *r);

/* Submits what was started, waits, and fills up to capacity events (borrowed until return). Returns how many, 0 at the
 * time limit, or a negative errno for a failure of the loop itself (never for a peer's). Events that do not fit stay
 * for the next call. Receive buffers handed out by the previous call go back to the kernel here. EINTR is not an error:
 * returns what there is. */
int apns_reactor_wait(apns_reactor *r, const apns_reactor_wait_options *options, apns_reactor_event *events,
                      uint32_t capacity);

#endif
