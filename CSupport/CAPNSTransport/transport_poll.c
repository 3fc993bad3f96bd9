#include "transport_internal.h"
#include <stdio.h>
#include <string.h>

/* The number of completions that a lingering poll waits for. */
enum { LINGER_BATCH = REACTOR_EVENTS_MAX };

/* Limit on the waits that drain received data before deadlines are checked, for peers that send without pause. */
enum { ARRIVED_ROUNDS_MAX = 64 };

/* When the clock is read more than STANDSTILL_NS later than intended, this process did not run in the meantime: it was
 * stopped, its container was paused, the machine slept, or it got no CPU time. Responses may have arrived unread, so
 * that time does not count toward deadlines, except for STANDSTILL_COUNTS_NS of it: that way deadlines still pass in a
 * process that hardly gets CPU time. */
#define STANDSTILL_NS 1000000000U
#define STANDSTILL_COUNTS_NS 100000000U

void apns_transport_look(apns_transport *t) {
    uint64_t now_ns = apns_reactor_now_ns(t->reactor);
    uint64_t since_ns = now_ns - t->looked_ns;
    uint64_t asleep_ns = t->asleep_ns;
    t->looked_ns = now_ns;
    t->asleep_ns = 0;
    if (since_ns > STANDSTILL_NS && since_ns - STANDSTILL_NS > asleep_ns)
        t->stood_ns += since_ns - asleep_ns - STANDSTILL_COUNTS_NS;
    t->now_ns = now_ns - t->stood_ns;
}

void apns_transport_request_give(apns_transport *t, request *r) {
    APNS_ASSERT(r->state != REQUEST_NEW && r->next == NULL && r->previous == NULL);
    r->state = REQUEST_NEW;
    apns_h2_pool_give(t->pool, &r->exchange);
}

/* Releases the memory behind the records that the last poll returned. */
static void release_returned(apns_transport *t) {
    while (t->messages != NULL) {
        apns_h2_message *message = t->messages;
        t->messages = message->next;
        apns_h2_pool_message_give(t->pool, message);
    }
    apns_transport_events_release(t);
}

static void flush_dirty(apns_transport *t) {
    while (t->dirty != NULL) {
        connection *c = t->dirty;
        t->dirty = c->dirty_next;
        APNS_ASSERT(c->dirty && c->side != NULL);
        c->dirty = false;
        apns_connection_flush(c);
    }
}

/* Ends a connection that did not come up in time, and reports the step that it was waiting for. */
static void took_too_long(connection *c) {
    static const char *const awaited[] = {
        [CONNECTION_CONNECTING] = "no TCP connection",
        [CONNECTION_TUNNELING] = "no answer from the proxy",
        [CONNECTION_HANDSHAKING] = "TCP connected, but no TLS handshake",
        [CONNECTION_SETTLING] = "TLS connected, but no SETTINGS",
    };
    if (c->state > CONNECTION_SETTLING) return;
    uint32_t limit_ms = c->transport->options.connect_timeout_ms;
    char text[EVENT_DETAIL_BYTES_MAX];
    snprintf(text, sizeof(text), "%s within %g s", awaited[c->state], limit_ms / 1000.0);
    apns_connection_end(c, APNS_TRANSPORT_SCOPE_TIMEOUT, limit_ms, text, false);
}

static void connection_expire(connection *c) {
    apns_transport *t = c->transport;
    if (c->deadline_ns <= t->now_ns) {
        if (c->state == CONNECTION_LEAVING)
            apns_connection_close(c);
        else if (c->state == CONNECTION_UP)
            apns_connection_drained_check(c);
        else
            took_too_long(c);
    } else if (c->deadline_ns < t->next_deadline_ns) {
        t->next_deadline_ns = c->deadline_ns;
    }
    if (c->state != CONNECTION_UP) return;
    if (c->side->expire != NULL) c->side->expire(c);
    apns_connection_drained_check(c);
}

/* Checks the deadlines of all connections. */
static void expire_all(apns_transport *t) {
    t->next_deadline_ns = UINT64_MAX;
    for (uint32_t i = 0; i < t->slot_count; i++)
        if (t->slots[i].side != NULL && !connection_is_listener(&t->slots[i])) connection_expire(&t->slots[i]);
}

