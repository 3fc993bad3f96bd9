#include "server_internal.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTEN_BACKLOG = 512 };

static void request_release(apns_transport *t, request *r) {
    apns_h2_memory_give(t->memory, r->response_body);
    r->response_body = NULL;
    apns_transport_request_give(t, r);
}

/* Releases a request whose stream is closed, or leaves that to the poll while it is queued. */
static void request_close(apns_transport *t, request *r) {
    APNS_ASSERT(r->state != REQUEST_NEW && r->state != REQUEST_GONE);
    apns_transport_request_unlink(r->connection, r);
    r->connection = NULL;
    if (r->state == REQUEST_QUEUED)
        r->state = REQUEST_GONE;
    else
        request_release(t, r);
}

/* Called when a request began, became complete or was closed. */
static void changed(connection *c, request *r) {
    apns_transport *t = c->transport;
    if (r->state == REQUEST_NEW) {
        apns_transport_request_link(c, r);
        r->connection_id = c->id;
        r->response_body = NULL;
        r->state = REQUEST_OPEN;
    }
    if ((r->exchange.facts & APNS_H2_CLOSED) != 0) {
        request_close(t, r);
    } else if ((r->exchange.facts & (APNS_H2_COMPLETE | APNS_H2_FIELDS)) != 0 && r->state == REQUEST_OPEN) {
        r->state = REQUEST_QUEUED;
        apns_transport_request_queue_push(&t->received, r);
    }
}

/* ---------------------------------------------------------------- connections */

static void requests_end(connection *c, uint32_t scope, int64_t code) {
    (void)scope;
    (void)code;
    while (c->first != NULL)
        request_close(c->transport, c->first);
}

static apns_h2_session *session_create(connection *c, const apns_h2_session_options *options) {
    return apns_h2_server_create(options, server_of(c)->streams_max, server_of(c)->stream_window);
}

static void introduce(connection *c, event_node *node, char *text, size_t length, size_t capacity) {
    node->event.code = (int64_t)server_of(c)->ordinal;
    if (length + 1 >= capacity) return;
    text[length++] = '\n';
    apns_tls_session_peer_describe(c->tls, text + length, capacity - length);
}

static void release(connection *c) {
    if (c->side == &apns_server_side && c->own != NULL) free(server_of(c)->held);
    free(c->own);
    c->own = NULL;
}

const connection_side apns_server_side = {
    .session_create = session_create,
    .introduce = introduce,
    .received = apns_fault_received,
    .sendable = apns_fault_sendable,
    .sent = apns_fault_sent,
    .changed = changed,
    .requests_end = requests_end,
    .farewell = apns_fault_farewell,
    .hangs_up = apns_fault_hangs_up,
    .close = apns_fault_close,
    .closed = apns_connection_closed,
    .release = release,
};

/* ---------------------------------------------------------------- accepting */

static const connection_side listener_side = {.closed = apns_transport_slot_give, .release = release};

static bool connection_prepare(connection *c, const connection *listener, apns_reactor_socket socket) {
    apns_transport *t = c->transport;
    const apns_transport_listen_options *options = listener->own;
    c->socket = socket;
    c->context = listener->context;
    apns_connection_state_set(c, CONNECTION_HANDSHAKING);
    c->own = calloc(1, sizeof(server_connection));
    if (c->own == NULL) return false;
    *server_of(c) = (server_connection){.streams_max = options->streams_max, .stream_window = options->stream_window};
    apns_tls_context *tls = apns_transport_tls_find(t, options->tls, &apns_tls_server_role);
    c->tls = tls == NULL ? NULL : apns_tls_session_create(tls, NULL, &c->fill);
    return c->tls != NULL && apns_reactor_context_set(t->reactor, socket, c->id) == 0;
}

static void accepted(apns_transport *t, const apns_reactor_event *event) {
    connection *listener = apns_transport_slot_find(t, event->context);
    if (event->error != 0 || event->socket == 0) return;
    connection *c = listener == NULL ? NULL : apns_transport_slot_take(t, &apns_server_side);
    if (c != NULL && !connection_prepare(c, listener, event->socket)) {
        apns_tls_session_destroy(c->tls);
        apns_transport_slot_give(c);
        c = NULL;
    }
    if (c == NULL) {
        apns_reactor_close(t->reactor, event->socket);
        return;
    }
    if (t->options.connect_timeout_ms > 0) apns_connection_deadline_set(c, t->options.connect_timeout_ms);
    server_of(c)->ordinal = ++((server_state *)t->acceptor_state)->accepted;
    apns_fault_accepted(c);
}

static void server_received_fill(apns_transport *t, apns_transport_poll_io *io) {
    while (io->received_count < io->received_capacity) {
        request *r = apns_transport_request_queue_pop(&t->received);
        if (r == NULL) return;
        if (r->state == REQUEST_GONE) {
            request_release(t, r);
            continue;
        }
        r->state = REQUEST_RECEIVED;
        const apns_h2_message *message = apns_transport_message_return(t, r);
        io->received[io->received_count++] = (apns_transport_received){
            .connection = r->connection_id,
            .fields = (const apns_transport_field *)(const void *)message->fields,
            .body = message->body_length > 0 ? message->body : NULL,
            .stream = (uint32_t)r->exchange.stream,
            .field_count = message->field_count,
            .body_length = message->body_length,
            .body_total = r->exchange.body_received,
        };
    }
}

