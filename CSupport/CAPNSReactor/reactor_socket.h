/*
 * apns_reactor_socket: the system calls that make TCP sockets, for the back ends over the kernel. Each returns a
 * descriptor (or what its name says) or a negative errno.
 */
#ifndef APNS_BATCH_REACTOR_SOCKET_H
#define APNS_BATCH_REACTOR_SOCKET_H

#include <stdint.h>
#include <sys/socket.h>

/* An unconnected socket with TCP_NODELAY. family: AF_INET or AF_INET6, else -EAFNOSUPPORT. flags: SOCK_NONBLOCK or 0.
 */
int apns_reactor_socket_open(int family, int flags);

/* Sets TCP_USER_TIMEOUT; 0 leaves it as it is. */
void apns_reactor_socket_user_timeout(int descriptor, uint32_t milliseconds);

/* A listening socket with SO_REUSEADDR; connections accepted inherit TCP_NODELAY. backlog 0: the system's maximum. */
int apns_reactor_socket_listen(const struct sockaddr *address, socklen_t length, uint32_t backlog, int flags);

/* The local port, host order. */
int apns_reactor_socket_port(int descriptor);

/* Closing the descriptor will send a TCP RST. */
void apns_reactor_socket_reset_on_close(int descriptor);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t apns_reactor_socket_clock_ns(void);

#endif
