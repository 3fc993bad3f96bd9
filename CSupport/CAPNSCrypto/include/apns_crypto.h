/*
 * crypto: keys, signatures, encryption, certificates and random bytes, by OpenSSL's EVP. Nothing in it is specific to
 * APNs.
 *
 * Model. Keys and sealers are handles; everything else is passed as bytes. No function opens a file or asks for a
 * passphrase on the terminal: a passphrase that is needed and not given is an error.
 *
 * Pointers. The comment on each pointer names one of three kinds of ownership: "borrowed until return", "owned by
 * caller" (to be freed with the function named there), "owned by callee". On failure out parameters are empty (NULL, or
 * length 0).
 *
 * Threads. A key is immutable and may be used by several threads at once; it must be freed once, after the last use. A
 * sealer may be used by one thread at a time. All other functions keep no state between calls.
 *
 * Errors. Functions return 0 or a negative enum apns_status, and fill error, which may be NULL: scope is an enum
 * apns_crypto_fault, code the packed error code of OpenSSL or 0. The text is plain English, with OpenSSL's reason if
 * there is one, and never contains bytes of a key or of a passphrase. Invalid bytes are reported as errors; NULL where
 * bytes are required is a programming error and traps.
 *
 * Secrets. apns_crypto_buffer_free and apns_crypto_key_free wipe what they free.
 */
#pragma once

#include "apns_error.h"

#include <stddef.h>
#include <stdint.h>

enum apns_crypto_fault {
    APNS_CRYPTO_FAULT_NONE = 0,
    APNS_CRYPTO_FAULT_NOT_PEM = 1,     /* the bytes contain no PEM block */
    APNS_CRYPTO_FAULT_WRONG_BLOCK = 2, /* a PEM block of another type, such as a certificate instead of a key */
    APNS_CRYPTO_FAULT_WRONG_KIND = 3,  /* a key of another algorithm or curve */
    APNS_CRYPTO_FAULT_ENCRYPTED = 4,   /* encrypted, but no passphrase was given */
    APNS_CRYPTO_FAULT_PASSPHRASE = 5,  /* the passphrase is wrong or too long */
    APNS_CRYPTO_FAULT_MALFORMED = 6,   /* a PEM block of the right type whose content is invalid or inconsistent */
    APNS_CRYPTO_FAULT_MISMATCH = 7,    /* certificate and key do not match */
    APNS_CRYPTO_FAULT_NAME = 8,        /* neither a host name nor an IP address */
    APNS_CRYPTO_FAULT_LIBRARY = 9,     /* OpenSSL failed; see code */
    APNS_CRYPTO_FAULT_SIZE = 10,       /* the key has too few or too many bits */
    APNS_CRYPTO_FAULT_MISSING = 11,    /* a valid file without a key or a certificate */
    /* encrypted with an algorithm of OpenSSL's legacy provider, which is not installed */
    APNS_CRYPTO_FAULT_LEGACY = 12,
};

/* Bytes allocated by this library. Owned by caller: apns_crypto_buffer_free. */
typedef struct apns_crypto_buffer {
    uint8_t *bytes;
    size_t length;
} apns_crypto_buffer;
_Static_assert(sizeof(apns_crypto_buffer) == 16, "fixed layout");

/* Wipes and frees the bytes, and makes the record empty. An empty record is allowed. */
void apns_crypto_buffer_free(apns_crypto_buffer *buffer);

/* ---------------------------------------------------------------- keys on the curve P-256 */

typedef struct apns_crypto_key apns_crypto_key;

/* Reads a private key on P-256: the first private key block of a PEM text, PKCS#8 (RFC 5958), encrypted PKCS#8 or SEC
 * 1. pem, passphrase: borrowed until return; passphrase: at most 1,024 bytes, NULL for none. *out: owned by caller,
 * free with apns_crypto_key_free. */
int apns_crypto_key_read_private(const uint8_t *pem, size_t pem_length, const uint8_t *passphrase,
                                 size_t passphrase_length, apns_crypto_key **out, apns_error *error);

