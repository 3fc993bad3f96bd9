#include "transport_internal.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sizes of the receive buffers, which all connections share. */
enum { RECEIVE_BUFFER_BYTES = 32768, RECEIVE_BUFFERS_MIN = 32, RECEIVE_BUFFERS_MAX = 1024 };

/* Memory that nghttp2 may use: per connection for tables and frame buffers, per stream for its state, its fields and
 * the kept part of its body. A connection that needs more than the total ends. */
enum { MEMORY_PER_TRANSPORT = 4 << 20, MEMORY_PER_CONNECTION = 512 << 10, MEMORY_PER_STREAM = 8 << 10 };

static bool options_valid(const apns_transport_options *options) {
    return options->connections_max > 0 && options->connections_max <= 65536 && options->streams_max > 0 &&
           options->streams_max <= 1u << 20 && options->body_received_max <= 1u << 24 && options->send_buffer_max > 0 &&
           options->send_buffer_max <= 1u << 24 && options->capture_count <= APNS_H2_CAPTURES_MAX &&
           options->loop <= APNS_TRANSPORT_LOOP_EPOLL && (options->capture_count == 0 || options->captures != NULL);
}

static uint32_t receive_buffers(uint32_t connections) {
    uint32_t count = RECEIVE_BUFFERS_MIN;
    while (count < connections && count < RECEIVE_BUFFERS_MAX)
        count *= 2;
    return count;
}

_Static_assert((int)APNS_TRANSPORT_LOOP_AUTO == (int)APNS_REACTOR_BACKEND_AUTO &&
                   (int)APNS_TRANSPORT_LOOP_IO_URING == (int)APNS_REACTOR_BACKEND_IO_URING &&
                   (int)APNS_TRANSPORT_LOOP_EPOLL == (int)APNS_REACTOR_BACKEND_EPOLL &&
                   (int)APNS_TRANSPORT_LOOP_OTHER == (int)APNS_REACTOR_BACKEND_OTHER,
               "the same numbers");

static int reactor_make(apns_transport *t, void *context, apns_error *error) {
    apns_reactor_options options = {
        .backend = t->options.loop,
        .sockets_max = t->options.connections_max,
        .receive_buffer_bytes = RECEIVE_BUFFER_BYTES,
        .receive_buffer_count = receive_buffers(t->options.connections_max),
    };
    int result = t->ground->reactor_open(context, &options, &t->reactor);
    if (result == 0) return APNS_OK;
    char text[200];
    static const char *const names[] = {"", "io_uring ", "epoll "};
    snprintf(text, sizeof(text), "no %sevent loop: %s%s", names[t->options.loop], strerror(-result),
             result == -EMFILE ? "; raise the limit of open files (ulimit -n)" : "");
    return apns_error_set(error, APNS_RESOURCE, APNS_TRANSPORT_SCOPE_SYSTEM, -result, text);
}

static bool captures_copy(apns_transport *t) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < t->options.capture_count; i++)
        bytes += strlen(t->options.captures[i]);
    char *place = t->capture_names = malloc(bytes + 1);
    if (place == NULL) return false;
    for (uint32_t i = 0; i < t->options.capture_count; i++) {
        size_t length = strlen(t->options.captures[i]);
        memcpy(place, t->options.captures[i], length);
        t->captures[i] = (apns_h2_field){.name = (const uint8_t *)place, .name_length = (uint32_t)length};
        place += length;
    }
    t->options.captures = NULL;
    return true;
}

static bool memory_make(apns_transport *t) {
    uint32_t connections = t->options.connections_max;
    size_t limit = MEMORY_PER_TRANSPORT + (size_t)connections * MEMORY_PER_CONNECTION +
                   (size_t)t->options.streams_max * (MEMORY_PER_STREAM + t->options.body_received_max);
    t->memory = apns_h2_memory_create(limit);
    t->slots = calloc(connections, sizeof(*t->slots));
    t->slots_free = calloc(connections, sizeof(*t->slots_free));
    t->header_sets = calloc(HEADER_SETS_MAX, sizeof(*t->header_sets));
    if (t->memory == NULL || t->slots == NULL || t->slots_free == NULL || t->header_sets == NULL) return false;
    t->pool = apns_h2_pool_create(t->memory, t->options.streams_max, sizeof(request) - sizeof(apns_h2_exchange));
    if (t->pool == NULL || !captures_copy(t)) return false;
    t->slot_count = t->slots_free_count = connections;
    for (uint32_t i = 0; i < connections; i++)
        t->slots_free[i] = connections - 1 - i;
    return true;
}