/* Returns the connection of an event, or NULL if it was refused for lack of a slot. */
static connection *connection_of(const apns_transport *t, const apns_reactor_event *event) {
    connection *c = apns_transport_slot_find(t, event->context);
    if (c != NULL && c->socket == event->socket) return c;
    /* It was accepted in the same wait, and its events have the context of the listener. */
    uint64_t context;
    if (apns_reactor_context_get(t->reactor, event->socket, &context) != 0) return NULL;
    c = apns_transport_slot_find(t, context);
    return c != NULL && c->socket == event->socket ? c : NULL;
}

static void dispatch(apns_transport *t, const apns_reactor_event *event) {
    if (event->kind == APNS_REACTOR_WOKEN) {
        t->woken = true;
        return;
    }
    if (event->kind == APNS_REACTOR_ACCEPTED) {
        if (t->acceptor != NULL) t->acceptor->accepted(t, event);
        return;
    }
    connection *c = connection_of(t, event);
    if (c == NULL) return;
    switch (event->kind) {
    case APNS_REACTOR_CONNECTED:
        apns_connection_connected(c, event);
        break;
    case APNS_REACTOR_RECEIVED:
        apns_connection_received(c, event);
        break;
    case APNS_REACTOR_SENT:
        apns_connection_sent(c, event);
        break;
    case APNS_REACTOR_CLOSED:
        c->side->closed(c);
        break;
    default:
        break;
    }
}

static bool reportable(const apns_transport *t, const apns_transport_poll_io *io) {
    return (t->completions.first != NULL && io->completion_capacity > 0) ||
           (t->received.first != NULL && io->received_capacity > 0) ||
           ((t->events_first != NULL || t->woken) && io->event_capacity > 0);
}

/* Whether a closed connection has only its DOWN event left to report. */
static bool closing_reportable(const apns_transport *t, const apns_transport_poll_io *io) {
    for (const connection *c = t->closed; c != NULL; c = c->closed_next)
        if (c->unreturned == 0) return io->event_capacity > 0;
    return false;
}

/* Waits for events and handles them. Returns their number, or the negative errno of the loop. */
static int take(apns_transport *t, const apns_reactor_wait_options *options) {
    t->asleep_ns = options->timeout_ns;
    int count = apns_reactor_wait(t->reactor, options, t->reactor_events, REACTOR_EVENTS_MAX);
    apns_transport_look(t);
    if (t->ground->stepped) t->asleep_ns = options->timeout_ns; /* the wait happens in the caller */
    for (int i = 0; i < count; i++)
        dispatch(t, &t->reactor_events[i]);
    return count;
}

int apns_transport_step(apns_transport *t, uint64_t timeout_ns) {
    flush_dirty(t);
    const apns_reactor_wait_options options = {.timeout_ns = timeout_ns, .batch_min = 1};
    return take(t, &options);
}

/* Once a deadline may have passed, everything that has arrived is handled before it takes effect, because an answer
 * that has arrived is not late. Two consecutive waits must return nothing, as the first may only have returned buffers
 * to the kernel. */
static int expire(apns_transport *t) {
    if (t->now_ns < t->next_deadline_ns) return 0;
    const apns_reactor_wait_options at_once = {.batch_min = 1};
    for (int rounds = 0, empty = 0; rounds < ARRIVED_ROUNDS_MAX && empty < 2; rounds++) {
        int count = take(t, &at_once);
        if (count < 0) return count;
        empty = count == 0 ? empty + 1 : 0;
    }
    expire_all(t);
    return 0;
}

static int wait(apns_transport *t, bool ready, uint64_t until_ns, uint64_t linger_until_ns) {
    uint64_t limit_ns = until_ns < t->next_deadline_ns ? until_ns : t->next_deadline_ns;
    apns_reactor_wait_options options = {0};
    if (!ready) {
        options.timeout_ns = limit_ns == UINT64_MAX ? UINT64_MAX : limit_ns > t->now_ns ? limit_ns - t->now_ns : 0;
        options.linger_ns = linger_until_ns > t->now_ns ? linger_until_ns - t->now_ns : 0;
        options.batch_min = options.linger_ns > 0 ? LINGER_BATCH : 1;
    }
    return take(t, &options);
}

static int drive(apns_transport *t, const apns_transport_poll_io *io) {
    apns_transport_look(t);
    uint64_t until_ns = io->timeout_us == UINT32_MAX ? UINT64_MAX : t->now_ns + (uint64_t)io->timeout_us * 1000;
    uint64_t linger_until_ns = t->now_ns + (uint64_t)io->linger_us * 1000;
    for (;;) {
        flush_dirty(t);
        int count = wait(t, reportable(t, io) || closing_reportable(t, io), until_ns, linger_until_ns);
        if (count >= 0) count = expire(t);
        if (count < 0) {
            t->loop_error = -count;
            return APNS_RESOURCE;
        }
        if (reportable(t, io) || closing_reportable(t, io) || t->now_ns >= until_ns) return APNS_OK;
        if (t->ground->stepped) return APNS_OK;
    }
}

