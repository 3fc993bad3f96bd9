#include "tls_internal.h"
#include <limits.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

int apns_tls_error_take(apns_error *error, const char *what) {
    unsigned long code = ERR_get_error();
    const char *reason = ERR_reason_error_string(code);
    if (reason == NULL) reason = code == 0 ? "no further information" : "unnamed error of the TLS library";
    ERR_clear_error();
    char text[sizeof(error->text)];
    snprintf(text, sizeof(text), "%s: %s", what, reason);
    return apns_error_set(error, APNS_RESOURCE, APNS_TLS_ERROR_LIBRARY, (int64_t)code, text);
}

/* AES-128 comes first: it is cheaper, and many servers accept the client's preference. */
static const char suites_13[] = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

/* Ephemeral key exchange and AEAD ciphers, as HTTP/2 requires of TLS 1.2 (RFC 9113, section 9.2.2). */
static const char suites_12[] = "ECDHE+AESGCM:ECDHE+CHACHA20";

const uint8_t apns_tls_protocol_h2[3] = {2, 'h', '2'};

/* Refuses encrypted keys; without this callback OpenSSL would ask for a passphrase on the terminal. */
static int passphrase_none(char *buffer, int size, int writing, void *data) {
    (void)buffer;
    (void)size;
    (void)writing;
    (void)data;
    return -1;
}

static BIO *pem_open(const uint8_t *pem, uint32_t length) {
    return length <= INT_MAX ? BIO_new_mem_buf(pem, (int)length) : NULL;
}

/* Whether the last error is the end of a PEM text; empties the error queue in that case. */
static bool pem_ended(void) {
    unsigned long error = ERR_peek_last_error();
    if (ERR_GET_LIB(error) != ERR_LIB_PEM || ERR_GET_REASON(error) != PEM_R_NO_START_LINE) return false;
    ERR_clear_error();
    return true;
}

static bool trust_add(SSL_CTX *ctx, const uint8_t *pem, uint32_t length) {
    BIO *bio = pem_open(pem, length);
    if (bio == NULL) return false;
    X509_STORE *store = SSL_CTX_get_cert_store(ctx);
    unsigned count = 0;
    bool good = true;
    X509 *certificate;
    while (good && (certificate = PEM_read_bio_X509(bio, NULL, passphrase_none, NULL)) != NULL) {
        good = X509_STORE_add_cert(store, certificate) == 1;
        X509_free(certificate);
        count++;
    }
    BIO_free(bio);
    return good && count > 0 && pem_ended();
}

static bool chain_use(SSL_CTX *ctx, const uint8_t *pem, uint32_t length) {
    BIO *bio = pem_open(pem, length);
    if (bio == NULL) return false;
    X509 *leaf = PEM_read_bio_X509(bio, NULL, passphrase_none, NULL);
    bool good = leaf != NULL && SSL_CTX_use_certificate(ctx, leaf) == 1;
    X509_free(leaf);
    X509 *next;
    while (good && (next = PEM_read_bio_X509(bio, NULL, passphrase_none, NULL)) != NULL) {
        good = SSL_CTX_add0_chain_cert(ctx, next) == 1;
        if (!good) X509_free(next);
    }
    BIO_free(bio);
    return good && pem_ended();
}

static bool key_use(SSL_CTX *ctx, const uint8_t *pem, uint32_t length) {
    BIO *bio = pem_open(pem, length);
    if (bio == NULL) return false;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, passphrase_none, NULL);
    BIO_free(bio);
    bool good = key != NULL && SSL_CTX_use_PrivateKey(ctx, key) == 1 && SSL_CTX_check_private_key(ctx) == 1;
    EVP_PKEY_free(key);
    return good;
}

static int identity_use(SSL_CTX *ctx, const apns_tls_context_options *options, apns_error *error) {
    if (options->certificate_pem == NULL) return APNS_OK;
    if (!chain_use(ctx, options->certificate_pem, options->certificate_length))
        return apns_tls_error_take(error, "own certificate");
    if (options->key_pem == NULL || !key_use(ctx, options->key_pem, options->key_length))
        return apns_tls_error_take(error, "own private key");
    return APNS_OK;
}

static int client_configure(apns_tls_context *context, const apns_tls_context_options *options, apns_error *error) {
    SSL_CTX *ctx = context->ctx;
    if (options->system_trusted && !apns_tls_roots_trust(ctx))
        return apns_tls_error_take(error, "the system's trusted certificates");
    context->verify = !options->verify_disabled;
    SSL_CTX_set_verify(ctx, context->verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
    if (SSL_CTX_set_alpn_protos(ctx, apns_tls_protocol_h2, sizeof(apns_tls_protocol_h2)) != 0)
        return apns_tls_error_take(error, "ALPN");
    return APNS_OK;
}

const apns_tls_role apns_tls_client_role = {
    .method = TLS_client_method, .configure = client_configure, .start = SSL_set_connect_state, .peer = "server"};

/* Applies the configuration that both roles share. */
static int configure(apns_tls_context *context, const apns_tls_context_options *options, apns_error *error) {
    SSL_CTX *ctx = context->ctx;
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_default_passwd_cb(ctx, passphrase_none);
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_mode(ctx, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1 || SSL_CTX_set_ciphersuites(ctx, suites_13) != 1 ||
        SSL_CTX_set_cipher_list(ctx, suites_12) != 1)
        return apns_tls_error_take(error, "TLS configuration");
    int status = identity_use(ctx, options, error);
    if (status != APNS_OK) return status;
    if (options->ca_pem != NULL && !trust_add(ctx, options->ca_pem, options->ca_length))
        return apns_tls_error_take(error, "trusted certificates");
    /* Certificates given by the caller are trusted themselves, not only as issuers. */
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(ctx), X509_V_FLAG_PARTIAL_CHAIN);
    return context->role->configure(context, options, error);
}

int apns_tls_context_create(const apns_tls_role *role, const apns_tls_context_options *options, apns_tls_context **out,
                            apns_error *error) {
    *out = NULL;
    if (role == NULL) role = &apns_tls_client_role;
    ERR_clear_error();
    apns_tls_context *context = calloc(1, sizeof(*context));
    if (context == NULL) return apns_tls_error_take(error, "TLS configuration");
    *context =
        (apns_tls_context){.methods = &apns_tls_library_methods, .role = role, .ctx = SSL_CTX_new(role->method())};
    int status =
        context->ctx == NULL ? apns_tls_error_take(error, "TLS configuration") : configure(context, options, error);
    if (status == APNS_OK)
        *out = context;
    else
        apns_tls_context_destroy(context);
    return status;
}

void apns_tls_context_destroy(apns_tls_context *context) {
    if (context == NULL) return;
    SSL_CTX_free(context->ctx);
    free(context);
}
