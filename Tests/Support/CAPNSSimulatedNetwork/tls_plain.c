#include "reactor_simulated.h"
#include "tls_internal.h"
#include "transport_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A record has a kind, the length of its body in two bytes, and the body. */
enum { HEADER_BYTES = 3 };
enum { RECORD_HELLO = 1, RECORD_DATA = 2, RECORD_GOODBYE = 3 };

/* A session that puts the data in frames, and exchanges hello and goodbye records. */
typedef struct plain_session {
    apns_tls_session base;
    bool greeted; /* hello was sent */
    bool met;     /* hello was received */
    bool closed;  /* goodbye was sent */
} plain_session;

static plain_session *plain_of(apns_tls_session *session) {
    return (plain_session *)(void *)session;
}

static bool append(apns_tls_session *session, uint8_t kind, const uint8_t *body, size_t length) {
    apns_tls_output *output = session->output;
    if (output->capacity - output->length < length + HEADER_BYTES) {
        apns_error_set(&session->error, APNS_RESOURCE, APNS_TLS_ERROR_OUTPUT_FULL, 0,
                       "more to send than the send buffer holds");
        return false;
    }
    uint8_t *at = output->bytes + output->length;
    at[0] = kind;
    at[1] = (uint8_t)(length >> 8);
    at[2] = (uint8_t)length;
    if (length > 0) memcpy(at + HEADER_BYTES, body, length);
    output->length += length + HEADER_BYTES;
    return true;
}

/* Reads the header of a record. Returns false if more bytes are needed. */
static bool header_read(apns_tls_session *session, apns_tls_input *input) {
    while (session->header_count < HEADER_BYTES && input->length > 0) {
        session->header[session->header_count++] = *input->bytes++;
        input->length--;
    }
    if (session->header_count < HEADER_BYTES) return false;
    session->header_count = 0;
    session->record_left = (size_t)session->header[1] << 8 | session->header[2];
    return true;
}

static int nonsense(apns_tls_session *session) {
    apns_error_set(&session->error, APNS_PEER, APNS_TLS_ERROR_LIBRARY, 0, "a record that makes no sense");
    return APNS_TLS_FAILED;
}

static int plain_handshake(apns_tls_session *session, apns_tls_input *input) {
    const bool server = session->role != &apns_tls_client_role;
    if (!server && !plain_of(session)->greeted) {
        plain_of(session)->greeted = true;
        if (!append(session, RECORD_HELLO, NULL, 0)) return APNS_TLS_FAILED;
    }
    if (!header_read(session, input)) return APNS_TLS_WANT;
    if (session->header[0] != RECORD_HELLO || session->record_left > 0) return nonsense(session);
    plain_of(session)->met = true;
    if (server && !append(session, RECORD_HELLO, NULL, 0)) return APNS_TLS_FAILED;
    return APNS_TLS_OK;
}

static int plain_read(apns_tls_session *session, apns_tls_input *input, uint8_t *plain, size_t capacity,
                      size_t *length) {
    while (session->record_left == 0) {
        if (!header_read(session, input)) return APNS_TLS_WANT;
        if (session->header[0] == RECORD_GOODBYE) return APNS_TLS_CLOSED;
        if (session->header[0] != RECORD_DATA || session->record_left > APNS_TLS_RECORD_PLAIN_MAX)
            return nonsense(session);
    }
    size_t count = session->record_left < input->length ? session->record_left : input->length;
    if (count > capacity) count = capacity;
    if (count == 0) return APNS_TLS_WANT;
    memcpy(plain, input->bytes, count);
    input->bytes += count;
    input->length -= count;
    session->record_left -= count;
    *length = count;
    return APNS_TLS_OK;
}

static int plain_write(apns_tls_session *session, const uint8_t *plain, size_t length) {
    for (size_t done = 0; done < length;) {
        size_t count = length - done < APNS_TLS_RECORD_PLAIN_MAX ? length - done : APNS_TLS_RECORD_PLAIN_MAX;
        if (!append(session, RECORD_DATA, plain + done, count)) return APNS_TLS_FAILED;
        done += count;
    }
    return APNS_TLS_OK;
}

static void plain_close(apns_tls_session *session) {
    plain_session *plain = plain_of(session);
    if (plain->met && !plain->closed) plain->closed = append(session, RECORD_GOODBYE, NULL, 0);
}

static bool plain_begin(apns_tls_session *session, const apns_tls_context *context, const char *host_name) {
    (void)session;
    (void)context;
    (void)host_name;
    return true;
}

static void plain_describe(const apns_tls_session *session, char *text, size_t capacity) {
    (void)session;
    snprintf(text, capacity, "plaintext");
}

static const tls_methods plain_methods = {
    .session_bytes = sizeof(plain_session),
    .begin = plain_begin,
    .handshake = plain_handshake,
    .read = plain_read,
    .write = plain_write,
    .close = plain_close,
    .describe = plain_describe,
};

/* Creates a context without cryptography, which would take time and would make the bytes of each run different. */
static int plain_context_create(const apns_tls_role *role, const apns_tls_context_options *options,
                                apns_tls_context **out, apns_error *error) {
    (void)options;
    *out = calloc(1, sizeof(**out));
    if (*out == NULL) return apns_error_set(error, APNS_RESOURCE, APNS_TLS_ERROR_LIBRARY, 0, "no memory");
    **out = (apns_tls_context){.methods = &plain_methods, .role = role};
    return APNS_OK;
}

static int simulated_reactor_open(void *world, const apns_reactor_options *options, apns_reactor **out) {
    return apns_reactor_world_join(world, options, out);
}

int apns_reactor_world_transport(apns_reactor_world *world, const apns_transport_options *options, apns_transport **out,
                                 uint32_t *number, apns_error *error) {
    static const transport_ground ground = {
        .reactor_open = simulated_reactor_open, .tls_create = plain_context_create, .stepped = true};
    *number = world->member_count;
    return apns_transport_open_with(&ground, world, options, out, error);
}
