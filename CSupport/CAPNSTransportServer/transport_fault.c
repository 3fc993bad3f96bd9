#include "server_internal.h"
#include <stdlib.h>
#include <string.h>

enum { HELD_BYTES_MAX = 16 << 20 };

/* Ends a connection; gently: after sending what is queued. */
static void end(connection *c, uint32_t how, bool gently) {
    server_of(c)->ending = (uint8_t)how;
    apns_connection_end(c, APNS_TRANSPORT_SCOPE_LOCAL, APNS_TRANSPORT_LOCAL_FAULT, "ended on purpose", gently);
}

/* Whether a connection can end in the middle of a TLS record. */
static bool to_the_byte(uint32_t how) {
    return how == APNS_TRANSPORT_ABORT_RESET || how == APNS_TRANSPORT_ABORT_CLOSE;
}

static void end_at_cut(connection *c) {
    uint32_t how = server_of(c)->cut.how;
    server_of(c)->cut.how = APNS_TRANSPORT_ABORT_NONE;
    end(c, how, !to_the_byte(how));
}

/* Returns a server connection that has not ended, or NULL. */
static connection *find(const apns_transport *t, uint64_t id) {
    connection *c = apns_transport_slot_find(t, id);
    return c != NULL && c->side == &apns_server_side && c->state <= CONNECTION_UP ? c : NULL;
}

int apns_transport_fault_abort(apns_transport *t, apns_transport_connection id, uint32_t how) {
    connection *c = find(t, id);
    if (c == NULL || how == APNS_TRANSPORT_ABORT_NONE || how > APNS_TRANSPORT_ABORT_NOTIFY) return APNS_MISUSE;
    end(c, how, how != APNS_TRANSPORT_ABORT_RESET);
    return APNS_OK;
}

/* ---------------------------------------------------------------- cuts */

int apns_transport_fault_cuts_add(apns_transport *t, const apns_transport_cut *cuts, uint32_t count) {
    server_state *state = apns_server_state_get(t);
    if (state == NULL || count > APNS_TRANSPORT_CUTS_MAX - state->cuts_count) return APNS_RESOURCE;
    for (uint32_t i = 0; i < count; i++)
        state->cuts[(state->cuts_first + state->cuts_count++) % APNS_TRANSPORT_CUTS_MAX] = cuts[i];
    return APNS_OK;
}

uint32_t apns_transport_fault_cuts_left(const apns_transport *t) {
    const server_state *state = t->acceptor_state;
    return state == NULL ? 0 : state->cuts_count;
}

void apns_fault_accepted(connection *c) {
    server_state *state = c->transport->acceptor_state;
    if (state->cuts_count == 0) return;
    const apns_transport_cut cut = state->cuts[state->cuts_first];
    state->cuts_first = (state->cuts_first + 1) % APNS_TRANSPORT_CUTS_MAX;
    state->cuts_count--;
    server_of(c)->cut = cut;
    if (cut.how != APNS_TRANSPORT_ABORT_NONE && cut.received != 0 && cut.bytes == 0) end_at_cut(c);
}

static bool cut_received(const server_connection *f) {
    return f->cut.how != APNS_TRANSPORT_ABORT_NONE && f->cut.received != 0;
}

static bool cut_sent(const server_connection *f) {
    return f->cut.how != APNS_TRANSPORT_ABORT_NONE && f->cut.received == 0;
}

static bool hold(server_connection *f, const uint8_t *bytes, size_t length) {
    if (f->held_length + length > HELD_BYTES_MAX) return false;
    if (f->held_length + length > f->held_capacity) {
        size_t capacity = 2 * (f->held_length + length);
        uint8_t *larger = realloc(f->held, capacity);
        if (larger == NULL) return false;
        f->held = larger;
        f->held_capacity = capacity;
    }
    memcpy(f->held + f->held_length, bytes, length);
    f->held_length += length;
    return true;
}

void apns_fault_received(connection *c, const uint8_t *bytes, size_t length) {
    server_connection *f = server_of(c);
    f->received += length;
    if (cut_received(f) && f->received >= f->cut.bytes) {
        size_t beyond = (size_t)(f->received - f->cut.bytes);
        if (beyond < length) apns_connection_take(c, bytes, length - beyond);
        end_at_cut(c);
    } else if ((f->stalled & APNS_TRANSPORT_STALL_READING) == 0) {
        apns_connection_take(c, bytes, length);
    } else if (!hold(f, bytes, length)) {
        end(c, APNS_TRANSPORT_ABORT_RESET, false);
    }
}

size_t apns_fault_sendable(connection *c, size_t length) {
    const server_connection *f = server_of(c);
    if ((f->stalled & APNS_TRANSPORT_STALL_WRITING) != 0 && c->state != CONNECTION_LEAVING) return 0;
    if (!cut_sent(f) || f->sent + length < f->cut.bytes) return length;
    if (f->sent >= f->cut.bytes) return 0;
    return to_the_byte(f->cut.how) ? (size_t)(f->cut.bytes - f->sent) : length;
}