static apns_transport *allocate(const apns_transport_options *options) {
    apns_transport *t = calloc(1, sizeof(*t));
    if (t == NULL) return NULL;
    t->options = *options;
    t->next_deadline_ns = UINT64_MAX;
    t->plain_buffers.bytes = APNS_TLS_RECORD_PLAIN_MAX;
    t->send_buffers.bytes = (size_t)options->send_buffer_max + SEND_BUFFER_SLACK;
    t->events_last = &t->events_first;
    apns_transport_request_queue_init(&t->completions);
    apns_transport_request_queue_init(&t->received);
    return t;
}

int apns_transport_open_with(const transport_ground *ground, void *context, const apns_transport_options *options,
                             apns_transport **out, apns_error *error) {
    *out = NULL;
    if (!options_valid(options))
        return apns_error_set(error, APNS_MISUSE, APNS_TRANSPORT_SCOPE_NONE, 0, "transport: options out of range");
    apns_transport *t = allocate(options);
    if (t != NULL) t->ground = ground;
    if (t == NULL || !memory_make(t)) {
        apns_transport_destroy(t);
        return apns_error_set(error, APNS_RESOURCE, APNS_TRANSPORT_SCOPE_SYSTEM, ENOMEM, "transport: no memory");
    }
    int status = reactor_make(t, context, error);
    if (status != APNS_OK) {
        apns_transport_destroy(t);
        return status;
    }
    t->looked_ns = t->now_ns = apns_reactor_now_ns(t->reactor);
    *out = t;
    return APNS_OK;
}

static int system_reactor_open(void *context, const apns_reactor_options *options, apns_reactor **out) {
    (void)context;
    return apns_reactor_create(options, out);
}

int apns_transport_create(const apns_transport_options *options, apns_transport **out, apns_error *error) {
    static const transport_ground ground = {.reactor_open = system_reactor_open, .tls_create = apns_tls_context_create};
    return apns_transport_open_with(&ground, NULL, options, out, error);
}

static void slot_destroy(apns_transport *t, connection *c) {
    apns_connection_tunnel_drop(c);
    apns_h2_session_destroy(c->h2);
    apns_tls_session_destroy(c->tls);
    apns_h2_header_set_destroy(c->shared);
    apns_connection_send_buffers_drop(c);
    apns_connection_flight_give(c);
    apns_transport_event_node_give(t, c->down);
    if (c->side->release != NULL) c->side->release(c);
}

/* The reactor is destroyed first: it waits for kernel operations, which may still read the send buffers. */
void apns_transport_destroy(apns_transport *t) {
    if (t == NULL) return;
    apns_reactor_destroy(t->reactor);
    for (uint32_t i = 0; i < t->slot_count; i++)
        if (t->slots[i].side != NULL) slot_destroy(t, &t->slots[i]);
    for (uint32_t i = 0; i < t->tls_count; i++)
        apns_tls_context_destroy(t->tls[i].context);
    for (uint32_t i = 0; t->header_sets != NULL && i < HEADER_SETS_MAX; i++)
        apns_h2_header_set_destroy(t->header_sets[i]);
    if (t->acceptor != NULL) t->acceptor->destroy(t);
    apns_transport_event_nodes_free(t);
    apns_transport_buffers_free(&t->plain_buffers);
    apns_transport_buffers_free(&t->send_buffers);
    apns_transport_tunnel_request_clear(t);
    apns_h2_pool_destroy(t->pool);
    apns_h2_memory_destroy(t->memory);
    free(t->header_sets);
    free(t->slots);
    free(t->slots_free);
    free(t->capture_names);
    free(t);
}

