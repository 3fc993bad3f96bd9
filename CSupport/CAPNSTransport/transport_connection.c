#include "transport_internal.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

void apns_connection_state_set(connection *c, enum connection_state state) {
    enum {
        ENDS = 1 << CONNECTION_LEAVING,
        CLOSES = 1 << CONNECTION_CLOSING,
    };
    /* Allowed transitions. An accepted connection starts with HANDSHAKING, and a listener goes directly to UP. */
    static const uint8_t next[] = {
        [CONNECTION_CONNECTING] = ENDS | 1 << CONNECTION_TUNNELING | 1 << CONNECTION_HANDSHAKING | 1 << CONNECTION_UP,
        [CONNECTION_TUNNELING] = ENDS | 1 << CONNECTION_HANDSHAKING,
        [CONNECTION_HANDSHAKING] = ENDS | 1 << CONNECTION_SETTLING,
        [CONNECTION_SETTLING] = ENDS | 1 << CONNECTION_UP,
        [CONNECTION_UP] = ENDS | CLOSES,
        [CONNECTION_LEAVING] = CLOSES,
        [CONNECTION_CLOSING] = 1 << CONNECTION_CLOSED,
        [CONNECTION_CLOSED] = 0,
    };
    APNS_REQUIRE((next[c->state] >> state & 1) != 0);
    c->state = (uint8_t)state;
}

void apns_connection_deadline_set(connection *c, uint64_t after_ms) {
    apns_transport *t = c->transport;
    c->deadline_ns = t->now_ns + after_ms * 1000000;
    if (c->deadline_ns < t->next_deadline_ns) t->next_deadline_ns = c->deadline_ns;
}

void apns_connection_connected(connection *c, const apns_reactor_event *event) {
    if (event->error != 0) {
        char text[EVENT_DETAIL_BYTES_MAX];
        snprintf(text, sizeof(text), "%s", strerror(event->error));
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_SYSTEM, event->error, text, false);
        return;
    }
    if (c->transport->tunnel_request != NULL) {
        apns_connection_tunnel(c);
        return;
    }
    apns_connection_state_set(c, CONNECTION_HANDSHAKING);
    apns_tls_input nothing = {0};
    apns_connection_handshake(c, &nothing);
}

static void session_start(connection *c) {
    apns_transport *t = c->transport;
    APNS_REQUIRE(c->h2 == NULL && c->state == CONNECTION_HANDSHAKING);
    c->plain.capacity = APNS_TLS_RECORD_PLAIN_MAX;
    c->plain.flush = apns_connection_encrypt;
    c->plain.context = c;
    apns_h2_session_options options = {
        .memory = t->memory,
        .pool = t->pool,
        .output = &c->plain,
        .captures = t->captures,
        .capture_count = t->options.capture_count,
        .body_received_max = t->options.body_received_max,
    };
    c->h2 = c->side->client ? apns_h2_session_create(&options) : c->side->session_create(c, &options);
    if (c->h2 == NULL) {
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_SYSTEM, ENOMEM, "no memory for an HTTP/2 session", true);
        return;
    }
    apns_connection_state_set(c, CONNECTION_SETTLING);
}

void apns_connection_handshake(connection *c, apns_tls_input *input) {
    APNS_REQUIRE(c->state == CONNECTION_HANDSHAKING && c->tls != NULL);
    if (!apns_connection_output_ready(c)) {
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_SYSTEM, ENOMEM, "no memory for a send buffer", false);
        return;
    }
    apns_connection_dirty(c);
    switch (apns_tls_session_handshake(c->tls, input)) {
    case APNS_TLS_OK:
        session_start(c);
        break;
    case APNS_TLS_WANT:
        break;
    default:
        apns_connection_end_tls(c);
    }
}

void apns_connection_end_tls(connection *c) {
    const apns_error *error = apns_tls_session_error(c->tls);
    switch (error->scope) {
    case 0: /* the failure happened before TLS was called */
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_SYSTEM, ENOMEM, "no memory for a send buffer", false);
        break;
    case APNS_TLS_ERROR_ALPN:
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_LOCAL, APNS_TRANSPORT_LOCAL_NO_ALPN, error->text, true);
        break;
    case APNS_TLS_ERROR_OUTPUT_FULL:
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_LOCAL, APNS_TRANSPORT_LOCAL_LIMIT, error->text, false);
        break;
    case APNS_TLS_ERROR_TRUNCATED:
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_SYSTEM, ECONNRESET, error->text, false);
        break;
    default:
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_TLS, error->code, error->text, true);
    }
}

void apns_connection_end_h2(connection *c) {
    const apns_error *failure = apns_h2_session_failure(c->h2);
    switch (failure->scope) {
    case APNS_H2_FAILURE_LIMIT:
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_LOCAL, APNS_TRANSPORT_LOCAL_LIMIT, failure->text, true);
        break;
    case APNS_H2_FAILURE_MEMORY:
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_SYSTEM, ENOMEM, failure->text, true);
        break;
    case APNS_H2_FAILURE_PROTOCOL:
    case APNS_H2_FAILURE_LIBRARY:
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_SESSION, failure->code, failure->text, true);
        break;
    default:
        apns_connection_end_tls(c);
    }
}

