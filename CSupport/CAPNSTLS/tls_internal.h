/*
 * Shared by the files of CAPNSTLS.
 *
 * Ownership. A context owns its SSL_CTX, a session its SSL, which owns the BIO. Input and output belong to the caller:
 * input is used during a call, output until the session is destroyed.
 *
 * Order. begin; handshake until it returns APNS_TLS_OK; read and write in any order; close once. After APNS_TLS_FAILED
 * only destroy, close and apns_tls_session_error may be called. Each function that calls OpenSSL leaves the thread's
 * error queue empty.
 */
#pragma once

#include "apns_check.h"
#include "apns_tls.h"
#include <openssl/err.h>
#include <openssl/ssl.h>

/* The functions that differ between clients and servers (CAPNSTransportServer). */
struct apns_tls_role {
    const SSL_METHOD *(*method)(void);

    /* Sets up context->ctx and context->verify. Fills error on failure. */
    int (*configure)(apns_tls_context *context, const apns_tls_context_options *options, apns_error *error);

    void (*start)(SSL *ssl); /* sets the role of a new connection */
    const char *peer;        /* name of the peer in error messages */
};

/* The implementation of the sessions of a context: OpenSSL, or no cryptography in simulations. The functions are those
 * of apns_tls.h with the same names. */
typedef struct tls_methods {
    size_t session_bytes; /* size of a session, which begins with struct apns_tls_session */
    bool (*begin)(apns_tls_session *session, const apns_tls_context *context,
                  const char *host_name); /* false if there is no memory */
    int (*handshake)(apns_tls_session *session, apns_tls_input *input);
    int (*read)(apns_tls_session *session, apns_tls_input *input, uint8_t *plain, size_t capacity, size_t *length);
    int (*write)(apns_tls_session *session, const uint8_t *plain, size_t length);
    void (*close)(apns_tls_session *session);
    void (*describe)(const apns_tls_session *session, char *text, size_t capacity);
} tls_methods;

extern const tls_methods apns_tls_library_methods;

struct apns_tls_context {
    const tls_methods *methods;
    const apns_tls_role *role;
    SSL_CTX *ctx; /* NULL without OpenSSL */
    bool verify;
};

struct apns_tls_session {
    const tls_methods *methods;
    const apns_tls_role *role;
    SSL *ssl;                /* NULL without OpenSSL */
    apns_tls_output *output; /* buffer for ciphertext to send */
    apns_tls_input input;    /* ciphertext that may be read during the current call */
    size_t record_left;      /* bytes left of the body of the current record */
    uint32_t header_count;
    uint8_t header[5]; /* header of the current record, header_count bytes of it */
    bool verify;
    bool output_full; /* the output had no room for a write */
    apns_error error;
};

/* The protocol list for ALPN, with h2 only. */
extern const uint8_t apns_tls_protocol_h2[3];

/* Fills error from the thread's error queue, empties the queue and returns APNS_RESOURCE. what: the failed operation,
 * for the message. */
int apns_tls_error_take(apns_error *error, const char *what);

/* Makes a context trust the certificates of the system. Returns false if there is no memory. */
bool apns_tls_roots_trust(SSL_CTX *ctx);

/* Creates a BIO over the session's input and output; returns NULL if there is no memory. */
BIO *apns_tls_bio_create(apns_tls_session *session);
