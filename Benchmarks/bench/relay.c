/*
 * Relays connections of one TCP port of loopback to another one, and holds back every byte for a fixed time each way: a
 * server that was not made for it seems far away.
 *
 *     relay PORT SERVER_PORT MICROSECONDS
 *
 * It uses one thread, and ends by a signal. What has arrived waits in chunks with the time at which each is due. Order
 * is kept, nothing is dropped, and the end of a stream is held back like its bytes.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK_BYTES = 32768, EVENTS_MAX = 64, CONNECTIONS_MAX = 1024 };

/* Bytes of one direction that may wait; beyond it the sender of them is not read. */
enum { WAITING_MAX = 64 << 20 };

typedef struct chunk {
    struct chunk *next;
    uint64_t due_ns;
    uint32_t start, end; /* the bytes that are left; none: the end of the stream */
    uint8_t bytes[CHUNK_BYTES];
} chunk;

/* One side of a connection, with what it sent and the other side has not got yet. */
typedef struct side {
    struct side *other;
    int fd;
    bool ended;   /* its end of stream was read */
    bool blocked; /* its socket has no room for more */
    uint32_t interest;
    size_t waiting;
    chunk *first, **last;
} side;

static side *sides[2 * CONNECTIONS_MAX];
static unsigned side_count;
static chunk *spare;
static uint64_t delay_ns;
static int loop;

static void die(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static chunk *chunk_take(void) {
    chunk *c = spare;
    if (c != NULL)
        spare = c->next;
    else if ((c = malloc(sizeof(*c))) == NULL)
        die("relay: memory");
    c->next = NULL;
    c->start = c->end = 0;
    return c;
}

static void chunk_give(chunk *c) {
    c->next = spare;
    spare = c;
}

/* Asks epoll for what the side can use now. */
static void side_watch(side *s) {
    uint32_t wanted = (s->ended || s->waiting > WAITING_MAX ? 0 : EPOLLIN) | (s->blocked ? EPOLLOUT : 0);
    if (wanted == s->interest) return;
    s->interest = wanted;
    struct epoll_event event = {.events = wanted, .data.ptr = s};
    if (epoll_ctl(loop, EPOLL_CTL_MOD, s->fd, &event) != 0) die("relay: epoll_ctl");
}

static side *side_new(int fd) {
    side *s = calloc(1, sizeof(*s));
    if (s == NULL || side_count == 2 * CONNECTIONS_MAX) die("relay: too many connections");
    int on = 1;
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0) die("relay: TCP_NODELAY");
    *s = (side){.fd = fd, .interest = EPOLLIN, .last = &s->first};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = s};
    if (epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event) != 0) die("relay: epoll_ctl");
    sides[side_count++] = s;
    return s;
}

/* Ends both sides of a connection at once, as after a reset. They are freed by sweep. */
static void close_both(side *s) {
    side *both[] = {s, s->other};
    for (int i = 0; i < 2; i++) {
        if (both[i]->fd >= 0) close(both[i]->fd);
        both[i]->fd = -1;
    }
}

static void side_read(side *s) {
    while (!s->ended && s->waiting <= WAITING_MAX) {
        chunk *c = chunk_take();
        ssize_t count = recv(s->fd, c->bytes, CHUNK_BYTES, MSG_DONTWAIT);
        if (count < 0) {
            chunk_give(c);
            if (errno != EAGAIN && errno != EINTR) close_both(s);
            return;
        }
        c->end = (uint32_t)count;
        c->due_ns = now_ns() + delay_ns;
        s->ended = count == 0;
        s->waiting += (size_t)count;
        *s->last = c;
        s->last = &c->next;
        if (count < CHUNK_BYTES && count > 0) return;
    }
}

/* Passes on what the side sent and is due. */
static void side_pass(side *s, uint64_t now) {
    side *to = s->other;
    while (s->fd >= 0 && !to->blocked && s->first != NULL && s->first->due_ns <= now) {
        chunk *c = s->first;
        if (c->end == 0) {
            shutdown(to->fd, SHUT_WR);
        } else {
            ssize_t count = send(to->fd, c->bytes + c->start, c->end - c->start, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (count < 0 && errno != EAGAIN) {
                close_both(s);
                return;
            }
            if (count > 0) c->start += (uint32_t)count, s->waiting -= (size_t)count;
            to->blocked = c->start < c->end;
            if (to->blocked) return;
        }
        s->first = c->next;
        if (s->first == NULL) s->last = &s->first;
        chunk_give(c);
    }
}

/* Frees the sides that are closed, and closes those that have nothing to do any more. */
static void sweep(void) {
    unsigned kept = 0;
    for (unsigned i = 0; i < side_count; i++) {
        side *s = sides[i];
        if (s->fd >= 0 && s->ended && s->other->ended && s->first == NULL && s->other->first == NULL) close_both(s);
    }
    for (unsigned i = 0; i < side_count; i++) {
        side *s = sides[i];
        if (s->fd >= 0) {
            sides[kept++] = s;
            continue;
        }
        while (s->first != NULL) {
            chunk *c = s->first;
            s->first = c->next;
            chunk_give(c);
        }
        free(s);
    }
    side_count = kept;
}

static struct sockaddr_in loopback(const char *port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void accept_one(int listener, const char *server_port) {
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0) return;
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = loopback(server_port);
    if (server < 0 || connect(server, (struct sockaddr *)&address, sizeof(address)) != 0) die("relay: connect");
    side *a = side_new(client), *b = side_new(server);
    a->other = b;
    b->other = a;
}

/* Passes on what is due, and returns when the next bytes are, or UINT64_MAX. */
static uint64_t pass_all(void) {
    uint64_t now = now_ns(), next = UINT64_MAX;
    for (unsigned i = 0; i < side_count; i++)
        side_pass(sides[i], now);
    sweep();
    for (unsigned i = 0; i < side_count; i++) {
        side *s = sides[i];
        side_watch(s);
        if (s->first != NULL && !s->other->blocked && s->first->due_ns < next) next = s->first->due_ns;
    }
    return next;
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: relay PORT SERVER_PORT MICROSECONDS\n");
        return 64;
    }
    delay_ns = strtoull(arguments[3], NULL, 10) * 1000;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
    struct sockaddr_in address = loopback(arguments[1]);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(listener, 128) != 0)
        die("relay: listen");
    loop = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event listening = {.events = EPOLLIN, .data.ptr = NULL};
    if (loop < 0 || epoll_ctl(loop, EPOLL_CTL_ADD, listener, &listening) != 0) die("relay: epoll");
    for (;;) {
        uint64_t next = pass_all(), now = now_ns();
        uint64_t left = next == UINT64_MAX ? 1000000000 : next > now ? next - now : 0;
        struct timespec wait = {.tv_sec = (time_t)(left / 1000000000), .tv_nsec = (long)(left % 1000000000)};
        struct epoll_event events[EVENTS_MAX];
        int ready = epoll_pwait2(loop, events, EVENTS_MAX, &wait, NULL);
        if (ready < 0 && errno != EINTR) die("relay: epoll_pwait2");
        for (int i = 0; i < ready; i++) {
            side *s = events[i].data.ptr;
            if (s == NULL) {
                accept_one(listener, arguments[2]);
            } else if (s->fd >= 0) {
                s->blocked = s->blocked && !(events[i].events & (EPOLLOUT | EPOLLERR | EPOLLHUP));
                if (events[i].events & (EPOLLIN | EPOLLERR | EPOLLHUP)) side_read(s);
            }
        }
    }
}
