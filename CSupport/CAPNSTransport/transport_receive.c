#include "transport_internal.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Makes the connection usable after the peer's first SETTINGS. Returns false if there is no memory for the event,
 * without which the caller would never use the connection. */
static bool up(connection *c) {
    event_node *node =
        apns_transport_event_add(c, c->side->client ? APNS_TRANSPORT_EVENT_UP : APNS_TRANSPORT_EVENT_ACCEPTED);
    if (node == NULL) return false;
    apns_connection_state_set(c, CONNECTION_UP);
    c->deadline_ns = UINT64_MAX;
    c->streams_max = apns_h2_session_peer_streams_max(c->h2);
    char text[EVENT_DETAIL_BYTES_MAX];
    apns_tls_session_describe(c->tls, text, sizeof(text));
    if (c->side->introduce != NULL) c->side->introduce(c, node, text, strlen(text), sizeof(text));
    apns_transport_event_detail_set(node, text, strlen(text));
    node->event.streams_max = c->streams_max;
    return true;
}

static void settings_changed(connection *c) {
    uint32_t streams_max = apns_h2_session_peer_streams_max(c->h2);
    if (streams_max == c->streams_max && !c->settings_lost) return;
    c->streams_max = streams_max;
    if (c->settings == NULL) c->settings = apns_transport_event_add(c, APNS_TRANSPORT_EVENT_SETTINGS);
    if (c->settings != NULL) c->settings->event.streams_max = streams_max;
    c->settings_lost = c->settings == NULL;
}

/* The last stream of a later GOAWAY may be lower, but not higher (RFC 9113, section 6.8): requests that were excluded
 * once have been ended. */
static void goaway_add(connection *c, const apns_h2_goaway *goaway) {
    if (!c->goaway_received || goaway->last_stream < c->goaway_last) c->goaway_last = goaway->last_stream;
    c->goaway_received = true;
    c->goaway_code = goaway->code;
    event_node *node = apns_transport_event_add(c, APNS_TRANSPORT_EVENT_GOAWAY);
    if (node == NULL) return;
    node->event.scope = APNS_TRANSPORT_SCOPE_HTTP2;
    node->event.code = goaway->code;
    node->event.last_stream = (uint32_t)c->goaway_last;
    apns_transport_event_detail_set(node, goaway->debug, goaway->debug_length);
}

/* At most one PONG event is waiting at a time, so that a peer cannot use up the room for other events. */
static void pong_add(connection *c, uint64_t sent_ns) {
    if (c->pong == NULL) c->pong = apns_transport_event_add(c, APNS_TRANSPORT_EVENT_PONG);
    uint64_t now_ns = c->transport->now_ns;
    if (c->pong != NULL) c->pong->event.code = now_ns > sent_ns ? (int64_t)((now_ns - sent_ns) / 1000) : 0;
}

/* Returns false if the connection must end. */
static bool facts_collect(connection *c) {
    apns_h2_facts *facts = apns_h2_session_facts(c->h2);
    APNS_ASSERT(facts->goaway_count <= APNS_H2_GOAWAYS_KEPT);
    if (facts->settings_count > 0 || c->settings_lost) {
        facts->settings_count = 0;
        if (c->state != CONNECTION_SETTLING)
            settings_changed(c);
        else if (!up(c))
            return false;
    }
    for (uint32_t i = 0; i < facts->goaway_count; i++)
        goaway_add(c, &facts->goaways[i]);
    facts->goaway_count = 0;
    if (facts->pong_count > 0) pong_add(c, facts->pong_opaque);
    facts->pong_count = 0;
    return true;
}

static void changed_collect(connection *c) {
    for (apns_h2_exchange *exchange = apns_h2_session_changed_take(c->h2); exchange != NULL;) {
        apns_h2_exchange *next = exchange->next;
        exchange->facts = (uint8_t)(exchange->facts & ~APNS_H2_LISTED);
        c->side->changed(c, (request *)exchange);
        exchange = next;
    }
}

void apns_connection_collect(connection *c) {
    bool told = facts_collect(c);
    changed_collect(c);
    if (!told)
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_SYSTEM, ENOMEM, "no memory to tell that the connection is up",
                            true);
    else if (apns_h2_session_failure(c->h2)->scope != APNS_H2_FAILURE_NONE)
        apns_connection_end_h2(c);
    else
        apns_connection_drained_check(c);
}

/* Decrypts all of the input and passes many records at once to the session, because servers often send each response as
 * a record of its own. Returns the last enum apns_tls_result, or APNS_TLS_WANT if the session failed, which
 * apns_connection_collect detects. */
static int decrypt_all(connection *c, apns_tls_input *input) {
    apns_transport *t = c->transport;
    size_t filled = 0;
    for (;;) {
        size_t length = 0;
        int result =
            apns_tls_session_read(c->tls, input, t->decrypted + filled, sizeof(t->decrypted) - filled, &length);
        APNS_REQUIRE(length <= sizeof(t->decrypted) - filled);
        filled += length;
        bool full = sizeof(t->decrypted) - filled < APNS_TLS_RECORD_PLAIN_MAX;
        if ((result != APNS_TLS_OK || full) && filled > 0) {
            if (apns_h2_session_receive(c->h2, t->decrypted, filled) != 0) return APNS_TLS_WANT;
            filled = 0;
        }
        if (result != APNS_TLS_OK) return result;
    }
}

static void decrypt(connection *c, apns_tls_input *input) {
    APNS_ASSERT(c->h2 != NULL && c->tls != NULL);
    if (!apns_connection_output_ready(c)) {
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_SYSTEM, ENOMEM, "no memory for a send buffer", false);
        return;
    }
    int result = decrypt_all(c, input);
    apns_connection_collect(c);
    apns_connection_dirty(c);
    if (result == APNS_TLS_CLOSED) {
        c->peer_closed = true;
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_END, 0, "closed by the peer", true);
    } else if (result == APNS_TLS_FAILED) {
        apns_connection_end_tls(c);
    }
}

static void ended_by_peer(connection *c, int32_t error) {
    if (c->state == CONNECTION_LEAVING) {
        apns_connection_close(c);
    } else if (error != 0) {
        char text[EVENT_DETAIL_BYTES_MAX];
        snprintf(text, sizeof(text), "receiving failed: %s", strerror(error));
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_SYSTEM, error, text, false);
    } else if (c->state == CONNECTION_TUNNELING) {
        apns_connection_tunnel_ended(c);
    } else {
        apns_tls_session_truncated(c->tls);
        apns_connection_end_tls(c);
    }
}

void apns_connection_take(connection *c, const uint8_t *bytes, size_t length) {
    apns_tls_input input = {bytes, length};
    if (c->state == CONNECTION_TUNNELING) {
        apns_connection_tunnel_received(c, &input);
        return;
    }
    if (c->state == CONNECTION_HANDSHAKING) apns_connection_handshake(c, &input);
    if (c->state == CONNECTION_SETTLING || c->state == CONNECTION_UP) decrypt(c, &input);
}

void apns_connection_received(connection *c, const apns_reactor_event *event) {
    apns_transport *t = c->transport;
    t->statistics.receives++;
    t->statistics.bytes_received += event->length;
    if (event->error != 0 || event->length == 0) {
        ended_by_peer(c, event->error);
        return;
    }
    c->side->received(c, event->bytes, event->length);
}
