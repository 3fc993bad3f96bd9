#include "apns_tls_server.h"
#include "tls_internal.h"
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <string.h>

/* Accepts any client certificate; the handshake has proven possession of its key. */
static int verify_any(int ok, X509_STORE_CTX *store) {
    (void)ok;
    (void)store;
    return 1;
}

static int protocol_select(SSL *ssl, const unsigned char **out, unsigned char *out_length, const unsigned char *in,
                           unsigned int in_length, void *data) {
    (void)ssl;
    (void)data;
    unsigned char *chosen = NULL;
    if (SSL_select_next_proto(&chosen, out_length, apns_tls_protocol_h2, sizeof(apns_tls_protocol_h2), in, in_length) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static int server_configure(apns_tls_context *context, const apns_tls_context_options *options, apns_error *error) {
    (void)error;
    SSL_CTX_set_alpn_select_cb(context->ctx, protocol_select, NULL);
    SSL_CTX_set_num_tickets(context->ctx, 0);
    context->verify = options->request_client_certificate && options->ca_pem != NULL;
    SSL_CTX_set_verify(context->ctx, options->request_client_certificate ? SSL_VERIFY_PEER : SSL_VERIFY_NONE,
                       context->verify ? NULL : verify_any);
    return APNS_OK;
}

const apns_tls_role apns_tls_server_role = {
    .method = TLS_server_method, .configure = server_configure, .start = SSL_set_accept_state, .peer = "client"};

int apns_tls_server_context_create(const apns_tls_context_options *options, apns_tls_context **out, apns_error *error) {
    return apns_tls_context_create(&apns_tls_server_role, options, out, error);
}

/* Appends a line with the first subject attribute of a kind, and returns the new length. A line that does not fit is
 * omitted, because a truncated name would be another name. */
static size_t attribute_write(const X509_NAME *subject, int nid, const char *label, char *text, size_t length,
                              size_t capacity) {
    int place = X509_NAME_get_index_by_NID(subject, nid, -1);
    if (place < 0) return length;
    unsigned char *value = NULL;
    int bytes = ASN1_STRING_to_UTF8(&value, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, place)));
    if (bytes < 0) return length;
    for (int i = 0; i < bytes; i++)
        if (value[i] < 0x20 || value[i] == 0x7f) value[i] = '?';
    int written = snprintf(text + length, capacity - length, "%s=%.*s\n", label, bytes, (const char *)value);
    OPENSSL_free(value);
    if (written > 0 && (size_t)written < capacity - length) return length + (size_t)written;
    text[length] = 0;
    return length;
}

void apns_tls_session_peer_describe(const apns_tls_session *session, char *text, size_t capacity) {
    if (capacity == 0) return;
    text[0] = 0;
    if (session->ssl == NULL) return;
    const X509 *certificate = SSL_get0_peer_certificate(session->ssl);
    if (!session->verify || certificate == NULL || SSL_get_verify_result(session->ssl) != X509_V_OK) return;
    const X509_NAME *subject = X509_get_subject_name(certificate);
    size_t length = attribute_write(subject, NID_userId, "UID", text, 0, capacity);
    attribute_write(subject, NID_commonName, "CN", text, length, capacity);
    ERR_clear_error();
}

/* Appends an unencrypted handshake_failure alert (RFC 8446, section 6). */
static void alert_append(apns_tls_output *output) {
    static const uint8_t record[] = {21, 3, 3, 0, 2, 2, 40};
    if (output->bytes == NULL || output->capacity - output->length < sizeof(record)) return;
    memcpy(output->bytes + output->length, record, sizeof(record));
    output->length += sizeof(record);
}

/* After the handshake only OpenSSL can encrypt an alert; it sends one for an invalid record. The first blocks complete
 * a partly received record. */
void apns_tls_session_alert(apns_tls_session *session) {
    enum { BLOCK_BYTES = 256, BLOCKS_MAX = 80 };
    static const uint8_t wrong[BLOCK_BYTES] = {23, 3, 3, 0, BLOCK_BYTES - 5};
    if (session->ssl == NULL) return; /* no alerts without TLS */
    if (!SSL_is_init_finished(session->ssl)) {
        alert_append(session->output);
        return;
    }
    uint8_t plain[BLOCK_BYTES];
    int result = APNS_TLS_WANT;
    for (int i = 0; i < BLOCKS_MAX && result != APNS_TLS_FAILED; i++) {
        apns_tls_input input = {wrong, sizeof(wrong)};
        size_t length;
        result = apns_tls_session_read(session, &input, plain, sizeof(plain), &length);
    }
}