/* ---------------------------------------------------------------- filling the arrays */

const apns_h2_message *apns_transport_message_return(apns_transport *t, request *r) {
    apns_h2_message *message = r->exchange.message;
    APNS_REQUIRE(message != NULL);
    r->exchange.message = NULL;
    message->next = t->messages;
    t->messages = message;
    return message;
}

static void completion_fill(apns_transport *t, apns_transport_completion *out, request *r) {
    memset(out, 0, sizeof(*out));
    out->ticket = r->ticket;
    out->connection = r->connection_id;
    out->code = r->code;
    out->latency_us = r->latency_us;
    out->status = r->exchange.status;
    out->delivery = r->delivery;
    out->scope = r->scope;
    if (r->exchange.message == NULL) return;
    const apns_h2_message *message = apns_transport_message_return(t, r);
    out->body = message->body_length > 0 ? message->body : NULL;
    out->body_length = message->body_length;
    out->fields = (const apns_transport_field *)(const void *)message->fields;
    out->field_count = message->field_count;
}

static void completions_fill(apns_transport *t, apns_transport_poll_io *io) {
    while (io->completion_count < io->completion_capacity) {
        request *r = apns_transport_request_queue_pop(&t->completions);
        if (r == NULL) return;
        APNS_REQUIRE(r->state == REQUEST_ENDED && (r->connection == NULL || r->connection->unreturned > 0));
        if (r->connection != NULL) r->connection->unreturned--;
        completion_fill(t, &io->completions[io->completion_count++], r);
        apns_transport_request_give(t, r);
    }
}

static void event_return(apns_transport *t, apns_transport_poll_io *io, event_node *node) {
    io->events[io->event_count++] = node->event;
    node->next = t->events_returned;
    t->events_returned = node;
}

static void event_returned(apns_transport *t, const event_node *node) {
    connection *c = apns_transport_slot_find(t, node->event.connection);
    if (c == NULL) return;
    APNS_REQUIRE(c->events > 0 && c->events <= EVENTS_PER_CONNECTION_MAX);
    c->events--;
    if (node == c->settings) c->settings = NULL;
    if (node == c->pong) c->pong = NULL;
}

static void events_fill(apns_transport *t, apns_transport_poll_io *io) {
    if (t->woken && io->event_count < io->event_capacity) {
        io->events[io->event_count++] = (apns_transport_event){.kind = APNS_TRANSPORT_EVENT_WOKEN};
        t->woken = false;
    }
    while (t->events_first != NULL && io->event_count < io->event_capacity) {
        event_node *node = t->events_first;
        t->events_first = node->next;
        if (t->events_first == NULL) t->events_last = &t->events_first;
        event_return(t, io, node);
        event_returned(t, node);
    }
}

/* Returns the DOWN events of closed connections, after all other events and only when all completions of the connection
 * have been returned. Until then requests may still be submitted to the connection; their completions come before DOWN.
 */
static void closed_fill(apns_transport *t, apns_transport_poll_io *io) {
    if (t->events_first != NULL) return;
    for (connection **link = &t->closed; *link != NULL && io->event_count < io->event_capacity;) {
        connection *c = *link;
        if (c->unreturned > 0) {
            link = &c->closed_next;
            continue;
        }
        APNS_REQUIRE(c->state == CONNECTION_CLOSED && c->events == 0 && c->down != NULL);
        *link = c->closed_next;
        event_return(t, io, c->down);
        c->down = NULL;
        apns_transport_slot_give(c);
    }
}

int apns_transport_poll(apns_transport *t, apns_transport_poll_io *io) {
    APNS_REQUIRE(io->completions != NULL || io->completion_capacity == 0);
    APNS_REQUIRE(io->events != NULL || io->event_capacity == 0);
    io->completion_count = io->event_count = io->received_count = 0;
    t->statistics.polls++;
    release_returned(t);
    int status = drive(t, io);
    completions_fill(t, io);
    if (t->acceptor != NULL) t->acceptor->received_fill(t, io);
    events_fill(t, io);
    closed_fill(t, io);
    /* A failure of the loop is reported only when there is nothing else to report, so that known completions are not
     * lost. */
    bool told = io->completion_count > 0 || io->event_count > 0 || io->received_count > 0;
    return told ? APNS_OK : status;
}