/* Writes a private key as PKCS#8 PEM, encrypted (PBES2, AES-256-CBC) if a passphrase is given. passphrase: borrowed
 * until return; NULL for none. out: owned by caller, free with apns_crypto_buffer_free. Returns APNS_MISUSE for a
 * public key. */
int apns_crypto_key_write_private(const apns_crypto_key *key, const uint8_t *passphrase, size_t passphrase_length,
                                  apns_crypto_buffer *out, apns_error *error);

/* Writes the public part of a key as PUBLIC KEY PEM. out: owned by caller, free with apns_crypto_buffer_free. */
int apns_crypto_key_write_public(const apns_crypto_key *key, apns_crypto_buffer *out, apns_error *error);

/* Wipes and frees a key (NULL allowed). */
void apns_crypto_key_free(apns_crypto_key *key);

/* ---------------------------------------------------------------- ES256 (RFC 7518, section 3.4) */

enum { APNS_CRYPTO_ES256_BYTES = 64 };

/* Signs a message with ECDSA over P-256 and SHA-256. signature: room for APNS_CRYPTO_ES256_BYTES; gets r and s, 32
 * bytes each, big endian. message: borrowed until return. Returns APNS_MISUSE for a public key. */
int apns_crypto_es256_sign(const apns_crypto_key *key, const uint8_t *message, size_t message_length,
                           uint8_t *signature, apns_error *error);

/* ---------------------------------------------------------------- certificates */

/* Facts from a certificate. Strings are NUL-terminated UTF-8, empty if absent or too long. */
typedef struct apns_crypto_certificate_facts {
    int64_t not_before; /* seconds since 1970-01-01 00:00 UTC */
    int64_t not_after;
    char common_name[256]; /* of the subject */
    char user_id[256];     /* UID of the subject (0.9.2342.19200300.100.1.1) */
} apns_crypto_certificate_facts;
_Static_assert(sizeof(apns_crypto_certificate_facts) == 528, "fixed layout");

/* Reads the facts of the first certificate of a PEM text. pem: borrowed until return. */
int apns_crypto_certificate_read(const uint8_t *pem, size_t pem_length, apns_crypto_certificate_facts *out,
                                 apns_error *error);

/* Checks a certificate chain with its private key: every certificate of certificate_pem must parse, and the key in
 * key_pem, of any algorithm, must be that of the first one. facts: filled from the first certificate. plain_key: the
 * key as unencrypted PKCS#8 PEM, owned by caller, free with apns_crypto_buffer_free. passphrase: at most 1,024 bytes,
 * NULL for none. All other pointers: borrowed until return. */
int apns_crypto_certificate_match(const uint8_t *certificate_pem, size_t certificate_length, const uint8_t *key_pem,
                                  size_t key_length, const uint8_t *passphrase, size_t passphrase_length,
                                  apns_crypto_certificate_facts *facts, apns_crypto_buffer *plain_key,
                                  apns_error *error);

/* ---------------------------------------------------------------- PKCS#12 (RFC 7292)
 *
 * Reads a PKCS#12 file (DER): the private key, its certificate and the other certificates. passphrase: at most 1,024
 * bytes, NULL for none. Old files (RC2, RC4) need OpenSSL's legacy provider, which is loaded for them only.
 *
 * certificates: PEM, the key's certificate first. key: unencrypted PKCS#8 PEM. Both: owned by caller, free with
 * apns_crypto_buffer_free. All other pointers: borrowed until return. */
int apns_crypto_pkcs12_read(const uint8_t *bytes, size_t length, const uint8_t *passphrase, size_t passphrase_length,
                            apns_crypto_buffer *certificates, apns_crypto_buffer *key, apns_error *error);

/* ---------------------------------------------------------------- sealing
 *
 * A sealer encrypts each message with a fresh AES key and IV, which it encrypts with the recipient's RSA key:
 *
 *     content = base64(AES(message)), with GCM followed by the tag of 16 bytes, with CBC padded as in PKCS#7
 *     secret  = base64(RSA(32 bytes of key, then the IV: 12 bytes with GCM, 16 with CBC))
 *
 * Sealing itself allocates nothing; OpenSSL does so for a new key and during RSA encryption. Key and IV are wiped after
 * each message; the message is not. */

