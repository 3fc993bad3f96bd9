#include "transport_internal.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(apns_transport_field) == sizeof(apns_h2_field) &&
                   offsetof(apns_transport_field, name) == offsetof(apns_h2_field, name) &&
                   offsetof(apns_transport_field, value) == offsetof(apns_h2_field, value) &&
                   offsetof(apns_transport_field, name_length) == offsetof(apns_h2_field, name_length) &&
                   offsetof(apns_transport_field, value_length) == offsetof(apns_h2_field, value_length) &&
                   offsetof(apns_transport_field, indexing) == offsetof(apns_h2_field, indexing),
               "fields pass from one module to the other as they are");
_Static_assert((int)APNS_TRANSPORT_INDEXED == (int)APNS_H2_INDEXED &&
                   (int)APNS_TRANSPORT_LITERAL == (int)APNS_H2_LITERAL &&
                   (int)APNS_TRANSPORT_NAME_ONCE == (int)APNS_H2_NAME_ONCE,
               "the same numbers");

/* A row whose request was given to the reactor may be sent again only if the peer said that it did not process it. */
static void not_sent_check(const connection *c, const request *r, uint32_t scope, int64_t code) {
    bool by_peer = scope == APNS_TRANSPORT_SCOPE_HTTP2 ||
                   (scope == APNS_TRANSPORT_SCOPE_LOCAL && code == APNS_TRANSPORT_LOCAL_GOAWAY);
    APNS_REQUIRE(by_peer || r->exchange.stream == 0 || (c != NULL && r->exchange.stream > c->handed_stream));
}

void apns_transport_client_finish(apns_transport *t, request *r, uint32_t delivery, uint32_t scope, int64_t code) {
    connection *c = r->connection;
    APNS_REQUIRE(r->state == REQUEST_OPEN);
    APNS_ASSERT(delivery != APNS_TRANSPORT_ANSWERED || (r->exchange.facts & APNS_H2_COMPLETE) != 0);
    if (delivery == APNS_TRANSPORT_NOT_SENT) not_sent_check(c, r, scope, code);
    if (c != NULL) {
        apns_transport_request_unlink(c, r);
        c->unreturned++;
        APNS_ASSERT(c->unreturned <= t->options.streams_max);
    }
    uint64_t us = t->now_ns > r->submitted_ns ? (t->now_ns - r->submitted_ns) / 1000 : 0;
    r->latency_us = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
    r->state = REQUEST_ENDED;
    r->delivery = (uint8_t)delivery;
    r->scope = (uint8_t)scope;
    r->code = code;
    apns_transport_request_queue_push(&t->completions, r);
}

static void refuse(apns_transport *t, request *r, int64_t why) {
    apns_transport_client_finish(t, r, APNS_TRANSPORT_NOT_SENT, APNS_TRANSPORT_SCOPE_LOCAL, why);
}

/* nghttp2 also closes streams above the last-stream-id of GOAWAY with REFUSED_STREAM, and the session closes requests
 * with it that it had deferred until the peer lowered its limit of streams; those have no stream number. A peer that
 * has begun an answer has processed the request, whatever it says afterwards (RFC 9113, section 8.7). */
static void closed_unanswered(connection *c, request *r) {
    uint32_t code = r->exchange.error_code;
    if (r->exchange.stream == 0)
        refuse(c->transport, r, APNS_TRANSPORT_LOCAL_NO_STREAM);
    else if (code != APNS_H2_REFUSED_STREAM || (r->exchange.facts & APNS_H2_HEAD) != 0)
        apns_transport_client_finish(c->transport, r, APNS_TRANSPORT_MAY_HAVE_ARRIVED, APNS_TRANSPORT_SCOPE_HTTP2,
                                     code);
    else if (c->goaway_received && r->exchange.stream > c->goaway_last)
        refuse(c->transport, r, APNS_TRANSPORT_LOCAL_GOAWAY);
    else
        apns_transport_client_finish(c->transport, r, APNS_TRANSPORT_NOT_SENT, APNS_TRANSPORT_SCOPE_HTTP2, code);
}

/* A complete response is an answer even if the body of the request was not sent completely (RFC 9113, section 8.1). */
static void client_changed(connection *c, request *r) {
    uint8_t facts = r->exchange.facts;
    if ((facts & APNS_H2_CLOSED) == 0) return;
    if ((facts & APNS_H2_COMPLETE) != 0)
        apns_transport_client_finish(c->transport, r, APNS_TRANSPORT_ANSWERED, APNS_TRANSPORT_SCOPE_NONE, 0);
    else
        closed_unanswered(c, r);
}

