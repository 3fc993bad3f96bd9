#include "tls_internal.h"
#include <stdlib.h>
#include <string.h>

/* A record: what it is, the length of its body in two bytes, the body. */
enum { HEADER_BYTES = 3 };
enum { RECORD_HELLO = 1, RECORD_DATA = 2, RECORD_GOODBYE = 3 };

tls_context *tls_context_create_plain(bool server) {
    tls_context *context = calloc(1, sizeof(*context));
    if (context == NULL) return NULL;
    context->server = server;
    context->plain = true;
    return context;
}

static bool append(tls_session *session, uint8_t kind, const uint8_t *body, size_t length) {
    tls_output *output = session->output;
    if (output->capacity - output->length < length + HEADER_BYTES) {
        tls_error_set(&session->error, TLS_ERROR_OUTPUT_FULL, 0, "more to send than the send buffer holds");
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

/* Reads a record's header; false when more is needed. */
static bool header_read(tls_session *session, tls_input *input) {
    while (session->header_count < HEADER_BYTES && input->length > 0) {
        session->header[session->header_count++] = *input->bytes++;
        input->length--;
    }
    if (session->header_count < HEADER_BYTES) return false;
    session->header_count = 0;
    session->record_left = (size_t)session->header[1] << 8 | session->header[2];
    return true;
}

static int nonsense(tls_session *session) {
    tls_error_set(&session->error, TLS_ERROR_LIBRARY, 0, "a record that makes no sense");
    return TLS_FAILED;
}

int tls_plain_handshake(tls_session *session, tls_input *input) {
    if (!session->server && !session->greeted) {
        session->greeted = true;
        if (!append(session, RECORD_HELLO, NULL, 0)) return TLS_FAILED;
    }
    if (!header_read(session, input)) return TLS_WANT;
    if (session->header[0] != RECORD_HELLO || session->record_left > 0) return nonsense(session);
    session->met = true;
    if (session->server && !append(session, RECORD_HELLO, NULL, 0)) return TLS_FAILED;
    return TLS_OK;
}

int tls_plain_read(tls_session *session, tls_input *input, uint8_t *plain, size_t capacity, size_t *length) {
    while (session->record_left == 0) {
        if (!header_read(session, input)) return TLS_WANT;
        if (session->header[0] == RECORD_GOODBYE) return TLS_CLOSED;
        if (session->header[0] != RECORD_DATA || session->record_left > TLS_RECORD_PLAIN_MAX) return nonsense(session);
    }
    size_t count = session->record_left < input->length ? session->record_left : input->length;
    if (count > capacity) count = capacity;
    if (count == 0) return TLS_WANT;
    memcpy(plain, input->bytes, count);
    input->bytes += count;
    input->length -= count;
    session->record_left -= count;
    *length = count;
    return TLS_OK;
}

int tls_plain_write(tls_session *session, const uint8_t *plain, size_t length) {
    for (size_t done = 0; done < length;) {
        size_t count = length - done < TLS_RECORD_PLAIN_MAX ? length - done : TLS_RECORD_PLAIN_MAX;
        if (!append(session, RECORD_DATA, plain + done, count)) return TLS_FAILED;
        done += count;
    }
    return TLS_OK;
}

void tls_plain_close(tls_session *session) {
    if (session->met && !session->closed) session->closed = append(session, RECORD_GOODBYE, NULL, 0);
}
