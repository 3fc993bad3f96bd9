/*
 * crypto: keys, signatures, encryption, certificates and random bytes, over OpenSSL's EVP. Knows nothing of what they
 * are used for.
 *
 * Model. Keys are handles; everything else is bytes in, bytes out. Nothing here opens a file or asks a terminal: a
 * passphrase that is needed and was not given is an error.
 *
 * Pointers. Each one is owned in one of three ways, named where it stands: "borrowed until return", "owned by caller"
 * (free it with the function named there), "owned by callee". On failure every out parameter is left empty (NULL, or
 * length 0) and nothing is left behind.
 *
 * Threads. A key never changes after it was made and may be used by several threads at once; it is freed by one, after
 * the last use. A sealer belongs to one thread at a time. All other functions keep no state between calls.
 *
 * Errors. Functions return 0 or a negative enum apns_status and fill the record, which may be NULL: scope is an enum
 * crypto_fault, code the packed error of OpenSSL or 0. Text is
 * plain English with the library's reason where there is one, and never holds bytes of a key or of a passphrase.
 * Whatever comes from a file is input and never asserted; NULL where bytes are required is the caller's bug and
 * asserted.
 *
 * Secrets. Private keys in buffers are wiped by apns_crypto_buffer_free; keys are wiped by apns_crypto_key_free.
 */
#ifndef APNS_BATCH_CRYPTO_H
#define APNS_BATCH_CRYPTO_H

#include "apns_error.h"

#include <stddef.h>
#include <stdint.h>

enum apns_crypto_fault {
    APNS_CRYPTO_FAULT_NONE = 0,
    APNS_CRYPTO_FAULT_NOT_PEM = 1,     /* no PEM block at all */
    APNS_CRYPTO_FAULT_WRONG_BLOCK = 2, /* PEM, but of something else: a certificate where a key was expected */
    APNS_CRYPTO_FAULT_WRONG_KIND = 3,  /* a key, but of another algorithm or curve */
    APNS_CRYPTO_FAULT_ENCRYPTED = 4,   /* encrypted, and no passphrase was given */
    APNS_CRYPTO_FAULT_PASSPHRASE = 5,  /* the passphrase does not decrypt it, or is too long */
    APNS_CRYPTO_FAULT_MALFORMED = 6, /* a PEM block of the right name whose content does not parse or is inconsistent */
    APNS_CRYPTO_FAULT_MISMATCH = 7,  /* certificate and key do not belong together */
    APNS_CRYPTO_FAULT_NAME = 8,      /* neither a host name nor an IP address */
    APNS_CRYPTO_FAULT_LIBRARY = 9,   /* OpenSSL failed: see code */
    APNS_CRYPTO_FAULT_SIZE = 10,     /* a key with too few or too many bits */
    APNS_CRYPTO_FAULT_MISSING = 11,  /* the file is right but holds no key, or no certificate */
    /* encrypted with an algorithm that only OpenSSL's legacy provider has, which is not there */
    APNS_CRYPTO_FAULT_LEGACY = 12,
};

/* Bytes made by this library. Owned by caller: free with apns_crypto_buffer_free. */
typedef struct apns_crypto_buffer {
    uint8_t *bytes;
    size_t length;
} apns_crypto_buffer;
_Static_assert(sizeof(apns_crypto_buffer) == 16, "fixed layout");

/* Wipes and frees the bytes and empties the record. An empty record is allowed. */
void apns_crypto_buffer_free(apns_crypto_buffer *buffer);

/* ---------------------------------------------------------------- keys on the curve P-256 */

typedef struct apns_crypto_key apns_crypto_key;

/* Reads a private key on P-256: the first private key block of the PEM text, PKCS#8 (RFC 5958), encrypted PKCS#8 or
 * SEC 1. pem, passphrase: borrowed until return; passphrase may be NULL, it has at most 1,024 bytes.
 * *out: owned by caller, free with apns_crypto_key_free. */
int apns_crypto_key_read_private(const uint8_t *pem, size_t pem_length, const uint8_t *passphrase,
                                 size_t passphrase_length, apns_crypto_key **out, apns_error *error);

/* Writes the private key as PKCS#8 PEM; encrypted (PBES2, AES-256-CBC) when a passphrase (borrowed until return) is
 * given, plain with NULL. out: owned by caller, free with apns_crypto_buffer_free. */
int apns_crypto_key_write_private(const apns_crypto_key *key, const uint8_t *passphrase, size_t passphrase_length,
                                  apns_crypto_buffer *out, apns_error *error);

/* Writes the public part as PUBLIC KEY PEM. out: owned by caller, free with apns_crypto_buffer_free. */
int apns_crypto_key_write_public(const apns_crypto_key *key, apns_crypto_buffer *out, apns_error *error);

/* Wipes and frees a key. NULL is allowed. */
void apns_crypto_key_free(apns_crypto_key *key);

/* ---------------------------------------------------------------- ES256 (RFC 7518, section 3.4) */

enum { APNS_CRYPTO_ES256_BYTES = 64 };

/* Signs a message: ECDSA over P-256 and SHA-256. signature: room for APNS_CRYPTO_ES256_BYTES, r and then s, 32 bytes
 * each, big endian. message: borrowed until return. */
int apns_crypto_es256_sign(const apns_crypto_key *key, const uint8_t *message, size_t message_length,
                           uint8_t *signature, apns_error *error);

/* ---------------------------------------------------------------- certificates */

/* What a certificate says of itself. Texts are NUL-terminated UTF-8, empty where absent or too long. */
typedef struct apns_crypto_certificate_facts {
    int64_t not_before; /* seconds since 1970-01-01 00:00 UTC */
    int64_t not_after;
    char common_name[256]; /* of the subject */
    char user_id[256];     /* UID of the subject (0.9.2342.19200300.100.1.1) */
} apns_crypto_certificate_facts;
_Static_assert(sizeof(apns_crypto_certificate_facts) == 528, "fixed layout");