uint32_t apns_transport_loop_kind(const apns_transport *t) {
    return apns_reactor_backend_kind(t->reactor);
}

int apns_transport_loop_refusal(const apns_transport *t) {
    return apns_reactor_refusal(t->reactor);
}

int apns_transport_loop_error(const apns_transport *t) {
    return t->loop_error;
}

uint64_t apns_transport_now_ns(apns_transport *t) {
    return apns_reactor_now_ns(t->reactor);
}

void apns_transport_user_timeout_set(apns_transport *t, uint32_t milliseconds) {
    apns_reactor_user_timeout_set(t->reactor, milliseconds);
}

void apns_transport_wake(apns_transport *t) {
    apns_reactor_wake(t->reactor);
}

void apns_transport_statistics_get(const apns_transport *t, apns_transport_statistics *out) {
    *out = t->statistics;
}

int apns_transport_tls_add(apns_transport *t, const apns_tls_role *role, const apns_transport_tls_options *options,
                           apns_error *error) {
    uint32_t number = 0;
    while (number < t->tls_count && t->tls[number].context != NULL)
        number++;
    if (number == TLS_CONTEXTS_MAX)
        return apns_error_set(error, APNS_RESOURCE, APNS_TRANSPORT_SCOPE_LOCAL, 0, "too many TLS configurations");
    const apns_tls_context_options wanted = {
        .ca_pem = options->ca_pem,
        .certificate_pem = options->certificate_pem,
        .key_pem = options->key_pem,
        .ca_length = options->ca_length,
        .certificate_length = options->certificate_length,
        .key_length = options->key_length,
        .system_trusted = options->system_trusted != 0,
        .verify_disabled = options->verify_disabled != 0,
        .request_client_certificate = options->request_client_certificate != 0,
    };
    apns_error reason;
    apns_tls_context *context = NULL;
    if (t->ground->tls_create(role, &wanted, &context, &reason) != APNS_OK)
        return apns_error_set(error, APNS_RESOURCE, APNS_TRANSPORT_SCOPE_TLS, reason.code, reason.text);
    t->tls[number] = (tls_entry){context, role};
    if (number == t->tls_count) t->tls_count++;
    return (int)number;
}

int apns_transport_tls_create(apns_transport *t, const apns_transport_tls_options *options, apns_error *error) {
    return apns_transport_tls_add(t, &apns_tls_client_role, options, error);
}

apns_tls_context *apns_transport_tls_find(const apns_transport *t, int32_t number, const apns_tls_role *role) {
    return number >= 0 && (uint32_t)number < t->tls_count && t->tls[number].role == role ? t->tls[number].context
                                                                                         : NULL;
}

int apns_transport_tls_release(apns_transport *t, int32_t number) {
    if (number < 0 || (uint32_t)number >= t->tls_count || t->tls[number].context == NULL) return APNS_MISUSE;
    apns_tls_context_destroy(t->tls[number].context);
    t->tls[number].context = NULL;
    return APNS_OK;
}

int apns_transport_connection_close(apns_transport *t, apns_transport_connection connection_id, uint32_t how) {
    connection *c = apns_transport_slot_find(t, connection_id);
    if (c == NULL || connection_is_listener(c)) return APNS_MISUSE;
    if (how == APNS_TRANSPORT_CLOSE_NOW || c->state < CONNECTION_UP) {
        if (c->state == CONNECTION_UP) apns_connection_goaway(c);
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_LOCAL, APNS_TRANSPORT_LOCAL_CLOSED, "closed by this program", true);
        return APNS_OK;
    }
    if (c->state != CONNECTION_UP) return APNS_OK;
    c->draining = true;
    if (!c->side->client) apns_connection_goaway(c);
    apns_connection_dirty(c);
    apns_connection_drained_check(c);
    return APNS_OK;
}

int apns_transport_connection_ping(apns_transport *t, apns_transport_connection connection_id) {
    connection *c = apns_transport_slot_find(t, connection_id);
    if (c == NULL || c->h2 == NULL || c->state != CONNECTION_UP) return APNS_MISUSE;
    apns_connection_dirty(c);
    return apns_h2_session_ping(c->h2, t->now_ns);
}
