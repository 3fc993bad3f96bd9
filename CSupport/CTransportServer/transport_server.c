#include "transport_internal.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LISTEN_BACKLOG = 512 };

void server_release(transport *t, request *r) {
    h2_memory_give(t->memory, r->response_body);
    r->response_body = NULL;
    request_give(t, r);
}

/* The stream is gone. */
static void server_close(transport *t, request *r) {
    request_unlink(r->connection, r);
    r->connection = NULL;
    if (r->state == REQUEST_QUEUED)
        r->state = REQUEST_GONE;
    else
        server_release(t, r);
}

/* A request began, became complete or was closed. */
void server_changed(connection *c, request *r) {
    transport *t = c->transport;
    if (r->state == REQUEST_NEW) {
        request_link(c, r);
        r->connection_id = c->id;
        r->response_body = NULL;
        r->state = REQUEST_OPEN;
    }
    if ((r->exchange.facts & H2_CLOSED) != 0) {
        server_close(t, r);
    } else if ((r->exchange.facts & (H2_COMPLETE | H2_FIELDS)) != 0 && r->state == REQUEST_OPEN) {
        r->state = REQUEST_QUEUED;
        request_queue_push(&t->received, r);
    }
}

void server_requests_end(connection *c) {
    while (c->first != NULL)
        server_close(c->transport, c->first);
}

static bool connection_prepare(connection *c, const connection *listener, reactor_socket socket) {
    transport *t = c->transport;
    c->socket = socket;
    c->context = listener->context;
    c->streams_max_offered = listener->streams_max_offered;
    c->stream_window = listener->stream_window;
    c->state = CONNECTION_HANDSHAKING;
    c->tls = tls_session_create(t->tls[listener->tls_number].context, NULL, &c->fill);
    return c->tls != NULL && reactor_context_set(t->reactor, socket, c->id) == 0;
}

void server_accepted(transport *t, const reactor_event *event) {
    connection *listener = slot_find(t, event->context);
    if (event->error != 0 || event->socket == 0) return;
    connection *c = listener == NULL ? NULL : slot_take(t, SLOT_SERVER);
    if (c == NULL) {
        reactor_close(t->reactor, event->socket);
        return;
    }
    if (!connection_prepare(c, listener, event->socket)) {
        tls_session_destroy(c->tls);
        slot_give(c);
        reactor_close(t->reactor, event->socket);
        return;
    }
    if (t->options.connect_timeout_ms > 0) connection_deadline_set(c, t->options.connect_timeout_ms);
    if (!fault_accepted(c)) connection_end(c, TRANSPORT_SCOPE_SYSTEM, ENOMEM, "no memory for a fault", false);
}

static int listen_fail(transport_error *error, int code, const char *what) {
    if (error != NULL) {
        *error = (transport_error){.status = TRANSPORT_RESOURCE, .scope = TRANSPORT_SCOPE_SYSTEM, .code = code};
        snprintf(error->text, sizeof(error->text), "%s: %s", what, strerror(code));
    }
    return TRANSPORT_RESOURCE;
}

int transport_listen(transport *t, const transport_listen_options *options, uint16_t *port, transport_error *error) {
    *port = 0;
    if (options->tls < 0 || (uint32_t)options->tls >= t->tls_count || t->tls[options->tls].context == NULL ||
        !t->tls[options->tls].server || options->address == NULL)
        return TRANSPORT_MISUSE;
    connection *c = slot_take(t, SLOT_LISTENER);
    if (c == NULL) return listen_fail(error, ENOSPC, "listening failed");
    c->context = options->context;
    c->tls_number = options->tls;
    c->streams_max_offered = options->streams_max;
    c->stream_window = options->stream_window;
    c->state = CONNECTION_UP;
    int result =
        reactor_listen(t->reactor, options->address, options->address_length, LISTEN_BACKLOG, c->id, &c->socket);
    if (result < 0) {
        slot_give(c);
        return listen_fail(error, -result, "listening failed");
    }
    int local = reactor_local_port(t->reactor, c->socket);
    *port = local > 0 ? (uint16_t)local : 0;
    return TRANSPORT_OK;
}

static connection *server_find(transport *t, uint64_t id) {
    connection *c = slot_find(t, id);
    return c != NULL && c->kind == SLOT_SERVER && c->state == CONNECTION_UP ? c : NULL;
}

int transport_connection_streams_set(transport *t, transport_connection connection_id, uint32_t streams_max) {
    connection *c = server_find(t, connection_id);
    if (c == NULL) return TRANSPORT_MISUSE;
    connection_dirty(c);
    return h2_server_streams_max_set(c->h2, streams_max) == 0 ? TRANSPORT_OK : TRANSPORT_RESOURCE;
}

int transport_connection_goaway(transport *t, transport_connection connection_id, uint32_t code, const uint8_t *debug,
                                uint32_t debug_length) {
    connection *c = server_find(t, connection_id);
    if (c == NULL) return TRANSPORT_MISUSE;
    c->goaway_sent = true;
    connection_dirty(c);
    return h2_session_goaway(c->h2, code, debug, debug_length) == 0 ? TRANSPORT_OK : TRANSPORT_RESOURCE;
}

/* Copies the body: the stream's windows may hold it back for a while. */
static bool body_copy(transport *t, request *r, const transport_response *response) {
    if (response->body_length == 0) return true;
    r->response_body = h2_memory_take(t->memory, response->body_length);
    if (r->response_body == NULL) return false;
    memcpy(r->response_body, response->body, response->body_length);
    r->exchange.body = r->response_body;
    r->exchange.body_length = response->body_length;
    return true;
}

static void respond_one(connection *c, request *r, const transport_response *response) {
    transport *t = c->transport;
    r->state = REQUEST_RESPONDED;
    bool reset = response->reset != 0 || !body_copy(t, r, response);
    if (reset)
        h2_server_reset(c->h2, &r->exchange, response->reset != 0 ? response->reset_code : 2); /* INTERNAL_ERROR */
    else
        h2_server_respond(c->h2, &r->exchange, response->status, (const h2_field *)(const void *)response->fields,
                          response->field_count);
    if (connection_plain_ready(c)) h2_session_pump(c->h2);
    connection_dirty(c);
}

int transport_respond(transport *t, const transport_response *responses, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (responses[i].field_count > H2_REQUEST_FIELDS_MAX) return TRANSPORT_MISUSE;
    for (uint32_t i = 0; i < count; i++) {
        connection *c = server_find(t, responses[i].connection);
        request *r = c == NULL ? NULL : (request *)h2_server_find(c->h2, (int32_t)responses[i].stream);
        if (r != NULL && r->state == REQUEST_RECEIVED) respond_one(c, r, &responses[i]);
    }
    return TRANSPORT_OK;
}
