/*
 * identities: creates keys and certificates for simulators and tests, and verifies signatures. Not part of the sender.
 * Pointers, threads and errors are as in apns_crypto.h.
 */
#pragma once

#include "apns_crypto.h"

/* ---------------------------------------------------------------- keys on the curve P-256 */

/* Generates a private key on P-256. *out: owned by caller, free with apns_crypto_key_free. */
int apns_crypto_key_generate(apns_crypto_key **out, apns_error *error);

/* Reads a public key on P-256: the first PUBLIC KEY block (SubjectPublicKeyInfo, RFC 5280) of a PEM text. pem: borrowed
 * until return. *out: owned by caller, free with apns_crypto_key_free. */
int apns_crypto_key_read_public(const uint8_t *pem, size_t pem_length, apns_crypto_key **out, apns_error *error);

/* Verifies an ES256 signature: r and s, 32 bytes each, big endian. message, signature: borrowed until return. Returns 1
 * if it is valid, 0 if it is not or has another length, or a negative enum apns_status. */
int apns_crypto_es256_verify(const apns_crypto_key *key, const uint8_t *message, size_t message_length,
                             const uint8_t *signature, size_t signature_length, apns_error *error);

/* ---------------------------------------------------------------- identities */

/* A certificate with its private key and its issuer, as PEM. Each buffer: owned by caller, free with
 * apns_crypto_identity_free. */
typedef struct apns_crypto_identity {
    apns_crypto_buffer authority;   /* the issuer's certificate; its key was wiped */
    apns_crypto_buffer certificate; /* the certificate, without its issuer */
    apns_crypto_buffer key;         /* PKCS#8, not encrypted */
} apns_crypto_identity;

/* Creates a certificate authority and a certificate for TLS servers and clients that it signs, both on P-256. The
 * certificate names the hosts in subjectAltName (RFC 5280, section 4.2.1.6): IPv4 and IPv6 addresses as IP addresses,
 * others, which may consist of letters, digits, '-', '_', '.' and '*', as DNS names. Valid from one day ago until days
 * (1 to 36,500) from now. hosts: host_count (1 to 64) strings, borrowed until return. out: owned by caller, free with
 * apns_crypto_identity_free. */
int apns_crypto_identity_make(const char *const *hosts, size_t host_count, uint32_t days, apns_crypto_identity *out,
                              apns_error *error);

/* Wipes and frees the three buffers, and makes the record empty. */
void apns_crypto_identity_free(apns_crypto_identity *identity);

/* Creates a self-signed certificate on P-256 for TLS clients, with user_id and common_name as UID and CN of its subject
 * (1 to 200 bytes of UTF-8 each, borrowed until return). Valid from one day ago until days (1 to 36,500) from now. out:
 * owned by caller, free with apns_crypto_identity_free; authority is the certificate itself, which the server has to
 * trust. */
int apns_crypto_client_make(const char *user_id, const char *common_name, uint32_t days, apns_crypto_identity *out,
                            apns_error *error);