/* Reads the first certificate of a PEM text. pem: borrowed until return. */
int apns_crypto_certificate_read(const uint8_t *pem, size_t pem_length, apns_crypto_certificate_facts *out,
                                 apns_error *error);

/* Checks that every certificate block of certificate_pem parses, that key_pem holds a private key of any algorithm, and
 * that the first certificate is this key's. facts: filled from the first certificate. plain_key: the key as plain
 * PKCS#8 PEM, owned by caller, free with apns_crypto_buffer_free. All other pointers: borrowed until return. */
int apns_crypto_certificate_match(const uint8_t *certificate_pem, size_t certificate_length, const uint8_t *key_pem,
                                  size_t key_length, const uint8_t *passphrase, size_t passphrase_length,
                                  apns_crypto_certificate_facts *facts, apns_crypto_buffer *plain_key,
                                  apns_error *error);

/* ---------------------------------------------------------------- PKCS#12 (RFC 7292)
 *
 * Reads a PKCS#12 file, DER: the key, its certificate and the others that come along. passphrase: NULL for none; at
 * most 1,024 bytes. Old files (RC2, RC4) need OpenSSL's legacy provider, which is loaded for them alone.
 *
 * certificates: PEM, the key's certificate first. key: plain PKCS#8 PEM. Both: owned by caller, free with
 * apns_crypto_buffer_free. All other pointers: borrowed until return. */
int apns_crypto_pkcs12_read(const uint8_t *bytes, size_t length, const uint8_t *passphrase, size_t passphrase_length,
                            apns_crypto_buffer *certificates, apns_crypto_buffer *key, apns_error *error);

/* ---------------------------------------------------------------- sealing
 *
 * A sealer encrypts messages, each with a fresh AES key and IV that travel encrypted with the recipient's RSA key:
 *
 *     content = base64(AES(message)), with GCM the 16 bytes of the tag behind it; CBC fills up as PKCS#7 says
 *     secret  = base64(RSA(32 bytes of key, then the IV: 12 bytes with GCM, 16 with CBC))
 *
 * Sealing allocates nothing here; OpenSSL does for a key that is new and inside of an RSA encryption. Key and IV are
 * wiped when the message is sealed; the message is the caller's to wipe. */

enum { APNS_CRYPTO_RSA_BITS_MIN = 2048, APNS_CRYPTO_RSA_BITS_MAX = 8192, APNS_CRYPTO_RSA_BYTES_MAX = 1024 };

enum apns_crypto_cipher { APNS_CRYPTO_CIPHER_AES256_GCM = 0, APNS_CRYPTO_CIPHER_AES256_CBC = 1 };

/* How RSA encryption fills up (RFC 8017, section 7): OAEP, whose mask function has the same digest, or v1.5. */
enum apns_crypto_padding {
    APNS_CRYPTO_PADDING_OAEP_SHA256 = 0,
    APNS_CRYPTO_PADDING_OAEP_SHA1 = 1,
    APNS_CRYPTO_PADDING_PKCS1 = 2
};

typedef struct apns_crypto_sealer apns_crypto_sealer;

/* Checks a recipient's key as apns_crypto_sealer_address reads it, without OpenSSL, and tells its bits. Allocates
 * nothing. key: borrowed until return. */
int apns_crypto_recipient_check(const uint8_t *key, size_t length, uint32_t *bits, apns_error *error);

/* *out: owned by caller, free with apns_crypto_sealer_free. */
int apns_crypto_sealer_make(int cipher, int padding, apns_crypto_sealer **out, apns_error *error);

/* Takes the recipient of the next messages: an RSA key as PEM (PUBLIC KEY or RSA PUBLIC KEY), as base64 of the DER of
 * either, or as that DER. The same bytes as the last time cost a comparison. After a failure there is no recipient.
 * key: borrowed until return. */
int apns_crypto_sealer_address(apns_crypto_sealer *sealer, const uint8_t *key, size_t length, apns_error *error);

/* Bytes of content for a message, and of secret for the recipient. */
size_t apns_crypto_sealer_content_length(const apns_crypto_sealer *sealer, size_t message_length);
size_t apns_crypto_sealer_secret_length(const apns_crypto_sealer *sealer);

/* Seals a message for the recipient, which must have been set. content, secret: room for as many bytes as the two
 * functions above tell; not NUL-terminated. message: borrowed until return; must not overlap. */
int apns_crypto_sealer_seal(apns_crypto_sealer *sealer, const uint8_t *message, size_t message_length, uint8_t *content,
                            uint8_t *secret, apns_error *error);

/* Wipes and frees a sealer. NULL is allowed. */
void apns_crypto_sealer_free(apns_crypto_sealer *sealer);

/* ---------------------------------------------------------------- digest, random bytes, wiping */

enum { APNS_CRYPTO_SHA256_BYTES = 32 };

/* SHA-256 of the bytes (borrowed until return) into digest, room for APNS_CRYPTO_SHA256_BYTES. */
int apns_crypto_sha256(const uint8_t *bytes, size_t length, uint8_t *digest, apns_error *error);

/* Fills bytes from the library's generator. */
int apns_crypto_random(uint8_t *bytes, size_t length, apns_error *error);

/* Overwrites bytes in a way that a compiler does not remove. */
void apns_crypto_wipe(void *bytes, size_t length);

/* Keeps this process's memory out of core files, and away from debuggers of the same user. For the whole process, and
 * for good. 0 or a negative errno. */
int apns_crypto_core_dumps_forbid(void);

#endif