uint32_t apns_connection_stage(const connection *c) {
    return c->state <= CONNECTION_UP ? c->state + 1U : APNS_TRANSPORT_STAGE_NONE;
}

static void end_note(connection *c, uint32_t scope, int64_t code, const char *text) {
    event_node *node = c->down;
    node->event.connection = c->id;
    node->event.context = c->context;
    node->event.kind = APNS_TRANSPORT_EVENT_DOWN;
    node->event.scope = (uint8_t)scope;
    node->event.stage = (uint8_t)apns_connection_stage(c);
    node->event.code = code;
    apns_transport_event_detail_set(node, text, strlen(text));
}

/* Whether our buffers contain requests that were not given to the reactor. A polite end would send these, although
 * their completion will be NOT_SENT. */
static bool unsent_requests(const connection *c) {
    return c->h2 != NULL && c->side->client && apns_h2_session_written_stream(c->h2) > c->handed_stream;
}

/* Writes the last HTTP/2 frames, such as GOAWAY, and close_notify. */
static void last_words(connection *c) {
    if (!apns_connection_output_ready(c)) return;
    if (c->h2 != NULL && apns_connection_plain_ready(c)) apns_h2_session_farewell(c->h2);
    if (apns_connection_encrypt(c) != 0) return;
    if (c->side->farewell == NULL)
        apns_tls_session_close(c->tls);
    else
        c->side->farewell(c);
}

void apns_connection_end(connection *c, uint32_t scope, int64_t code, const char *text, bool polite) {
    APNS_REQUIRE(scope != APNS_TRANSPORT_SCOPE_NONE);
    if (c->state >= CONNECTION_LEAVING) return;
    end_note(c, scope, code, text);
    polite = polite && c->state > CONNECTION_TUNNELING && !unsent_requests(c);
    apns_connection_state_set(c, CONNECTION_LEAVING);
    if (polite) last_words(c);
    apns_h2_session_destroy(c->h2);
    c->h2 = NULL;
    c->side->requests_end(c, scope, code); /* only now: until here the session refers to the requests */
    APNS_REQUIRE(c->first == NULL);
    if (!polite || (c->fill.length == 0 && c->flight == NULL)) {
        apns_connection_close(c);
        return;
    }
    apns_connection_deadline_set(c, LEAVE_MS_MAX);
    apns_connection_dirty(c);
}

void apns_connection_close(connection *c) {
    if (c->state >= CONNECTION_CLOSING) return;
    APNS_REQUIRE(c->first == NULL && c->h2 == NULL); /* all requests have their completions */
    apns_connection_state_set(c, CONNECTION_CLOSING);
    c->deadline_ns = UINT64_MAX;
    apns_connection_send_buffers_drop(c);
    if (c->side->close == NULL)
        apns_reactor_close(c->transport->reactor, c->socket);
    else
        c->side->close(c);
}

void apns_connection_closed(connection *c) {
    apns_transport *t = c->transport;
    apns_connection_end(c, APNS_TRANSPORT_SCOPE_SYSTEM, ECONNABORTED, "the event loop closed the connection", false);
    apns_connection_clean(c);
    apns_connection_flight_give(c);
    apns_connection_tunnel_drop(c);
    apns_tls_session_destroy(c->tls);
    c->tls = NULL;
    apns_h2_header_set_destroy(c->shared);
    c->shared = NULL;
    apns_connection_state_set(c, CONNECTION_CLOSED);
    APNS_REQUIRE(c->first == NULL && c->h2 == NULL && c->down != NULL);
    APNS_REQUIRE(c->fill.bytes == NULL && c->plain.bytes == NULL && c->flight == NULL);
    APNS_ASSERT(t->closed != c && c->tls == NULL && c->secret == NULL);
    c->closed_next = t->closed;
    t->closed = c;
}

void apns_connection_goaway(connection *c) {
    if (!c->goaway_sent) apns_h2_session_goaway(c->h2, 0, NULL, 0);
    c->goaway_sent = true;
}

static void goodbye(connection *c) {
    APNS_ASSERT(c->first == NULL && c->h2 != NULL);
    apns_connection_goaway(c);
    if (c->draining)
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_LOCAL, APNS_TRANSPORT_LOCAL_CLOSED, "closed by this program", true);
    else
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_HTTP2, c->goaway_code, "closed after the server's GOAWAY", true);
}

/* Whether to wait for a second GOAWAY, which some servers send, and which alone contains the reason. */
static bool goaway_awaited(connection *c) {
    if (!c->goaway_received || !c->side->client) return false;
    if (c->deadline_ns == UINT64_MAX) apns_connection_deadline_set(c, GOAWAY_MS_MAX);
    return c->transport->now_ns < c->deadline_ns;
}

void apns_connection_drained_check(connection *c) {
    bool leaving = c->draining || (c->goaway_received && c->side->client);
    if (leaving && c->state == CONNECTION_UP && c->first == NULL && !goaway_awaited(c)) goodbye(c);
}
