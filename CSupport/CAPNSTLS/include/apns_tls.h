/*
 * tls: OpenSSL over memory. Bytes in, bytes out; never a descriptor.
 *
 * A context holds what connections of one kind share: trust, own certificate; apns_tls_server.h makes those of servers.
 * A session is one connection. The caller lends a session two things: a slice of ciphertext received (struct
 * apns_tls_input, consumed as it goes) and a buffer for ciphertext to send (struct apns_tls_output, appended to). The
 * library reads from the one and writes to the other without a buffer of ours between.
 *
 * Threads. A context and its sessions belong to one thread at a time; roots to as many as like.
 *
 * Limits. TLS 1.2 and 1.3, ALPN "h2" required, no renegotiation, no compression.
 *
 * Errors. A call returns enum apns_tls_result; APNS_TLS_FAILED fills the session's struct apns_error. The library's
 * error queue of the thread is left empty.
 */
#ifndef APNS_BATCH_TLS_H
#define APNS_BATCH_TLS_H

#include "apns_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct apns_tls_context apns_tls_context;
typedef struct apns_tls_session apns_tls_session;
typedef struct apns_tls_roots apns_tls_roots;

/* Bytes of plaintext that one record carries at most (RFC 8446, section 5.1). */
enum { APNS_TLS_RECORD_PLAIN_MAX = 16384 };

enum apns_tls_result {
    APNS_TLS_OK = 0,
    APNS_TLS_WANT = 1,   /* needs more ciphertext */
    APNS_TLS_CLOSED = 2, /* the peer sent close_notify */
    APNS_TLS_FAILED = -1,
};

enum apns_tls_error_kind {
    APNS_TLS_ERROR_LIBRARY = 1,      /* code: the library's packed error */
    APNS_TLS_ERROR_VERIFICATION = 2, /* code: X509_V_ERR_* */
    APNS_TLS_ERROR_ALPN = 3,         /* the peer did not choose h2 */
    APNS_TLS_ERROR_TRUNCATED = 4,    /* the connection ended without close_notify; code: the library's packed error */
    APNS_TLS_ERROR_OUTPUT_FULL = 5,  /* the output buffer had no room */
};

typedef struct apns_tls_input {
    const uint8_t *bytes; /* advanced as consumed */
    size_t length;        /* bytes left */
} apns_tls_input;
_Static_assert(sizeof(apns_tls_input) == 16, "fixed layout");

typedef struct apns_tls_output {
    uint8_t *bytes;
    size_t length; /* bytes filled; appended to */
    size_t capacity;
} apns_tls_output;
_Static_assert(sizeof(apns_tls_output) == 24, "fixed layout");

/* Reads the certificates that the system trusts, which takes tens of milliseconds. *out: to be freed with
 * apns_tls_roots_destroy; NULL on failure. */
int apns_tls_roots_load(apns_tls_roots **out, apns_error *error);

/* Frees the roots (NULL allowed); contexts made with them live on. */
void apns_tls_roots_destroy(apns_tls_roots *roots);

/* All pointers: borrowed until return; NULL for none. PEM texts need no NUL. */
typedef struct apns_tls_context_options {
    const uint8_t *ca_pem;              /* further trusted certificates; server: who may sign clients' certificates */
    const uint8_t *certificate_pem;     /* own chain, leaf first */
    const uint8_t *key_pem;             /* its private key, not encrypted */
    const apns_tls_roots *system_roots; /* client: the system's certificates, to be trusted too */
    uint32_t ca_length;
    uint32_t certificate_length;
    uint32_t key_length;
    bool verify_disabled;            /* client: accept any certificate */
    bool request_client_certificate; /* server: ask for one, which need not come. Without ca_pem any is accepted, with
                                        it one that does not verify ends the handshake */
} apns_tls_context_options;
_Static_assert(sizeof(apns_tls_context_options) == 48, "fixed layout");

/* What clients and servers do differently. That of servers is in apns_tls_server.h. */
typedef struct apns_tls_role apns_tls_role;
extern const apns_tls_role apns_tls_client_role;

/* Makes a context; role: NULL for clients. On failure *out is NULL. */
int apns_tls_context_create(const apns_tls_role *role, const apns_tls_context_options *options, apns_tls_context **out,
                            apns_error *error);

/* Frees a context (NULL allowed); sessions made from it live on. */
void apns_tls_context_destroy(apns_tls_context *context);

/* Makes a session that appends what it sends to *output (borrowed until apns_tls_session_destroy; the caller may change
 * bytes, length and capacity between calls). host_name: client: name or IP address, verified and, when it is a name,
 * sent; borrowed until return. NULL when memory is short. */
apns_tls_session *apns_tls_session_create(apns_tls_context *context, const char *host_name, apns_tls_output *output);

/* Frees a session (NULL allowed). */
void apns_tls_session_destroy(apns_tls_session *session);

/* Goes on with the handshake; APNS_TLS_OK once it is complete. A client calls it first with an empty input. */
int apns_tls_session_handshake(apns_tls_session *session, apns_tls_input *input);

/* Decrypts into plain. APNS_TLS_OK: *length bytes of plaintext, at most one record's; call again until APNS_TLS_WANT,
 * which comes when input is used up. */
int apns_tls_session_read(apns_tls_session *session, apns_tls_input *input, uint8_t *plain, size_t capacity,
                          size_t *length);

/* Encrypts plain, one record for each APNS_TLS_RECORD_PLAIN_MAX bytes. length: at least 1. */
int apns_tls_session_write(apns_tls_session *session, const uint8_t *plain, size_t length);

/* Appends close_notify, when the session is in a state that allows it. */
void apns_tls_session_close(apns_tls_session *session);

/* The connection ended: fills the error that says that close_notify was missing. */
void apns_tls_session_truncated(apns_tls_session *session);

/* The error of the last call that returned APNS_TLS_FAILED. Valid until the session's next call. */
const apns_error *apns_tls_session_error(const apns_tls_session *session);

/* Writes protocol and cipher, for the log, NUL-terminated. */
void apns_tls_session_describe(const apns_tls_session *session, char *text, size_t capacity);

#endif