/* Ends the requests of a connection that is gone: those given to the reactor may have arrived, the others have not. */
static void client_requests_end(connection *c, uint32_t scope, int64_t code) {
    while (c->first != NULL) {
        request *r = c->first;
        bool handed = r->exchange.stream != 0 && r->exchange.stream <= c->handed_stream;
        apns_transport_client_finish(c->transport, r,
                                     handed ? APNS_TRANSPORT_MAY_HAVE_ARRIVED : APNS_TRANSPORT_NOT_SENT, scope, code);
    }
}

/* Ends requests that exceeded their time limit, and lowers the next deadline of the transport to that of the first
 * remaining one. */
static void client_expire(connection *c) {
    apns_transport *t = c->transport;
    uint64_t limit_ns = (uint64_t)t->options.request_timeout_ms * 1000000;
    if (limit_ns == 0) return;
    while (c->first != NULL && c->first->submitted_ns + limit_ns <= t->now_ns) {
        request *r = c->first;
        bool written = r->exchange.stream != 0 && r->exchange.stream <= apns_h2_session_written_stream(c->h2);
        apns_h2_client_abandon(c->h2, &r->exchange, APNS_H2_CANCEL);
        apns_transport_client_finish(t, r, written ? APNS_TRANSPORT_MAY_HAVE_ARRIVED : APNS_TRANSPORT_NOT_SENT,
                                     APNS_TRANSPORT_SCOPE_TIMEOUT, t->options.request_timeout_ms);
        apns_connection_dirty(c);
    }
    if (apns_h2_session_failure(c->h2)->scope != APNS_H2_FAILURE_NONE) {
        apns_connection_collect(c);
        return;
    }
    if (c->first != NULL && c->first->submitted_ns + limit_ns < t->next_deadline_ns)
        t->next_deadline_ns = c->first->submitted_ns + limit_ns;
}

static bool can_take(const connection *c) {
    return c != NULL && c->side->client && c->state == CONNECTION_UP && !c->draining && !c->goaway_received &&
           apns_h2_session_open_count(c->h2) < c->streams_max;
}

static void send_request(connection *c, request *r, const apns_transport_request *wanted) {
    apns_transport *t = c->transport;
    apns_h2_request request = {
        .set = t->header_sets[wanted->header_set],
        .shared = c->shared,
        .path = wanted->path,
        .fields = (const apns_h2_field *)(const void *)wanted->fields,
        .path_length = wanted->path_length,
        .field_count = wanted->field_count,
    };
    APNS_ASSERT(c->h2 != NULL && request.set != NULL);
    /* The first request of a connection is the first one that is late. */
    APNS_ASSERT(c->last == NULL || c->last->submitted_ns <= r->submitted_ns);
    apns_transport_request_link(c, r);
    int result = apns_connection_plain_ready(c) ? apns_h2_client_submit(c->h2, &r->exchange, &request) : 1;
    if (result < 0) {
        apns_connection_collect(c); /* the session has failed, and the connection ends with the request */
        return;
    }
    if (result > 0) {
        c->draining = true; /* no stream numbers are left */
        refuse(t, r, APNS_TRANSPORT_LOCAL_NO_STREAM);
    }
    apns_connection_dirty(c);
    /* A full buffer is sent at once if possible, so that the following requests need not be deferred. */
    if (c->plain.paused && c->flight == NULL) apns_connection_flush(c);
}

static void submit_one(apns_transport *t, connection *c, const apns_transport_request *wanted) {
    request *r = (request *)apns_h2_pool_take(t->pool);
    APNS_REQUIRE(r != NULL && r->state == REQUEST_NEW);
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
    /* Linked to its connection although it was refused, so that the event DOWN comes after this completion. */
    if (c != NULL && c->side->client) apns_transport_request_link(c, r);
    refuse(t, r, APNS_TRANSPORT_LOCAL_NO_STREAM);
}

static bool valid(const apns_transport *t, const apns_transport_request *r) {
    return r->header_set < HEADER_SETS_MAX && t->header_sets[r->header_set] != NULL &&
           r->field_count <= APNS_H2_REQUEST_FIELDS_MAX;
}

