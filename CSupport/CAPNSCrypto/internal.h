/*
 * What the files of crypto share, and CAPNSIdentities.
 *
 * Order. A public function that fills a record empties it first with apns_crypto_begin and ends with apns_crypto_done
 * or a function of failure, so that OpenSSL's error queue is empty in between. Out parameters are emptied before
 * anything can fail, and filled last.
 */
#ifndef APNS_BATCH_CRYPTO_INTERNAL_H
#define APNS_BATCH_CRYPTO_INTERNAL_H

#include "apns_crypto.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdbool.h>

struct apns_crypto_key {
    EVP_PKEY *pkey;
    bool is_private;
};

/* Fills the record (NULL allowed) for input that is not what it should be, and returns APNS_INPUT. The text takes no
 * data from a file except through arguments that the caller has shortened and cleaned. */
int apns_crypto_fail(apns_error *error, int fault, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same with the reason of OpenSSL's last error on this thread appended, and its code kept. For a lack of memory,
 * whatever the caller thinks, and for APNS_CRYPTO_FAULT_LIBRARY it returns APNS_RESOURCE. Empties the queue: an entry
 * left there would be taken for its own by the TLS code of the same thread. */
int apns_crypto_fail_library(apns_error *error, int fault, const char *what);

/* malloc returned NULL. */
int apns_crypto_fail_memory(apns_error *error);

/* Success: empties OpenSSL's error queue, where what the library recovered from may still stand. Returns APNS_OK. */
int apns_crypto_done(void);

/* Empties the record and OpenSSL's error queue. Every function that fills a record begins with it. */
void apns_crypto_begin(apns_error *error);

/* A BIO that reads the bytes in place, or NULL when there is no memory or they are more than INT_MAX. */
BIO *apns_crypto_bio_over(const uint8_t *bytes, size_t length);

/* Ends writing: copies what was written to a BIO, or says with the text why it was not. bio: freed in either case, NULL
 * allowed when not written. out: owned by caller. */
int apns_crypto_bio_finish(BIO *bio, bool written, const char *failure, apns_crypto_buffer *out, apns_error *error);

/* What the passphrase callback is given and what it notes. */
typedef struct crypto_passphrase {
    const uint8_t *bytes; /* NULL: none */
    size_t length;
    bool asked;
} crypto_passphrase;

/* Fails when it is too long. */
int apns_crypto_passphrase_expect(const crypto_passphrase *passphrase, apns_error *error);

/* A callback for blocks that need no passphrase. Without one OpenSSL would ask the terminal. */
int apns_crypto_no_passphrase(char *buffer, int capacity, int for_writing, void *context);

enum { CRYPTO_PEM_LABEL_MAX = 40 };

/* The next "-----BEGIN <label>-----" at or after *at: copies the label and moves *at to the dashes behind it. False
 * when there is none. A label is capital letters, digits and blanks (RFC 7468, section 3); anything else is no block.
 */
bool apns_crypto_pem_next_label(const uint8_t *pem, size_t length, size_t *at, char label[CRYPTO_PEM_LABEL_MAX + 1]);

/* A BIO over a PEM text. Fails when it holds no block whose label ends in the given words ("PRIVATE KEY"); says what it
 * holds instead. *out: owned by caller. */
int apns_crypto_pem_open(const uint8_t *pem, size_t pem_length, const char *suffix, BIO **out, apns_error *error);

/* Reads a private key of any algorithm. *out: owned by caller. */
int apns_crypto_pkey_read_private(const uint8_t *pem, size_t pem_length, crypto_passphrase *passphrase, EVP_PKEY **out,
                                  apns_error *error);

/* Makes a key of pkey, after a check that it is a consistent one on P-256. pkey: owned by callee, also on failure.
 * *out: owned by caller, untouched on failure. */
int apns_crypto_key_take(EVP_PKEY *pkey, bool is_private, apns_crypto_key **out, apns_error *error);

/* Writes a certificate as PEM. out: owned by caller. */
int apns_crypto_certificate_write(X509 *certificate, apns_crypto_buffer *out, apns_error *error);

/* Writes a private key of any algorithm as PKCS#8 PEM. */
int apns_crypto_pkey_write_private(const EVP_PKEY *pkey, const uint8_t *passphrase, size_t passphrase_length,
                                   apns_crypto_buffer *out, apns_error *error);

#endif
