/*
 * apns_reactor_socket: the system calls that make TCP sockets, for the back ends over the kernel. Each returns a
 * descriptor (or what its name says) or a negative errno.
 */
#ifndef APNS_BATCH_REACTOR_SOCKET_H
#define APNS_BATCH_REACTOR_SOCKET_H

#include "reactor_internal.h"

/* A socket to connect, with TCP_NODELAY and the reactor's TCP_USER_TIMEOUT. family: AF_INET or AF_INET6, else
 * -EAFNOSUPPORT. flags: SOCK_NONBLOCK or 0. */
int apns_reactor_socket_open(const apns_reactor *r, int family, int flags);

/* A listening socket with SO_REUSEADDR; connections accepted inherit TCP_NODELAY. backlog 0: the system's maximum. */
int apns_reactor_socket_listen(const struct sockaddr *address, socklen_t length, uint32_t backlog, int flags);

/* ---- functions of struct reactor_backend_table */

/* CLOCK_MONOTONIC. */
uint64_t apns_reactor_socket_now_ns(const apns_reactor *r);

int apns_reactor_socket_port(const apns_reactor *r, const struct reactor_slot *slot);
void apns_reactor_socket_reset(apns_reactor *r, struct reactor_slot *slot);

#endif
