/*
 * identities: keys and certificates made for one occasion, and the check of signatures: what an embedded server and its
 * clients need, and the sender does not. Pointers, threads and errors as in apns_crypto.h.
 */
#ifndef APNS_BATCH_IDENTITIES_H
#define APNS_BATCH_IDENTITIES_H

#include "apns_crypto.h"

/* ---------------------------------------------------------------- keys on the curve P-256 */

/* Makes a new private key. *out: owned by caller, free with apns_crypto_key_free. */
int apns_crypto_key_generate(apns_crypto_key **out, apns_error *error);

/* Reads a public key on P-256: the first PUBLIC KEY block (RFC 5280, SubjectPublicKeyInfo) of the PEM text.
 * pem: borrowed until return. *out: owned by caller, free with apns_crypto_key_free. */
int apns_crypto_key_read_public(const uint8_t *pem, size_t pem_length, apns_crypto_key **out, apns_error *error);

/* 1 when the signature is the key's for this message, 0 when it is not (of another length, too), or a negative status.
 * All bytes: borrowed until return. */
int apns_crypto_es256_verify(const apns_crypto_key *key, const uint8_t *message, size_t message_length,
                             const uint8_t *signature, size_t signature_length, apns_error *error);

/* ---------------------------------------------------------------- identities */

/* What makes a TLS server: a certificate authority of its own, a certificate signed by it, and that one's key, all PEM.
 * Each buffer: owned by caller, free with apns_crypto_identity_free. */
typedef struct apns_crypto_identity {
    apns_crypto_buffer authority;   /* the authority's certificate; its key is wiped and kept nowhere */
    apns_crypto_buffer certificate; /* the server's certificate alone */
    apns_crypto_buffer key;         /* PKCS#8, plain */
} apns_crypto_identity;

/* Makes an identity on P-256 whose certificate names the hosts as subjectAltName (RFC 5280, section 4.2.1.6): an IP
 * address where the text is one (IPv4 or IPv6), else a DNS name of letters, digits, '-', '_', '.' and '*'. Valid from
 * one day ago for days (1 to 36,500) more days, as TLS server and client. hosts: host_count (1 to 64) strings, borrowed
 * until return.
 */
int apns_crypto_identity_make(const char *const *hosts, size_t host_count, uint32_t days, apns_crypto_identity *out,
                              apns_error *error);

/* Wipes and frees the three buffers and empties the record. */
void apns_crypto_identity_free(apns_crypto_identity *identity);

/* Makes a certificate on P-256 that signs itself, for TLS clients, with user_id and common_name as UID and CN of its
 * subject (1 to 200 bytes of UTF-8 each, borrowed until return). Valid from one day ago for days (1 to 36,500) more
 * days. out->authority: the certificate again, which is what a server has to trust. */
int apns_crypto_client_make(const char *user_id, const char *common_name, uint32_t days, apns_crypto_identity *out,
                            apns_error *error);

#endif
