#include "reactor_platform.h"

#include "reactor_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <time.h>
#include <unistd.h>

/* Opens a TCP socket with TCP_NODELAY, which accepted connections inherit. */
static int stream_open(int family, int flags) {
    if (family != AF_INET && family != AF_INET6) return -EAFNOSUPPORT;
    int descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (descriptor < 0) return -errno;
    int on = 1;
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return descriptor;
}

int apns_reactor_socket_open(const apns_reactor *r, int family, int flags) {
    int descriptor = stream_open(family, flags);
    unsigned limit = r->user_timeout_ms;
    if (descriptor >= 0 && limit > 0)
        (void)setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof(limit));
    return descriptor;
}

static int bind_and_listen(int descriptor, const struct sockaddr *address, socklen_t length, uint32_t backlog) {
    int on = 1;
    if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0) return -errno;
    if (bind(descriptor, address, length) != 0) return -errno;
    /* The kernel limits the number to net.core.somaxconn. */
    int depth = backlog == 0 || backlog > INT_MAX ? INT_MAX : (int)backlog;
    return listen(descriptor, depth) != 0 ? -errno : 0;
}

int apns_reactor_socket_listen(const struct sockaddr *address, socklen_t length, uint32_t backlog, int flags) {
    int descriptor = stream_open(address->sa_family, flags);
    if (descriptor < 0) return descriptor;
    int status = bind_and_listen(descriptor, address, length, backlog);
    if (status < 0) {
        close(descriptor);
        return status;
    }
    return descriptor;
}

int apns_reactor_socket_port(const apns_reactor *r, const struct reactor_slot *slot) {
    (void)r;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } name;
    socklen_t length = sizeof(name);
    if (getsockname(slot->descriptor, &name.any, &length) != 0) return -errno;
    return ntohs(name.any.sa_family == AF_INET6 ? name.v6.sin6_port : name.v4.sin_port);
}

/* Makes closing the descriptor send a TCP RST. */
void apns_reactor_socket_reset(apns_reactor *r, struct reactor_slot *slot) {
    (void)r;
    struct linger none = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(slot->descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

uint64_t apns_reactor_socket_now_ns(const apns_reactor *r) {
    (void)r;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}
