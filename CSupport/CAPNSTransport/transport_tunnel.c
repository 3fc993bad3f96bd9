#include "transport_internal.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits on the proxy's response and on our CONNECT request. */
enum { TUNNEL_ANSWER_BYTES_MAX = 8192, TUNNEL_REQUEST_BYTES_MAX = 8192 };

/* The part of a proxy's response that has been received. */
struct tunnel {
    uint32_t length;
    char answer[TUNNEL_ANSWER_BYTES_MAX];
};

int apns_transport_tunnel_set(apns_transport *t, const uint8_t *request, uint32_t length) {
    if (length > TUNNEL_REQUEST_BYTES_MAX || (request == NULL && length > 0)) return APNS_MISUSE;
    uint8_t *copy = length > 0 ? malloc(length) : NULL;
    if (copy == NULL && length > 0) return APNS_RESOURCE;
    if (length > 0) memcpy(copy, request, length);
    apns_transport_tunnel_request_clear(t);
    t->tunnel_request = copy;
    t->tunnel_request_length = length;
    return APNS_OK;
}

void apns_transport_tunnel_request_clear(apns_transport *t) {
    if (t->tunnel_request != NULL) explicit_bzero(t->tunnel_request, t->tunnel_request_length);
    free(t->tunnel_request);
    t->tunnel_request = NULL;
    t->tunnel_request_length = 0;
}

void apns_connection_tunnel_drop(connection *c) {
    free(c->tunnel);
    c->tunnel = NULL;
}

static void fail(connection *c, int64_t code, const char *text) {
    apns_connection_end(c, APNS_TRANSPORT_SCOPE_PROXY, code, text, false);
}

/* Writes the request in one piece into the send buffer, which is large enough for it. */
void apns_connection_tunnel(connection *c) {
    const apns_transport *t = c->transport;
    APNS_REQUIRE(c->tunnel == NULL && c->fill.length == 0);
    c->tunnel = calloc(1, sizeof(*c->tunnel));
    if (c->tunnel == NULL || !apns_connection_output_ready(c)) {
        apns_connection_end(c, APNS_TRANSPORT_SCOPE_SYSTEM, ENOMEM, "no memory for a proxy's answer", false);
        return;
    }
    apns_connection_state_set(c, CONNECTION_TUNNELING);
    APNS_REQUIRE(t->tunnel_request_length <= c->fill.capacity);
    memcpy(c->fill.bytes, t->tunnel_request, t->tunnel_request_length);
    c->fill.length = t->tunnel_request_length;
    c->secret = c->fill.bytes;
    apns_connection_dirty(c);
}

/* Returns the status of "HTTP/1.x NNN ...", or 0 if the line is malformed. */
static int status_of(const char *answer, size_t length) {
    if (length < 13 || memcmp(answer, "HTTP/1.", 7) != 0 || answer[8] != ' ') return 0;
    int status = 0;
    for (int i = 9; i < 12; i++) {
        if (answer[i] < '0' || answer[i] > '9') return 0;
        status = status * 10 + (answer[i] - '0');
    }
    return status;
}

/* Returns the length of the response head, or 0 if it is incomplete. It does not end within the first seen bytes. */
static size_t head_length(const tunnel *t, size_t seen) {
    for (size_t i = seen > 3 ? seen : 3; i < t->length; i++)
        if (memcmp(t->answer + i - 3, "\r\n\r\n", 4) == 0) return i + 1;
    return 0;
}

static void judge(connection *c, size_t head, const apns_tls_input *rest) {
    int status = status_of(c->tunnel->answer, head);
    if (status < 200 || status > 299) {
        char text[EVENT_DETAIL_BYTES_MAX];
        if (status == 0)
            snprintf(text, sizeof(text), "the proxy's answer is no HTTP/1.1");
        else
            snprintf(text, sizeof(text), "the proxy refused the connection: status %d", status);
        fail(c, status, text);
        return;
    }
    /* The client speaks first in TLS, so bytes after the head cannot come from the server. */
    if (rest->length > 0 || head < c->tunnel->length) {
        fail(c, 0, "the proxy said more than its answer");
        return;
    }
    apns_connection_tunnel_drop(c);
    apns_connection_state_set(c, CONNECTION_HANDSHAKING);
    apns_tls_input nothing = {0};
    apns_connection_handshake(c, &nothing);
}

void apns_connection_tunnel_received(connection *c, apns_tls_input *input) {
    tunnel *t = c->tunnel;
    APNS_REQUIRE(t != NULL && c->state == CONNECTION_TUNNELING);
    size_t seen = t->length;
    size_t room = sizeof(t->answer) - seen;
    size_t taken = input->length < room ? input->length : room;
    memcpy(t->answer + seen, input->bytes, taken);
    t->length += (uint32_t)taken;
    input->bytes += taken;
    input->length -= taken;
    size_t head = head_length(t, seen);
    if (head > 0)
        judge(c, head, input);
    else if (t->length == sizeof(t->answer))
        fail(c, 0, "the proxy's answer is too long");
}

void apns_connection_tunnel_ended(connection *c) {
    fail(c, 0, "the proxy closed the connection before it answered");
}