/* Called when bytes were sent, or when the cut withholds some. */
void apns_fault_sent(connection *c, size_t length) {
    server_connection *f = server_of(c);
    f->sent += length;
    if (cut_sent(f) && f->sent >= f->cut.bytes && c->state < CONNECTION_LEAVING) end_at_cut(c);
}

bool apns_fault_hangs_up(const connection *c) {
    return server_of(c)->ending == APNS_TRANSPORT_ABORT_CLOSE || server_of(c)->ending == APNS_TRANSPORT_ABORT_ALERT;
}

void apns_fault_farewell(connection *c) {
    if (server_of(c)->ending == APNS_TRANSPORT_ABORT_ALERT)
        apns_tls_session_alert(c->tls);
    else if (server_of(c)->ending != APNS_TRANSPORT_ABORT_CLOSE)
        apns_tls_session_close(c->tls);
}

void apns_fault_close(connection *c) {
    if (server_of(c)->ending == APNS_TRANSPORT_ABORT_RESET)
        apns_reactor_reset(c->transport->reactor, c->socket);
    else
        apns_reactor_close(c->transport->reactor, c->socket);
}

/* ---------------------------------------------------------------- while it is up */

int apns_transport_fault_stall(apns_transport *t, apns_transport_connection id, uint32_t what) {
    connection *c = find(t, id);
    if (c == NULL) return APNS_MISUSE;
    server_connection *f = server_of(c);
    f->stalled = (uint8_t)what;
    apns_connection_dirty(c);
    if ((what & APNS_TRANSPORT_STALL_READING) != 0 || f->held == NULL) return APNS_OK;
    uint8_t *held = f->held;
    size_t length = f->held_length;
    f->held = NULL;
    f->held_length = f->held_capacity = 0;
    apns_connection_take(c, held, length);
    free(held);
    return APNS_OK;
}

int apns_transport_fault_pings_mute(apns_transport *t, apns_transport_connection id, bool muted) {
    connection *c = apns_server_find(t, id);
    if (c == NULL) return APNS_MISUSE;
    apns_h2_fault_pings_mute(c->h2, muted);
    return APNS_OK;
}

int apns_transport_fault_early(apns_transport *t, apns_transport_connection id, bool early) {
    connection *c = apns_server_find(t, id);
    if (c == NULL) return APNS_MISUSE;
    apns_h2_fault_early_set(c->h2, early);
    return APNS_OK;
}

int apns_transport_fault_settings(apns_transport *t, apns_transport_connection id, const apns_h2_setting *settings,
                                  uint32_t count) {
    connection *c = apns_server_find(t, id);
    if (c == NULL || count > APNS_H2_FAULT_SETTINGS_MAX) return APNS_MISUSE;
    apns_connection_dirty(c);
    return apns_h2_fault_settings(c->h2, settings, count);
}

int apns_transport_fault_goaway(apns_transport *t, apns_transport_connection id, uint32_t last_stream, uint32_t code,
                                const uint8_t *debug, uint32_t debug_length) {
    connection *c = apns_server_find(t, id);
    if (c == NULL || last_stream > INT32_MAX) return APNS_MISUSE;
    c->goaway_sent = true;
    apns_connection_dirty(c);
    return apns_h2_fault_goaway(c->h2, (int32_t)last_stream, code, debug, debug_length);
}

int apns_transport_fault_bytes(apns_transport *t, apns_transport_connection id, uint32_t stream, const uint8_t *bytes,
                               uint32_t length) {
    connection *c = apns_server_find(t, id);
    if (c == NULL) return APNS_MISUSE;
    request *r = stream == 0 ? NULL : (request *)apns_h2_server_find(c->h2, (int32_t)stream);
    if (stream != 0 && (r == NULL || r->state != REQUEST_RECEIVED)) return APNS_MISUSE;
    if (!apns_connection_plain_ready(c)) return APNS_RESOURCE;
    apns_connection_dirty(c);
    if (apns_h2_fault_bytes(c->h2, (int32_t)stream, bytes, length) != 0) {
        end(c, APNS_TRANSPORT_ABORT_RESET, false);
        return APNS_RESOURCE;
    }
    if (r != NULL) r->state = REQUEST_RESPONDED;
    return APNS_OK;
}

int apns_transport_fault_deafen(apns_transport *t, uint16_t port) {
    for (uint32_t i = 0; i < t->slot_count; i++) {
        connection *c = &t->slots[i];
        if (c->side == NULL || !connection_is_listener(c) || c->state != CONNECTION_UP) continue;
        if (apns_reactor_local_port(t->reactor, c->socket) != port) continue;
        apns_connection_close(c);
        return APNS_OK;
    }
    return APNS_MISUSE;
}
