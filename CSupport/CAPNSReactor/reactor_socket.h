/*
 * reactor_socket: the system calls that create TCP sockets, for the back ends that use the kernel.
 */
#pragma once

#include "reactor_internal.h"

/* Opens a socket for connecting, with TCP_NODELAY and the reactor's TCP_USER_TIMEOUT. family: AF_INET or AF_INET6;
 * flags: SOCK_NONBLOCK or 0. Returns the descriptor or a negative errno, -EAFNOSUPPORT for another family. */
int apns_reactor_socket_open(const apns_reactor *r, int family, int flags);

/* Opens a listening socket with SO_REUSEADDR; accepted connections inherit TCP_NODELAY. backlog: 0 for the system's
 * maximum. Returns the descriptor or a negative errno. */
int apns_reactor_socket_listen(const struct sockaddr *address, socklen_t length, uint32_t backlog, int flags);

/* ---- functions of struct reactor_backend_table */

/* Reads CLOCK_MONOTONIC. */
uint64_t apns_reactor_socket_now_ns(const apns_reactor *r);

int apns_reactor_socket_port(const apns_reactor *r, const struct reactor_slot *slot);
void apns_reactor_socket_reset(apns_reactor *r, struct reactor_slot *slot);
