/*
 * reactor: the event loop. All system calls of the core for sockets and time are behind this interface, so that a
 * simulation (virtual time, seeded network) can replace io_uring and epoll.
 *
 * Model. The caller starts operations and calls apns_reactor_wait, which fills an array of events. There are no
 * callbacks.
 *
 * Sockets. A socket is a slot with a generation, not a descriptor; an event of a socket whose slot was reused carries
 * the old generation and can be recognized. apns_reactor_close starts closing; once the kernel has completed the last
 * operation on the socket, APNS_REACTOR_CLOSED is returned. Until then a buffer given to apns_reactor_send must not be
 * freed.
 *
 * Threads. A reactor may be used only by the thread that created it. The exception is apns_reactor_wake, which any
 * thread may call.
 *
 * Limits. The numbers of sockets and receive buffers are fixed at creation.
 *
 * Errors. Functions return 0 or a negative errno, unless stated otherwise. Errors of the peer or the network are
 * reported as events.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

typedef struct apns_reactor apns_reactor;

/* Identifies a socket: slot number in the low half, generation in the high half. 0 is never a socket. */
typedef uint64_t apns_reactor_socket;

enum apns_reactor_backend {
    /* io_uring, or epoll if io_uring is unavailable (EPERM, ENOSYS, ENOMEM, old kernel) */
    APNS_REACTOR_BACKEND_AUTO = 0,
    APNS_REACTOR_BACKEND_IO_URING = 1,
    APNS_REACTOR_BACKEND_EPOLL = 2,
    /* a table of functions given to apns_reactor_open_with; not allowed in apns_reactor_options */
    APNS_REACTOR_BACKEND_OTHER = 3,
    /* io_uring without features newer than Linux 5.19, for tests */
    APNS_REACTOR_BACKEND_IO_URING_PLAIN = 4,
};

typedef struct apns_reactor_options {
    uint32_t backend;              /* enum apns_reactor_backend */
    uint32_t sockets_max;          /* maximum number of connected and listening sockets together */
    uint32_t receive_buffer_bytes; /* size of one receive buffer */
    uint32_t receive_buffer_count; /* number of receive buffers; a power of two, at most 32,768. io_uring uses all of
                                      them in turn, so that a small number stays in the cache */
} apns_reactor_options;
_Static_assert(sizeof(apns_reactor_options) == 16, "fixed layout");

enum apns_reactor_event_kind {
    APNS_REACTOR_CONNECTED = 1, /* connect succeeded, or failed with error (then call apns_reactor_close) */
    /* a connection was accepted: socket is new and has the context of its listener. Or accepting failed (error: errno):
     * socket is 0, and the listener, which lacks descriptors or memory, tries again later */
    APNS_REACTOR_ACCEPTED = 2,
    APNS_REACTOR_RECEIVED = 3, /* bytes and length; length 0 with error 0: end of stream; or error */
    APNS_REACTOR_SENT = 4,     /* the kernel has taken the whole buffer of apns_reactor_send, or error */
    APNS_REACTOR_CLOSED = 5, /* last event of a socket: its slot is free, and its buffers belong to the caller again */
    APNS_REACTOR_WOKEN = 6,  /* apns_reactor_wake was called at least once since the last wait */
};

typedef struct apns_reactor_event {
    uint64_t socket;      /* apns_reactor_socket */
    uint64_t context;     /* given to connect or listen, or set with apns_reactor_context_set */
    const uint8_t *bytes; /* RECEIVED: valid until the next call of apns_reactor_wait on this reactor */
    uint32_t length;      /* RECEIVED: number of bytes; SENT: number of bytes sent in total */
    int32_t error;        /* errno, or 0 */
    uint32_t kind;        /* enum apns_reactor_event_kind */
    uint32_t reserved;
} apns_reactor_event;
_Static_assert(sizeof(apns_reactor_event) == 40, "fixed layout");

typedef struct apns_reactor_wait_options {
    uint64_t timeout_ns; /* maximum wait for a first event; 0: do not wait; UINT64_MAX: no limit */
    uint64_t linger_ns;  /* how long, from the call, completions may gather until there are batch_min of them; a few
                            milliseconds, because apns_reactor_wake need not end this time */
    uint32_t batch_min;  /* 0 or 1: return at the first event. UINT32_MAX: gather for the whole linger_ns, as epoll does
                            with any value above 1 */
    uint32_t reserved;
} apns_reactor_wait_options;
_Static_assert(sizeof(apns_reactor_wait_options) == 24, "fixed layout");

/* Creates a reactor, which belongs to the calling thread, and stores it in *out, to be freed with apns_reactor_destroy.
 * options: borrowed until return. Returns 0 or a negative errno, -EINVAL for options out of range; on failure *out is
 * NULL. APNS_REACTOR_BACKEND_IO_URING fails if io_uring is refused (-EPERM, -ENOSYS). */