enum { APNS_CRYPTO_RSA_BITS_MIN = 2048, APNS_CRYPTO_RSA_BITS_MAX = 8192, APNS_CRYPTO_RSA_BYTES_MAX = 1024 };

enum apns_crypto_cipher { APNS_CRYPTO_CIPHER_AES256_GCM = 0, APNS_CRYPTO_CIPHER_AES256_CBC = 1 };

/* Padding of RSA encryption (RFC 8017, section 7): OAEP, with the same digest for its mask function, or PKCS #1
 * v1.5. */
enum apns_crypto_padding {
    APNS_CRYPTO_PADDING_OAEP_SHA256 = 0,
    APNS_CRYPTO_PADDING_OAEP_SHA1 = 1,
    APNS_CRYPTO_PADDING_PKCS1 = 2
};

typedef struct apns_crypto_sealer apns_crypto_sealer;

/* Checks an RSA public key in any form that apns_crypto_sealer_address takes, and stores its size in bits. Does not use
 * OpenSSL and allocates nothing. key: borrowed until return. */
int apns_crypto_recipient_check(const uint8_t *key, size_t length, uint32_t *bits, apns_error *error);

/* Creates a sealer from an enum apns_crypto_cipher and an enum apns_crypto_padding. *out: owned by caller, free with
 * apns_crypto_sealer_free. */
int apns_crypto_sealer_make(int cipher, int padding, apns_crypto_sealer **out, apns_error *error);

/* Sets the recipient of the following messages: an RSA public key as PEM (PUBLIC KEY or RSA PUBLIC KEY), as base64 of
 * the DER of either, or as that DER. The same bytes as in the last call cost only a comparison. After a failure there
 * is no recipient. key: borrowed until return. */
int apns_crypto_sealer_address(apns_crypto_sealer *sealer, const uint8_t *key, size_t length, apns_error *error);

/* Return the length of the content for a message, and of the secret for the recipient, in bytes. */
size_t apns_crypto_sealer_content_length(const apns_crypto_sealer *sealer, size_t message_length);
size_t apns_crypto_sealer_secret_length(const apns_crypto_sealer *sealer);

/* Seals a message for the recipient, which must have been set. content, secret: room for the lengths that the two
 * functions above return; not NUL-terminated. message: borrowed until return; must not overlap content or secret. */
int apns_crypto_sealer_seal(apns_crypto_sealer *sealer, const uint8_t *message, size_t message_length, uint8_t *content,
                            uint8_t *secret, apns_error *error);

/* Wipes and frees a sealer (NULL allowed). */
void apns_crypto_sealer_free(apns_crypto_sealer *sealer);

/* ---------------------------------------------------------------- digest, random bytes, wiping */

enum { APNS_CRYPTO_SHA256_BYTES = 32 };

/* Computes the SHA-256 of bytes (borrowed until return). digest: room for APNS_CRYPTO_SHA256_BYTES. */
int apns_crypto_sha256(const uint8_t *bytes, size_t length, uint8_t *digest, apns_error *error);

/* Like apns_crypto_sha256, for digests that only compare: it allocates nothing and cannot fail. */
void apns_crypto_sha256_plain(const uint8_t *bytes, size_t length, uint8_t *digest);

/* Computes the HMAC-SHA256 (RFC 2104) of a message under a key (both borrowed until return). code: room for
 * APNS_CRYPTO_SHA256_BYTES. */
int apns_crypto_hmac_sha256(const uint8_t *key, size_t key_length, const uint8_t *message, size_t message_length,
                            uint8_t *code, apns_error *error);

/* Fills bytes with random bytes of OpenSSL's generator. */
int apns_crypto_random(uint8_t *bytes, size_t length, apns_error *error);

/* Excludes this process from core dumps and from debuggers of the same user, permanently. Returns 0 or a negative
 * errno. */
int apns_crypto_core_dumps_forbid(void);