static void acceptor_destroy(apns_transport *t) {
    free(t->acceptor_state);
    t->acceptor_state = NULL;
}

server_state *apns_server_state_get(apns_transport *t) {
    static const transport_acceptor acceptor = {
        .accepted = accepted, .received_fill = server_received_fill, .destroy = acceptor_destroy};
    if (t->acceptor_state == NULL) t->acceptor_state = calloc(1, sizeof(server_state));
    if (t->acceptor_state != NULL) t->acceptor = &acceptor;
    return t->acceptor_state;
}

int apns_transport_server_tls_create(apns_transport *t, const apns_transport_tls_options *options, apns_error *error) {
    return apns_transport_tls_add(t, &apns_tls_server_role, options, error);
}

static int listen_fail(apns_error *error, int code) {
    char text[200];
    snprintf(text, sizeof(text), "listening failed: %s", strerror(code));
    return apns_error_set(error, APNS_RESOURCE, APNS_TRANSPORT_SCOPE_SYSTEM, code, text);
}

/* Returns a listener slot with a copy of the options, or NULL. */
static connection *listener_take(apns_transport *t, const apns_transport_listen_options *options) {
    connection *c = apns_server_state_get(t) == NULL ? NULL : apns_transport_slot_take(t, &listener_side);
    if (c == NULL) return NULL;
    apns_transport_listen_options *copy = malloc(sizeof(*copy));
    if (copy == NULL) {
        apns_transport_slot_give(c);
        return NULL;
    }
    *copy = *options;
    copy->address = NULL; /* borrowed until return */
    c->own = copy;
    c->context = options->context;
    apns_connection_state_set(c, CONNECTION_UP);
    return c;
}

int apns_transport_listen(apns_transport *t, const apns_transport_listen_options *options, uint16_t *port,
                          apns_error *error) {
    *port = 0;
    if (apns_transport_tls_find(t, options->tls, &apns_tls_server_role) == NULL || options->address == NULL)
        return APNS_MISUSE;
    connection *c = listener_take(t, options);
    if (c == NULL) return listen_fail(error, ENOSPC);
    int result =
        apns_reactor_listen(t->reactor, options->address, options->address_length, LISTEN_BACKLOG, c->id, &c->socket);
    if (result < 0) {
        apns_transport_slot_give(c);
        return listen_fail(error, -result);
    }
    int local = apns_reactor_local_port(t->reactor, c->socket);
    *port = local > 0 ? (uint16_t)local : 0;
    return APNS_OK;
}

connection *apns_server_find(const apns_transport *t, uint64_t id) {
    connection *c = apns_transport_slot_find(t, id);
    return c != NULL && c->side == &apns_server_side && c->state == CONNECTION_UP ? c : NULL;
}

int apns_transport_connection_streams_set(apns_transport *t, apns_transport_connection connection_id,
                                          uint32_t streams_max) {
    connection *c = apns_server_find(t, connection_id);
    if (c == NULL) return APNS_MISUSE;
    apns_connection_dirty(c);
    return apns_h2_server_streams_max_set(c->h2, streams_max);
}

int apns_transport_connection_goaway(apns_transport *t, apns_transport_connection connection_id, uint32_t code,
                                     const uint8_t *debug, uint32_t debug_length) {
    connection *c = apns_server_find(t, connection_id);
    if (c == NULL) return APNS_MISUSE;
    c->goaway_sent = true;
    apns_connection_dirty(c);
    return apns_h2_session_goaway(c->h2, code, debug, debug_length);
}

/* Copies the body, because flow control may delay it. */
static bool body_copy(apns_transport *t, request *r, const apns_transport_response *response) {
    if (response->body_length == 0) return true;
    r->response_body = apns_h2_memory_take(t->memory, response->body_length);
    if (r->response_body == NULL) return false;
    memcpy(r->response_body, response->body, response->body_length);
    r->exchange.body = r->response_body;
    r->exchange.body_length = response->body_length;
    return true;
}

static void respond_one(connection *c, request *r, const apns_transport_response *response) {
    apns_transport *t = c->transport;
    r->state = REQUEST_RESPONDED;
    bool reset = response->reset != 0 || !body_copy(t, r, response);
    if (reset)
        apns_h2_server_reset(c->h2, &r->exchange, response->reset != 0 ? response->reset_code : APNS_H2_INTERNAL_ERROR);
    else
        apns_h2_server_respond(c->h2, &r->exchange, response->status,
                               (const apns_h2_field *)(const void *)response->fields, response->field_count);
    if (apns_connection_plain_ready(c)) apns_h2_session_pump(c->h2);
    apns_connection_dirty(c);
}

int apns_transport_respond(apns_transport *t, const apns_transport_response *responses, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (responses[i].field_count > APNS_H2_REQUEST_FIELDS_MAX) return APNS_MISUSE;
    for (uint32_t i = 0; i < count; i++) {
        connection *c = apns_server_find(t, responses[i].connection);
        request *r = c == NULL ? NULL : (request *)apns_h2_server_find(c->h2, (int32_t)responses[i].stream);
        if (r != NULL && r->state == REQUEST_RECEIVED) respond_one(c, r, &responses[i]);
    }
    return APNS_OK;
}
