#include "transport_internal.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(transport_field) == sizeof(h2_field) &&
                   offsetof(transport_field, name) == offsetof(h2_field, name) &&
                   offsetof(transport_field, value) == offsetof(h2_field, value) &&
                   offsetof(transport_field, name_length) == offsetof(h2_field, name_length) &&
                   offsetof(transport_field, value_length) == offsetof(h2_field, value_length) &&
                   offsetof(transport_field, indexing) == offsetof(h2_field, indexing),
               "fields pass from one room to the other as they are");
_Static_assert((int)TRANSPORT_INDEXED == (int)H2_INDEXED && (int)TRANSPORT_LITERAL == (int)H2_LITERAL &&
                   (int)TRANSPORT_NAME_ONCE == (int)H2_NAME_ONCE,
               "the same numbers");

/* Knows the outcome of a request: it leaves its connection and waits to be returned. */
void client_finish(transport *t, request *r, uint32_t delivery, uint32_t scope, int64_t code) {
    connection *c = r->connection;
    if (c != NULL) {
        request_unlink(c, r);
        c->unreturned++;
    }
    uint64_t us = t->now_ns > r->submitted_ns ? (t->now_ns - r->submitted_ns) / 1000 : 0;
    r->latency_us = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
    r->state = REQUEST_ENDED;
    r->delivery = (uint8_t)delivery;
    r->scope = (uint8_t)scope;
    r->code = code;
    request_queue_push(&t->outcomes, r);
}

/* REFUSED_STREAM is said by the library of streams above GOAWAY's last-stream-id, too, and by the session of requests
 * that waited for room to be written until the peer allowed fewer streams: these never began. */
static void closed_unanswered(connection *c, request *r) {
    uint32_t code = r->exchange.error_code;
    if (r->exchange.stream == 0)
        client_finish(c->transport, r, TRANSPORT_NOT_SENT, TRANSPORT_SCOPE_LOCAL, TRANSPORT_LOCAL_NO_STREAM);
    else if (code != 7)
        client_finish(c->transport, r, TRANSPORT_MAYBE_SENT, TRANSPORT_SCOPE_HTTP2, code);
    else if (c->goaway_received && r->exchange.stream > c->goaway_last)
        client_finish(c->transport, r, TRANSPORT_NOT_SENT, TRANSPORT_SCOPE_LOCAL, TRANSPORT_LOCAL_GOAWAY);
    else
        client_finish(c->transport, r, TRANSPORT_NOT_SENT, TRANSPORT_SCOPE_HTTP2, code);
}

/* A complete response is an answer, whatever happened to the request's own body (RFC 9113, section 8.1): the server may
 * have reset the stream or not have read it yet; then we reset it, and the outcome does not wait. */
static void client_changed(connection *c, request *r) {
    uint8_t facts = r->exchange.facts;
    if ((facts & H2_COMPLETE) != 0) {
        if ((facts & H2_CLOSED) == 0) h2_client_abandon(c->h2, &r->exchange, 0);
        client_finish(c->transport, r, TRANSPORT_ANSWERED, TRANSPORT_SCOPE_NONE, 0);
    } else if ((facts & H2_CLOSED) != 0) {
        closed_unanswered(c, r);
    }
}

/* The connection is gone: what the reactor was given may have arrived, the rest has not. */
static void client_requests_end(connection *c, uint32_t scope, int64_t code) {
    while (c->first != NULL) {
        request *r = c->first;
        bool handed = r->exchange.stream != 0 && r->exchange.stream <= c->handed_stream;
        client_finish(c->transport, r, handed ? TRANSPORT_MAYBE_SENT : TRANSPORT_NOT_SENT, scope, code);
    }
}

