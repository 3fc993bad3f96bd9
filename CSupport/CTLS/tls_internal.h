/* Shared by the files of CTLS. */
#ifndef APNS_BATCH_TLS_INTERNAL_H
#define APNS_BATCH_TLS_INTERNAL_H

#include "tls.h"
#include <openssl/err.h>
#include <openssl/ssl.h>

struct tls_context {
    SSL_CTX *ctx;
    bool server;
    bool verify;
    bool plain;
};

struct tls_roots {
    STACK_OF(X509) * certificates;
};

struct tls_session {
    SSL *ssl;           /* NULL: plain */
    tls_output *output; /* where the library's writes go */
    tls_input input;    /* what the library may read during the current call */
    size_t record_left; /* bytes of the body of the record being read */
    uint32_t header_count;
    uint8_t header[5]; /* of the record being read, as far as it has come */
    bool server;
    bool verify;
    bool output_full; /* a write did not fit */
    bool greeted;     /* plain: said hello */
    bool met;         /* plain: the peer did */
    bool closed;      /* plain: said goodbye */
    tls_error error;
};

/* Fills error from the thread's error queue and empties it. what: what was tried, or NULL. */
void tls_error_take(tls_error *error, const char *what);

/* Fills error with a kind, a code and a text. */
void tls_error_set(tls_error *error, uint32_t kind, int64_t code, const char *text);

/* Has the context trust them, too; false when memory is short. */
bool tls_roots_add(const tls_roots *roots, SSL_CTX *ctx);

/* A BIO over the session's input and output; NULL when memory is short. */
BIO *tls_bio_create(tls_session *session);

/* tls_plain.c: the session's calls without cryptography. */
int tls_plain_handshake(tls_session *session, tls_input *input);
int tls_plain_read(tls_session *session, tls_input *input, uint8_t *plain, size_t capacity, size_t *length);
int tls_plain_write(tls_session *session, const uint8_t *plain, size_t length);
void tls_plain_close(tls_session *session);

#endif
