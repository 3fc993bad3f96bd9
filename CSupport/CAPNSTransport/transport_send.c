#include "transport_internal.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A free buffer; the list is linked through the first bytes. */
struct buffer {
    buffer *next;
};

/* Returns NULL if there is no memory. */
static uint8_t *buffer_take(buffer_list *list) {
    buffer *taken = list->first;
    if (taken == NULL) return malloc(list->bytes);
    list->first = taken->next;
    return (uint8_t *)taken;
}

static void buffer_give(buffer_list *list, uint8_t *bytes) {
    buffer *given = (buffer *)(void *)bytes;
    given->next = list->first;
    list->first = given;
}

void apns_transport_buffers_free(buffer_list *list) {
    while (list->first != NULL)
        free(buffer_take(list));
}

void apns_connection_dirty(connection *c) {
    if (c->dirty || c->state >= CONNECTION_CLOSING) return;
    APNS_ASSERT(c->side != NULL);
    c->dirty = true;
    c->dirty_next = c->transport->dirty;
    c->transport->dirty = c;
}

void apns_connection_clean(connection *c) {
    if (!c->dirty) return;
    connection **link = &c->transport->dirty;
    for (; *link != c; link = &(*link)->dirty_next)
        APNS_REQUIRE(*link != NULL);
    *link = c->dirty_next;
    c->dirty = false;
}

bool apns_connection_output_ready(connection *c) {
    if (c->fill.bytes != NULL) return true;
    c->fill.bytes = buffer_take(&c->transport->send_buffers);
    c->fill.length = 0;
    c->fill.capacity = c->transport->send_buffers.bytes;
    return c->fill.bytes != NULL;
}

static void send_give(connection *c, uint8_t *bytes) {
    if (bytes == NULL) return;
    if (bytes == c->secret) {
        explicit_bzero(bytes, c->transport->tunnel_request_length);
        c->secret = NULL;
    }
    buffer_give(&c->transport->send_buffers, bytes);
}

void apns_connection_flight_give(connection *c) {
    send_give(c, c->flight);
    c->flight = NULL;
}

static void fill_give(connection *c) {
    send_give(c, c->fill.bytes);
    c->fill = (apns_tls_output){0};
}

static void plain_give(connection *c) {
    if (c->plain.bytes != NULL) buffer_give(&c->transport->plain_buffers, c->plain.bytes);
    c->plain.bytes = NULL;
    c->plain.length = 0;
}

void apns_connection_send_buffers_drop(connection *c) {
    fill_give(c);
    plain_give(c);
}

int apns_connection_encrypt(void *context) {
    connection *c = context;
    if (c->plain.length == 0) return 0;
    APNS_ASSERT(c->plain.length <= c->plain.capacity && c->plain.bytes != NULL);
    if (!apns_connection_output_ready(c) ||
        apns_tls_session_write(c->tls, c->plain.bytes, c->plain.length) != APNS_TLS_OK)
        return -1;
    APNS_ASSERT(c->fill.length <= c->fill.capacity);
    c->plain.length = 0;
    c->plain.paused = c->fill.length >= c->transport->options.send_buffer_max;
    c->transport->statistics.records_sent++;
    return 0;
}

/* Gives the buffer being filled to the reactor, unless a send is under way. */
static void hand_over(connection *c) {
    if (c->flight != NULL || c->fill.length == 0) return;
    size_t length = c->side->sendable == NULL ? c->fill.length : c->side->sendable(c, c->fill.length);
    APNS_ASSERT(length <= c->fill.length && c->fill.length <= c->fill.capacity);
    if (length == 0) {
        if (c->side->sent != NULL) c->side->sent(c, 0);
        return;
    }
    int result = apns_reactor_send(c->transport->reactor, c->socket, c->fill.bytes, length);
    if (result < 0) {
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_SYSTEM, -result, "sending failed", false);
        return;
    }
    c->transport->statistics.sends++;
    c->flight = c->fill.bytes;
    c->fill = (apns_tls_output){0};
    c->plain.paused = false;
    if (c->h2 == NULL) return;
    APNS_ASSERT(!c->side->client || c->handed_stream <= apns_h2_session_written_stream(c->h2));
    c->handed_stream = apns_h2_session_written_stream(c->h2);
    if (apns_h2_session_pending(c->h2)) apns_connection_dirty(c); /* the session can write again */
}

bool apns_connection_plain_ready(connection *c) {
    if (c->plain.bytes == NULL) c->plain.bytes = buffer_take(&c->transport->plain_buffers);
    return c->plain.bytes != NULL;
}

/* Encrypts what the session has to send. Returns false if the connection ended. */
static bool pump(connection *c) {
    APNS_ASSERT(c->h2 != NULL);
    if (!apns_h2_session_pending(c->h2) && c->plain.length == 0) return true;
    if (!apns_connection_plain_ready(c)) {
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_SYSTEM, ENOMEM, "no memory for a send buffer", false);
        return false;
    }
    bool good = apns_h2_session_pump(c->h2) == 0 && apns_connection_encrypt(c) == 0;
    if (good && c->plain.length == 0) plain_give(c);
    apns_connection_collect(c);
    if (c->state != CONNECTION_UP && c->state != CONNECTION_SETTLING) return false;
    if (good) return true;
    apns_connection_end_h2(c);
    return false;
}

void apns_connection_flush(connection *c) {
    APNS_ASSERT(c->state < CONNECTION_CLOSED);
    if (c->state == CONNECTION_UP || c->state == CONNECTION_SETTLING) {
        c->plain.paused = c->fill.length >= c->transport->options.send_buffer_max;
        if (!c->plain.paused && !pump(c)) return;
        if (c->plain.paused && c->plain.length > 0 && c->flight == NULL && apns_connection_encrypt(c) != 0) {
            apns_connection_end_tls(c);
            return;
        }
    }
    if (c->state >= CONNECTION_TUNNELING && c->state <= CONNECTION_LEAVING) hand_over(c);
    if (c->fill.bytes != NULL && c->fill.length == 0) fill_give(c);
    if (c->state == CONNECTION_LEAVING && c->flight == NULL &&
        (c->peer_closed || (c->side->hangs_up != NULL && c->side->hangs_up(c))))
        apns_connection_close(c);
}

void apns_connection_sent(connection *c, const apns_reactor_event *event) {
    apns_transport *t = c->transport;
    APNS_REQUIRE(c->flight != NULL && event->length <= t->send_buffers.bytes);
    apns_connection_flight_give(c);
    t->statistics.bytes_sent += event->length;
    if (c->state == CONNECTION_CLOSING) return;
    if (event->error != 0)
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_SYSTEM, event->error, "sending failed", false);
    else
        apns_connection_dirty(c);
    if (c->side->sent != NULL) c->side->sent(c, event->length);
}