/* Gives up requests that wait too long; sets the transport's next deadline for the others. */
static void client_expire(connection *c) {
    transport *t = c->transport;
    uint64_t limit_ns = (uint64_t)t->options.request_timeout_ms * 1000000;
    if (limit_ns == 0) return;
    while (c->first != NULL && c->first->submitted_ns + limit_ns <= t->now_ns) {
        request *r = c->first;
        bool written = r->exchange.stream != 0 && r->exchange.stream <= h2_session_written_stream(c->h2);
        h2_client_abandon(c->h2, &r->exchange, 8); /* CANCEL */
        client_finish(t, r, written ? TRANSPORT_MAYBE_SENT : TRANSPORT_NOT_SENT, TRANSPORT_SCOPE_TIMEOUT,
                      t->options.request_timeout_ms);
        connection_dirty(c);
    }
    if (c->first != NULL && c->first->submitted_ns + limit_ns < t->next_deadline_ns)
        t->next_deadline_ns = c->first->submitted_ns + limit_ns;
}

static bool can_take(const connection *c) {
    return c != NULL && c->side->client && c->state == CONNECTION_UP && !c->draining && !c->goaway_received &&
           h2_session_open_count(c->h2) < c->streams_max;
}

/* Hands a request to its session. */
static void send_request(connection *c, request *r, const transport_request *wanted) {
    transport *t = c->transport;
    h2_request request = {
        .set = t->header_sets[wanted->header_set],
        .shared = c->shared,
        .path = wanted->path,
        .fields = (const h2_field *)(const void *)wanted->fields,
        .path_length = wanted->path_length,
        .field_count = wanted->field_count,
    };
    request_link(c, r);
    int result = connection_plain_ready(c) ? h2_client_submit(c->h2, &r->exchange, &request) : 1;
    if (result > 0) {
        c->draining = true; /* all stream numbers are used up */
        client_finish(t, r, TRANSPORT_NOT_SENT, TRANSPORT_SCOPE_LOCAL, TRANSPORT_LOCAL_NO_STREAM);
    }
    connection_dirty(c);
    /* A full buffer makes way at once where it can, so that the requests that follow need not wait in memory. */
    if (c->plain.paused && c->flight == NULL) connection_flush(c);
}

static void submit_one(transport *t, connection *c, const transport_request *wanted) {
    request *r = (request *)h2_pool_take(t->pool);
    r->connection = NULL;
    r->connection_id = wanted->connection;
    r->ticket = wanted->ticket;
    r->submitted_ns = t->now_ns;
    r->state = REQUEST_OPEN;
    r->exchange.body = wanted->body;
    r->exchange.body_length = wanted->body_length;
    if (can_take(c)) {
        send_request(c, r, wanted);
        return;
    }
    /* Its connection's last event waits for this outcome, too. */
    if (c != NULL && c->side->client) request_link(c, r);
    client_finish(t, r, TRANSPORT_NOT_SENT, TRANSPORT_SCOPE_LOCAL, TRANSPORT_LOCAL_NO_STREAM);
}

static bool valid(const transport *t, const transport_request *r) {
    return r->header_set < HEADER_SETS_MAX && t->header_sets[r->header_set] != NULL &&
           r->field_count <= H2_REQUEST_FIELDS_MAX;
}

int transport_submit(transport *t, const transport_request *requests, uint32_t count) {
    if (count > h2_pool_free_count(t->pool)) return TRANSPORT_MISUSE;
    for (uint32_t i = 0; i < count; i++)
        if (!valid(t, &requests[i])) return TRANSPORT_MISUSE;
    transport_look(t);
    uint64_t deadline_ns = t->now_ns + (uint64_t)t->options.request_timeout_ms * 1000000;
    if (count > 0 && t->options.request_timeout_ms > 0 && deadline_ns < t->next_deadline_ns)
        t->next_deadline_ns = deadline_ns;
    connection *c = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (c == NULL || c->id != requests[i].connection) c = slot_find(t, requests[i].connection);
        submit_one(t, c, &requests[i]);
    }
    return TRANSPORT_OK;
}

uint32_t transport_streams_free(const transport *t) {
    return h2_pool_free_count(t->pool);
}

int transport_header_set_define(transport *t, uint16_t number, const transport_field *fields, uint32_t count) {
    if (number >= HEADER_SETS_MAX || count > H2_SET_FIELDS_MAX || (fields == NULL && count > 0))
        return TRANSPORT_MISUSE;
    h2_header_set *set = h2_header_set_create((const h2_field *)(const void *)fields, count);
    if (set == NULL) return TRANSPORT_RESOURCE;
    h2_header_set_destroy(t->header_sets[number]);
    t->header_sets[number] = set;
    return TRANSPORT_OK;
}

