/*
 * tls: TLS connections in memory, by OpenSSL. A session reads and writes ciphertext in buffers of the caller and uses
 * no socket.
 *
 * Model. A context holds what many connections share: trusted certificates and the own certificate; apns_tls_server.h
 * creates contexts for servers. A session is one connection. OpenSSL reads received ciphertext directly from struct
 * apns_tls_input, which is advanced as it is consumed, and appends ciphertext to send directly to struct
 * apns_tls_output.
 *
 * Threads. A context and its sessions may be used by one thread at a time.
 *
 * Protocol. TLS 1.2 and 1.3, ALPN "h2" required, no renegotiation, no compression.
 *
 * Errors. Calls of a session return enum apns_tls_result; after APNS_TLS_FAILED, apns_tls_session_error has the reason.
 * OpenSSL's error queue of the thread is empty after each call.
 */
#pragma once

#include "apns_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct apns_tls_context apns_tls_context;
typedef struct apns_tls_session apns_tls_session;

/* Maximum size of the plaintext of a record (RFC 8446, section 5.1). */
enum { APNS_TLS_RECORD_PLAIN_MAX = 16384 };

enum apns_tls_result {
    APNS_TLS_OK = 0,
    APNS_TLS_WANT = 1,   /* needs more ciphertext */
    APNS_TLS_CLOSED = 2, /* the peer sent close_notify */
    APNS_TLS_FAILED = -1,
};

enum apns_tls_error_kind {
    APNS_TLS_ERROR_LIBRARY = 1,      /* code: packed error code of OpenSSL */
    APNS_TLS_ERROR_VERIFICATION = 2, /* code: X509_V_ERR_* */
    APNS_TLS_ERROR_ALPN = 3,         /* the peer did not select h2 */
    APNS_TLS_ERROR_TRUNCATED = 4,    /* the connection ended without close_notify; code: packed error code of OpenSSL */
    APNS_TLS_ERROR_OUTPUT_FULL = 5,  /* the output buffer had no room */
};

typedef struct apns_tls_input {
    const uint8_t *bytes; /* advanced as bytes are consumed */
    size_t length;        /* number of bytes left */
} apns_tls_input;
_Static_assert(sizeof(apns_tls_input) == 16, "fixed layout");

typedef struct apns_tls_output {
    uint8_t *bytes;
    size_t length; /* number of bytes filled */
    size_t capacity;
} apns_tls_output;
_Static_assert(sizeof(apns_tls_output) == 24, "fixed layout");

/* Options of a context. All pointers: borrowed until return; NULL for none. PEM texts need no terminating NUL. */
typedef struct apns_tls_context_options {
    const uint8_t *ca_pem;          /* additional trusted certificates; server: issuers of client certificates */
    const uint8_t *certificate_pem; /* own certificate chain, leaf first */
    const uint8_t *key_pem;         /* private key of the leaf certificate, not encrypted */
    uint32_t ca_length;
    uint32_t certificate_length;
    uint32_t key_length;
    bool system_trusted;             /* client: the certificates of the system are trusted, too: those of OpenSSL's
                                        directory and file, or of SSL_CERT_DIR and SSL_CERT_FILE. The file is read when an
                                        issuer is not found elsewhere, once in a process */
    bool verify_disabled;            /* client: accept any server certificate */
    bool request_client_certificate; /* server: request a client certificate, which remains optional. Without ca_pem any
                                        is accepted; with ca_pem one that cannot be verified ends the handshake */
} apns_tls_context_options;
_Static_assert(sizeof(apns_tls_context_options) == 40, "fixed layout");

/* The functions that differ between clients and servers. The role of servers is in apns_tls_server.h. */
typedef struct apns_tls_role apns_tls_role;
extern const apns_tls_role apns_tls_client_role;

/* Creates a context and stores it in *out, to be freed with apns_tls_context_destroy. role: NULL for clients. Returns 0
 * or a negative enum apns_status; on failure *out is NULL and error (NULL allowed) is filled. */
int apns_tls_context_create(const apns_tls_role *role, const apns_tls_context_options *options, apns_tls_context **out,
                            apns_error *error);

/* Frees a context (NULL allowed). Sessions created from it stay valid. */
void apns_tls_context_destroy(apns_tls_context *context);

/* Creates a session that appends ciphertext to *output (borrowed until apns_tls_session_destroy; the caller may change
 * its fields between calls). host_name: of a client's peer, a DNS name or an IP address: verified against the
 * certificate, and sent as server name if it is a DNS name; borrowed until return; NULL on servers. Returns NULL if
 * there is no memory. Owned by the caller: apns_tls_session_destroy. */
apns_tls_session *apns_tls_session_create(apns_tls_context *context, const char *host_name, apns_tls_output *output);

/* Frees a session (NULL allowed). */
void apns_tls_session_destroy(apns_tls_session *session);

/* Continues the handshake. Returns APNS_TLS_OK when it is complete, APNS_TLS_WANT until then. A client first calls it
 * with an empty input. */
int apns_tls_session_handshake(apns_tls_session *session, apns_tls_input *input);

/* Decrypts input into plain (borrowed until return). APNS_TLS_OK: *length bytes of plaintext were written, at most one
 * record; call again until APNS_TLS_WANT, which is returned when input is used up. May be called after the
 * handshake. */
int apns_tls_session_read(apns_tls_session *session, apns_tls_input *input, uint8_t *plain, size_t capacity,
                          size_t *length);

/* Encrypts plain (borrowed until return), as one record per APNS_TLS_RECORD_PLAIN_MAX bytes. length: at least 1.
 * Returns APNS_TLS_OK or APNS_TLS_FAILED. May be called after the handshake. */
int apns_tls_session_write(apns_tls_session *session, const uint8_t *plain, size_t length);

/* Appends close_notify, unless the handshake is incomplete or it was already sent. */
void apns_tls_session_close(apns_tls_session *session);

/* Records the error APNS_TLS_ERROR_TRUNCATED, for a connection that ended without close_notify. */
void apns_tls_session_truncated(apns_tls_session *session);

/* Returns the error of the last call that returned APNS_TLS_FAILED. Valid until the next call with the session. */
const apns_error *apns_tls_session_error(const apns_tls_session *session);

/* Writes protocol and cipher, for the log, as a NUL-terminated string of less than capacity bytes. */
void apns_tls_session_describe(const apns_tls_session *session, char *text, size_t capacity);
