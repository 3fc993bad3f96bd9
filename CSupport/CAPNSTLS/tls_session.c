#include "tls_internal.h"
#include <arpa/inet.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets the name that the peer's certificate must contain, and sends it as server name if it is a DNS name (RFC 6066,
 * section 3, does not allow addresses). */
static bool peer_name_set(SSL *ssl, const char *host_name) {
    uint8_t address[16];
    X509_VERIFY_PARAM *parameters = SSL_get0_param(ssl);
    X509_VERIFY_PARAM_set_hostflags(parameters,
                                    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    if (inet_pton(AF_INET, host_name, address) == 1 || inet_pton(AF_INET6, host_name, address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(parameters, host_name) == 1;
    return SSL_set1_host(ssl, host_name) == 1 && SSL_set_tlsext_host_name(ssl, host_name) == 1;
}

static bool library_begin(apns_tls_session *session, const apns_tls_context *context, const char *host_name) {
    session->ssl = SSL_new(context->ctx);
    if (session->ssl == NULL) return false;
    BIO *bio = apns_tls_bio_create(session);
    if (bio == NULL) return false;
    SSL_set_bio(session->ssl, bio, bio);
    session->role->start(session->ssl);
    return host_name == NULL || peer_name_set(session->ssl, host_name);
}

/* What can be done about a certificate that was not accepted; empty if nothing is known. */
static const char *remedy(long verdict) {
    switch (verdict) {
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        return ": none of the trusted authorities (ca_file) has issued it";
    case X509_V_ERR_CERT_NOT_YET_VALID:
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return " by the clock of this machine";
    default:
        return "";
    }
}

/* Records the error of the last call in the session. */
static int failed(apns_tls_session *session) {
    long verdict = session->verify ? SSL_get_verify_result(session->ssl) : X509_V_OK;
    unsigned long code = ERR_peek_error();
    if (session->output_full) {
        apns_error_set(&session->error, APNS_RESOURCE, APNS_TLS_ERROR_OUTPUT_FULL, 0,
                       "TLS: more to send than the send buffer holds");
    } else if (verdict != X509_V_OK) {
        apns_error_set(&session->error, APNS_PEER, APNS_TLS_ERROR_VERIFICATION, verdict, "");
        snprintf(session->error.text, sizeof(session->error.text), "the %s's certificate was not accepted: %s%s",
                 session->role->peer, X509_verify_cert_error_string(verdict), remedy(verdict));
    } else if (ERR_GET_REASON(code) == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL ||
               ERR_GET_REASON(code) == SSL_R_NO_APPLICATION_PROTOCOL) {
        apns_error_set(&session->error, APNS_PEER, APNS_TLS_ERROR_ALPN, (int64_t)code,
                       "the peer does not speak HTTP/2 (ALPN h2)");
    } else {
        apns_tls_error_take(&session->error, "TLS");
    }
    ERR_clear_error();
    return APNS_TLS_FAILED;
}

/* Returns the meaning of a result <= 0. */
static int judge(apns_tls_session *session, int result) {
    switch (SSL_get_error(session->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        return APNS_TLS_WANT;
    case SSL_ERROR_ZERO_RETURN:
        return APNS_TLS_CLOSED;
    default:
        return failed(session);
    }
}

static bool protocol_chosen(const apns_tls_session *session) {
    const unsigned char *protocol;
    unsigned length;
    SSL_get0_alpn_selected(session->ssl, &protocol, &length);
    return length == 2 && memcmp(protocol, "h2", 2) == 0;
}

static int library_handshake(apns_tls_session *session, apns_tls_input *input) {
    ERR_clear_error();
    APNS_REQUIRE(session->output->bytes != NULL);
    session->input = *input;
    int result = SSL_do_handshake(session->ssl);
    *input = session->input;
    if (result != 1) return judge(session, result);
    if (protocol_chosen(session)) return APNS_TLS_OK;
    apns_error_set(&session->error, APNS_PEER, APNS_TLS_ERROR_ALPN, 0, "the peer does not speak HTTP/2 (ALPN h2)");
    return APNS_TLS_FAILED;
}

static int library_read(apns_tls_session *session, apns_tls_input *input, uint8_t *plain, size_t capacity,
                        size_t *length) {
    if (ERR_peek_error() != 0) ERR_clear_error();
    session->input = *input;
    int result = SSL_read_ex(session->ssl, plain, capacity, length);
    *input = session->input;
    if (result == 1) return APNS_TLS_OK;
    return judge(session, result);
}

static int library_write(apns_tls_session *session, const uint8_t *plain, size_t length) {
    size_t written = 0;
    if (SSL_write_ex(session->ssl, plain, length, &written) == 1 && written == length) return APNS_TLS_OK;
    return failed(session);
}

static void library_close(apns_tls_session *session) {
    if (SSL_is_init_finished(session->ssl) && (SSL_get_shutdown(session->ssl) & SSL_SENT_SHUTDOWN) == 0)
        SSL_shutdown(session->ssl);
    ERR_clear_error();
}

static void library_describe(const apns_tls_session *session, char *text, size_t capacity) {
    snprintf(text, capacity, "%s %s", SSL_get_version(session->ssl), SSL_get_cipher_name(session->ssl));
}

const tls_methods apns_tls_library_methods = {
    .session_bytes = sizeof(apns_tls_session),
    .begin = library_begin,
    .handshake = library_handshake,
    .read = library_read,
    .write = library_write,
    .close = library_close,
    .describe = library_describe,
};

/* ---------------------------------------------------------------- sessions, independent of the implementation */

apns_tls_session *apns_tls_session_create(apns_tls_context *context, const char *host_name, apns_tls_output *output) {
    APNS_REQUIRE(output != NULL && context->methods->session_bytes >= sizeof(apns_tls_session));
    ERR_clear_error();
    apns_tls_session *session = calloc(1, context->methods->session_bytes);
    if (session == NULL) return NULL;
    session->output = output;
    session->methods = context->methods;
    session->role = context->role;
    session->verify = context->verify;
    if (session->methods->begin(session, context, host_name)) return session;
    ERR_clear_error();
    apns_tls_session_destroy(session);
    return NULL;
}

void apns_tls_session_destroy(apns_tls_session *session) {
    if (session == NULL) return;
    SSL_free(session->ssl);
    free(session);
}

void apns_tls_session_truncated(apns_tls_session *session) {
    apns_error_set(&session->error, APNS_PEER, APNS_TLS_ERROR_TRUNCATED,
                   (int64_t)ERR_PACK(ERR_LIB_SSL, 0, SSL_R_UNEXPECTED_EOF_WHILE_READING),
                   "the connection was closed without TLS's close_notify");
}

const apns_error *apns_tls_session_error(const apns_tls_session *session) {
    return &session->error;
}

int apns_tls_session_handshake(apns_tls_session *session, apns_tls_input *input) {
    return session->methods->handshake(session, input);
}

int apns_tls_session_read(apns_tls_session *session, apns_tls_input *input, uint8_t *plain, size_t capacity,
                          size_t *length) {
    APNS_ASSERT(capacity > 0);
    size_t before = input->length;
    int result = session->methods->read(session, input, plain, capacity, length);
    APNS_ASSERT(result != APNS_TLS_OK || (*length > 0 && *length <= capacity));
    APNS_ASSERT(input->length <= before);
    return result;
}

int apns_tls_session_write(apns_tls_session *session, const uint8_t *plain, size_t length) {
    APNS_REQUIRE(length > 0 && session->output->bytes != NULL);
    return session->methods->write(session, plain, length);
}

void apns_tls_session_close(apns_tls_session *session) {
    session->methods->close(session);
}

void apns_tls_session_describe(const apns_tls_session *session, char *text, size_t capacity) {
    session->methods->describe(session, text, capacity);
}
