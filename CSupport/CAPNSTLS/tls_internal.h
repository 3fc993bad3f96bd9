/*
 * Shared by the files of CAPNSTLS.
 *
 * Ownership. A context owns its SSL_CTX, a session its SSL and through it the BIO; input and output are the caller's,
 * the one during a call, the other until the session is destroyed. Order: begin, then handshake until it returns
 * APNS_TLS_OK, then read and write as one likes, close once; after APNS_TLS_FAILED nothing but destroy, close and the
 * error. Each function that calls OpenSSL leaves the thread's error queue empty.
 */
#ifndef APNS_BATCH_TLS_INTERNAL_H
#define APNS_BATCH_TLS_INTERNAL_H

#include "apns_check.h"
#include "apns_tls.h"
#include <openssl/err.h>
#include <openssl/ssl.h>

/* What clients and servers do differently. Servers are in CAPNSTransportServer. */
struct apns_tls_role {
    const SSL_METHOD *(*method)(void);

    /* Sets up context->ctx and context->verify. On failure fills error. */
    int (*configure)(apns_tls_context *context, const apns_tls_context_options *options, apns_error *error);

    void (*start)(SSL *ssl); /* gives a new connection its role */
    const char *peer;        /* the other side, in texts of errors */
};

/* How the sessions of a context work: with OpenSSL, or in simulations without cryptography. The functions do what those
 * of apns_tls.h with the same name promise. */
typedef struct tls_methods {
    size_t session_bytes; /* of a session, which begins with struct apns_tls_session */
    bool (*begin)(apns_tls_session *session, const apns_tls_context *context,
                  const char *host_name); /* false: no memory */
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

struct apns_tls_roots {
    STACK_OF(X509) * certificates;
};

struct apns_tls_session {
    const tls_methods *methods;
    const apns_tls_role *role;
    SSL *ssl;                /* NULL without OpenSSL */
    apns_tls_output *output; /* where the library's writes go */
    apns_tls_input input;    /* what the library may read during the current call */
    size_t record_left;      /* bytes of the body of the record being read */
    uint32_t header_count;
    uint8_t header[5]; /* of the record being read, as far as it has come */
    bool verify;
    bool output_full; /* a write did not fit */
    apns_error error;
};

/* The protocol list of ALPN with h2 alone. */
extern const uint8_t apns_tls_protocol_h2[3];

/* Fills error from the thread's error queue, empties that and returns APNS_RESOURCE. what: what was tried. */
int apns_tls_error_take(apns_error *error, const char *what);

/* A BIO over the session's input and output; NULL when memory is short. */
BIO *apns_tls_bio_create(apns_tls_session *session);

#endif