int apns_reactor_create(const apns_reactor_options *options, apns_reactor **out);

/* Frees a reactor (NULL allowed). Sockets that are still open are closed first, without events, and outstanding kernel
 * operations are waited for. */
void apns_reactor_destroy(apns_reactor *r);

/* Returns the back end in use: APNS_REACTOR_BACKEND_IO_URING, APNS_REACTOR_BACKEND_EPOLL or
 * APNS_REACTOR_BACKEND_OTHER. */
uint32_t apns_reactor_backend_kind(const apns_reactor *r);

/* Returns the errno with which io_uring was refused, if APNS_REACTOR_BACKEND_AUTO fell back to epoll; otherwise 0. */
int apns_reactor_refusal(const apns_reactor *r);

/* Reads the clock: returns the monotonic time in nanoseconds. */
uint64_t apns_reactor_now_ns(apns_reactor *r);

/* Sets TCP_USER_TIMEOUT (tcp(7)) for connections started from now on: they end with ETIMEDOUT when sent bytes, or the
 * attempt to connect, are not acknowledged for this time. 0: the default of the kernel, about 15 minutes. */
void apns_reactor_user_timeout_set(apns_reactor *r, uint32_t milliseconds);

/* Starts a TCP connection (TCP_NODELAY) and stores its socket in *out. The result is the event APNS_REACTOR_CONNECTED,
 * after which received bytes are reported without further calls. address: borrowed until return. Returns 0 or a
 * negative errno, -ENOSPC if all slots are in use. */
int apns_reactor_connect(apns_reactor *r, const struct sockaddr *address, socklen_t address_length, uint64_t context,
                         apns_reactor_socket *out);

/* Listens on an address (SO_REUSEADDR) and stores the socket in *out. Port 0 lets the kernel choose: see
 * apns_reactor_local_port. Every accepted connection is an event APNS_REACTOR_ACCEPTED, after which received bytes are
 * reported. Accepting pauses while all slots are in use. address: borrowed until return. Returns 0 or a negative errno,
 * -ENOSPC if all slots are in use. */
int apns_reactor_listen(apns_reactor *r, const struct sockaddr *address, socklen_t address_length, uint32_t backlog,
                        uint64_t context, apns_reactor_socket *out);

/* Returns the local port of a socket in host byte order, or a negative errno. */
int apns_reactor_local_port(apns_reactor *r, apns_reactor_socket socket);

/* Sets the context that the events of later waits carry for a socket: what one wait returns behind ACCEPTED still has
 * that of the listener. Returns 0, or -EBADF if it is not a socket or is closing. */
int apns_reactor_context_set(apns_reactor *r, apns_reactor_socket socket, uint64_t context);

/* Stores the context of a socket. Returns as apns_reactor_context_set does. */
int apns_reactor_context_get(const apns_reactor *r, apns_reactor_socket socket, uint64_t *context);

/* Sends a whole buffer, with as many system calls as that takes. bytes: borrowed until the event APNS_REACTOR_SENT or
 * APNS_REACTOR_CLOSED of the socket; length: 1 to 2^31 - 1. There is at most one send per socket at a time. The kernel
 * gets the bytes with the next apns_reactor_wait, or earlier when the submission queue is full. No signal is raised.
 * Returns 0, -EBADF, -EBUSY while a send is under way, -ENOTCONN before APNS_REACTOR_CONNECTED, or -EINVAL for an
 * invalid length. */
int apns_reactor_send(apns_reactor *r, apns_reactor_socket socket, const uint8_t *bytes, size_t length);

/* Starts closing a socket, and abandons a send that is under way; call it after APNS_REACTOR_SENT to send everything.
 * Later calls of apns_reactor_wait return exactly one event of the socket, APNS_REACTOR_CLOSED. An array that was
 * already returned may contain others. Returns 0, or -EBADF if it is not a socket or is closing. */
int apns_reactor_close(apns_reactor *r, apns_reactor_socket socket);

/* Like apns_reactor_close, but sends a TCP RST instead of a FIN: for servers that misbehave on purpose. */
int apns_reactor_reset(apns_reactor *r, apns_reactor_socket socket);

/* Makes the current or next apns_reactor_wait return with APNS_REACTOR_WOKEN. May be called from any thread; most calls
 * are one atomic exchange. */
void apns_reactor_wake(apns_reactor *r);

/* Submits the started operations, waits, and fills up to capacity events (borrowed until return). Returns their number,
 * 0 when the time is up or a signal arrived, or a negative errno if the loop itself failed. Events that do not fit are
 * returned by the next call. Receive buffers that the previous call returned go back to the kernel. */
int apns_reactor_wait(apns_reactor *r, const apns_reactor_wait_options *options, apns_reactor_event *events,
                      uint32_t capacity);