int apns_transport_submit(apns_transport *t, const apns_transport_request *requests, uint32_t count) {
    if (count > apns_h2_pool_free_count(t->pool)) return APNS_MISUSE;
    for (uint32_t i = 0; i < count; i++)
        if (!valid(t, &requests[i])) return APNS_MISUSE;
    apns_transport_look(t);
    uint64_t deadline_ns = t->now_ns + (uint64_t)t->options.request_timeout_ms * 1000000;
    if (count > 0 && t->options.request_timeout_ms > 0 && deadline_ns < t->next_deadline_ns)
        t->next_deadline_ns = deadline_ns;
    connection *c = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (c == NULL || c->id != requests[i].connection) c = apns_transport_slot_find(t, requests[i].connection);
        submit_one(t, c, &requests[i]);
    }
    return APNS_OK;
}

uint32_t apns_transport_streams_free(const apns_transport *t) {
    return apns_h2_pool_free_count(t->pool);
}

int apns_transport_header_set_define(apns_transport *t, uint16_t number, const apns_transport_field *fields,
                                     uint32_t count) {
    if (number >= HEADER_SETS_MAX || count > APNS_H2_SET_FIELDS_MAX || (fields == NULL && count > 0))
        return APNS_MISUSE;
    apns_h2_header_set *set = apns_h2_header_set_create((const apns_h2_field *)(const void *)fields, count);
    if (set == NULL) return APNS_RESOURCE;
    apns_h2_header_set_destroy(t->header_sets[number]);
    t->header_sets[number] = set;
    return APNS_OK;
}

int apns_transport_connection_fields_set(apns_transport *t, apns_transport_connection connection_id,
                                         const apns_transport_field *fields, uint32_t count) {
    connection *c = apns_transport_slot_find(t, connection_id);
    if (c == NULL || !c->side->client || count > APNS_H2_SESSION_FIELDS_MAX) return APNS_MISUSE;
    apns_h2_header_set *set = apns_h2_header_set_create((const apns_h2_field *)(const void *)fields, count);
    if (set == NULL) return APNS_RESOURCE;
    apns_h2_header_set_destroy(c->shared);
    c->shared = set;
    return APNS_OK;
}

/* ---------------------------------------------------------------- connections */

const connection_side apns_connection_client_side = {
    .client = true,
    .received = apns_connection_take,
    .changed = client_changed,
    .expire = client_expire,
    .requests_end = client_requests_end,
    .closed = apns_connection_closed,
};

static connection *connect_prepare(apns_transport *t, apns_tls_context *tls,
                                   const apns_transport_connect_options *options) {
    connection *c = apns_transport_slot_take(t, &apns_connection_client_side);
    if (c == NULL) return NULL;
    c->context = options->context;
    c->tls = apns_tls_session_create(tls, options->host_name, &c->fill);
    if (c->tls != NULL) return c;
    apns_transport_slot_give(c);
    return NULL;
}

/* Fills the error, with advice for EMFILE. */
static int connect_fail(apns_error *error, int code) {
    char text[200];
    snprintf(text, sizeof(text), "%s%s", strerror(code), code == EMFILE ? "; raise the limit (ulimit -n)" : "");
    return apns_error_set(error, APNS_RESOURCE, APNS_TRANSPORT_SCOPE_SYSTEM, code, text);
}

int apns_transport_connect(apns_transport *t, const apns_transport_connect_options *options,
                           apns_transport_connection *out, apns_error *error) {
    *out = 0;
    apns_tls_context *tls = apns_transport_tls_find(t, options->tls, &apns_tls_client_role);
    if (tls == NULL || options->address == NULL) return APNS_MISUSE;
    connection *c = connect_prepare(t, tls, options);
    if (c == NULL) return connect_fail(error, ENOMEM);
    int result = apns_reactor_connect(t->reactor, options->address, options->address_length, c->id, &c->socket);
    if (result < 0) {
        apns_tls_session_destroy(c->tls);
        apns_transport_slot_give(c);
        return connect_fail(error, -result);
    }
    apns_transport_look(t);
    if (t->options.connect_timeout_ms > 0) apns_connection_deadline_set(c, t->options.connect_timeout_ms);
    *out = c->id;
    return APNS_OK;
}

uint32_t apns_transport_connection_waits_for_window(const apns_transport *t, apns_transport_connection connection_id) {
    const connection *c = apns_transport_slot_find(t, connection_id);
    return c != NULL && c->side->client && c->h2 != NULL && apns_h2_session_waits_for_window(c->h2) ? 1 : 0;
}

uint32_t apns_transport_connection_stage(const apns_transport *t, apns_transport_connection connection_id) {
    const connection *c = apns_transport_slot_find(t, connection_id);
    return c != NULL && c->side->client ? apns_connection_stage(c) : (uint32_t)APNS_TRANSPORT_STAGE_NONE;
}
