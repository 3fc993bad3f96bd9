#include "tls_internal.h"
#include <arpa/inet.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Says which name the peer must prove, and sends it when it is a DNS name (RFC 6066, section 3 allows no addresses). */
static bool peer_name_set(SSL *ssl, const char *host_name) {
    uint8_t address[16];
    X509_VERIFY_PARAM *parameters = SSL_get0_param(ssl);
    X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (inet_pton(AF_INET, host_name, address) == 1 || inet_pton(AF_INET6, host_name, address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(parameters, host_name) == 1;
    return SSL_set1_host(ssl, host_name) == 1 && SSL_set_tlsext_host_name(ssl, host_name) == 1;
}

static bool session_prepare(tls_session *session, tls_context *context, const char *host_name) {
    if (context->plain) return true;
    session->ssl = SSL_new(context->ctx);
    if (session->ssl == NULL) return false;
    BIO *bio = tls_bio_create(session);
    if (bio == NULL) return false;
    SSL_set_bio(session->ssl, bio, bio);
    if (context->server)
        SSL_set_accept_state(session->ssl);
    else
        SSL_set_connect_state(session->ssl);
    return context->server || host_name == NULL || peer_name_set(session->ssl, host_name);
}

tls_session *tls_session_create(tls_context *context, const char *host_name, tls_output *output) {
    ERR_clear_error();
    tls_session *session = calloc(1, sizeof(*session));
    if (session == NULL) return NULL;
    session->output = output;
    session->server = context->server;
    session->verify = context->verify;
    if (session_prepare(session, context, host_name)) return session;
    ERR_clear_error();
    tls_session_destroy(session);
    return NULL;
}

void tls_session_destroy(tls_session *session) {
    if (session == NULL) return;
    SSL_free(session->ssl);
    free(session);
}

/* Names the failure of the last call in the session's error. */
static int failed(tls_session *session) {
    long verdict = session->verify ? SSL_get_verify_result(session->ssl) : X509_V_OK;
    unsigned long code = ERR_peek_error();
    if (session->output_full) {
        tls_error_set(&session->error, TLS_ERROR_OUTPUT_FULL, 0, "TLS: more to send than the send buffer holds");
    } else if (verdict != X509_V_OK) {
        tls_error_set(&session->error, TLS_ERROR_VERIFICATION, verdict, "");
        snprintf(session->error.text, sizeof(session->error.text), "the %s's certificate was not accepted: %s",
                 session->server ? "client" : "server", X509_verify_cert_error_string(verdict));
    } else if (ERR_GET_REASON(code) == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL ||
               ERR_GET_REASON(code) == SSL_R_NO_APPLICATION_PROTOCOL) {
        tls_error_set(&session->error, TLS_ERROR_ALPN, (int64_t)code, "the peer does not speak HTTP/2 (ALPN h2)");
    } else {
        tls_error_take(&session->error, NULL);
    }
    ERR_clear_error();
    return TLS_FAILED;
}

/* What a call that returned result <= 0 means. */
static int judge(tls_session *session, int result) {
    switch (SSL_get_error(session->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        return TLS_WANT;
    case SSL_ERROR_ZERO_RETURN:
        return TLS_CLOSED;
    default:
        return failed(session);
    }
}

static bool protocol_chosen(const tls_session *session) {
    const unsigned char *protocol;
    unsigned length;
    SSL_get0_alpn_selected(session->ssl, &protocol, &length);
    return length == 2 && memcmp(protocol, "h2", 2) == 0;
}

int tls_session_handshake(tls_session *session, tls_input *input) {
    if (session->ssl == NULL) return tls_plain_handshake(session, input);
    ERR_clear_error();
    session->input = *input;
    int result = SSL_do_handshake(session->ssl);
    *input = session->input;
    if (result != 1) return judge(session, result);
    if (protocol_chosen(session)) return TLS_OK;
    tls_error_set(&session->error, TLS_ERROR_ALPN, 0, "the peer does not speak HTTP/2 (ALPN h2)");
    return TLS_FAILED;
}

int tls_session_read(tls_session *session, tls_input *input, uint8_t *plain, size_t capacity, size_t *length) {
    if (session->ssl == NULL) return tls_plain_read(session, input, plain, capacity, length);
    if (ERR_peek_error() != 0) ERR_clear_error();
    session->input = *input;
    int result = SSL_read_ex(session->ssl, plain, capacity, length);
    *input = session->input;
    if (result == 1) return TLS_OK;
    return judge(session, result);
}

int tls_session_write(tls_session *session, const uint8_t *plain, size_t length) {
    if (session->ssl == NULL) return tls_plain_write(session, plain, length);
    size_t written = 0;
    if (SSL_write_ex(session->ssl, plain, length, &written) == 1 && written == length) return TLS_OK;
    return failed(session);
}

void tls_session_close(tls_session *session) {
    if (session->ssl == NULL) {
        tls_plain_close(session);
        return;
    }
    if (SSL_is_init_finished(session->ssl) && (SSL_get_shutdown(session->ssl) & SSL_SENT_SHUTDOWN) == 0)
        SSL_shutdown(session->ssl);
    ERR_clear_error();
}

/* In the clear, as a server answers a ClientHello that it cannot agree with (RFC 8446, section 6). */
static void alert_append(tls_output *output) {
    static const uint8_t record[] = {21, 3, 3, 0, 2, 2, 40};
    if (output->bytes == NULL || output->capacity - output->length < sizeof(record)) return;
    memcpy(output->bytes + output->length, record, sizeof(record));
    output->length += sizeof(record);
}

/* Once there are keys only the library can write an alert, and it does when a record is not what it should be. The
 * first zeros end a record that has come in part. */
void tls_session_alert(tls_session *session) {
    enum { BLOCK_BYTES = 256, BLOCKS_MAX = 80 };
    static const uint8_t wrong[BLOCK_BYTES] = {23, 3, 3, 0, BLOCK_BYTES - 5};
    if (session->ssl == NULL) return; /* without TLS there are no alerts */
    if (!SSL_is_init_finished(session->ssl)) {
        alert_append(session->output);
        return;
    }
    uint8_t plain[BLOCK_BYTES];
    int result = TLS_WANT;
    for (int i = 0; i < BLOCKS_MAX && result != TLS_FAILED; i++) {
        tls_input input = {wrong, sizeof(wrong)};
        size_t length;
        result = tls_session_read(session, &input, plain, sizeof(plain), &length);
    }
}

void tls_session_truncated(tls_session *session) {
    tls_error_set(&session->error, TLS_ERROR_TRUNCATED,
                  (int64_t)ERR_PACK(ERR_LIB_SSL, 0, SSL_R_UNEXPECTED_EOF_WHILE_READING),
                  "the connection was closed without TLS's close_notify");
}

const tls_error *tls_session_error(const tls_session *session) {
    return &session->error;
}

void tls_session_describe(const tls_session *session, char *text, size_t capacity) {
    if (session->ssl == NULL)
        snprintf(text, capacity, "plaintext");
    else
        snprintf(text, capacity, "%s %s", SSL_get_version(session->ssl), SSL_get_cipher_name(session->ssl));
}