int transport_connection_fields_set(transport *t, transport_connection connection_id, const transport_field *fields,
                                    uint32_t count) {
    connection *c = slot_find(t, connection_id);
    if (c == NULL || !c->side->client || count > H2_SESSION_FIELDS_MAX) return TRANSPORT_MISUSE;
    h2_header_set *set = h2_header_set_create((const h2_field *)(const void *)fields, count);
    if (set == NULL) return TRANSPORT_RESOURCE;
    h2_header_set_destroy(c->shared);
    c->shared = set;
    return TRANSPORT_OK;
}

/* ---------------------------------------------------------------- connections */

static h2_session *session_create(connection *c, const h2_session_options *options) {
    (void)c;
    return h2_session_create(options);
}

static void introduce(connection *c, event_node *node, char *text, size_t length, size_t capacity) {
    (void)c;
    (void)node;
    (void)text;
    (void)length;
    (void)capacity;
}

static size_t sendable(connection *c, size_t length) {
    (void)c;
    return length;
}

static void sent(connection *c, size_t length) {
    (void)c;
    (void)length;
}

static void farewell(connection *c) {
    tls_session_close(c->tls);
}

static bool hangs_up(const connection *c) {
    (void)c;
    return false;
}

static void socket_close(connection *c) {
    reactor_close(c->transport->reactor, c->socket);
}

static void nothing(connection *c) {
    (void)c;
}

const connection_side connection_client_side = {
    .client = true,
    .session_create = session_create,
    .introduce = introduce,
    .received = connection_take,
    .sendable = sendable,
    .sent = sent,
    .changed = client_changed,
    .drain = nothing, /* says GOAWAY when it closes: until then it may still send bodies and resets */
    .expire = client_expire,
    .requests_end = client_requests_end,
    .farewell = farewell,
    .hangs_up = hangs_up,
    .close = socket_close,
    .closed = connection_closed,
    .release = nothing,
};

static connection *connect_prepare(transport *t, tls_context *tls, const transport_connect_options *options) {
    connection *c = slot_take(t, &connection_client_side);
    if (c == NULL) return NULL;
    c->context = options->context;
    c->state = CONNECTION_CONNECTING;
    c->tls = tls_session_create(tls, options->host_name, &c->fill);
    if (c->tls != NULL) return c;
    slot_give(c);
    return NULL;
}

/* Says what the system refused, and what helps. */
static int connect_fail(transport_error *error, int code) {
    char text[200];
    snprintf(text, sizeof(text), "%s%s", strerror(code), code == EMFILE ? "; raise the limit (ulimit -n)" : "");
    return transport_fail(error, TRANSPORT_RESOURCE, TRANSPORT_SCOPE_SYSTEM, code, text);
}

int transport_connect(transport *t, const transport_connect_options *options, transport_connection *out,
                      transport_error *error) {
    *out = 0;
    tls_context *tls = transport_tls_find(t, options->tls, &tls_client_role);
    if (tls == NULL || options->address == NULL) return TRANSPORT_MISUSE;
    connection *c = connect_prepare(t, tls, options);
    if (c == NULL) return connect_fail(error, ENOMEM);
    int result = reactor_connect(t->reactor, options->address, options->address_length, c->id, &c->socket);
    if (result < 0) {
        tls_session_destroy(c->tls);
        slot_give(c);
        return connect_fail(error, -result);
    }
    transport_look(t);
    if (t->options.connect_timeout_ms > 0) connection_deadline_set(c, t->options.connect_timeout_ms);
    *out = c->id;
    return TRANSPORT_OK;
}

uint32_t transport_connection_stage(const transport *t, transport_connection connection_id) {
    const connection *c = slot_find(t, connection_id);
    return c != NULL && c->side->client ? connection_stage(c) : (uint32_t)TRANSPORT_STAGE_NONE;
}
