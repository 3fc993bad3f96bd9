/*
 * Shared by the files of CAPNSCrypto and by CAPNSIdentities.
 *
 * Order. A public function that fills an error record first clears it with apns_crypto_begin, and ends with
 * apns_crypto_done or a failure function, so that OpenSSL's error queue is empty in between. Out parameters are cleared
 * before anything can fail, and filled last.
 */
#pragma once

#include "apns_crypto.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdbool.h>

struct apns_crypto_key {
    EVP_PKEY *pkey;
    bool is_private;
};

/* Fills the record (NULL allowed) for invalid input, and returns APNS_INPUT. The text must contain data from a file
 * only through arguments that the caller has shortened and cleaned. */
int apns_crypto_fail(apns_error *error, int fault, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Like apns_crypto_fail, with the code and reason of OpenSSL's last error on this thread. Returns APNS_RESOURCE for
 * APNS_CRYPTO_FAULT_LIBRARY and for a failed allocation, whatever fault is. Empties the error queue, because the TLS
 * code of the same thread would mistake a remaining error for its own. */
int apns_crypto_fail_library(apns_error *error, int fault, const char *what);

/* Fills the record for a failed allocation and returns APNS_RESOURCE. */
int apns_crypto_fail_memory(apns_error *error);

/* Empties OpenSSL's error queue, which may contain errors that the library has recovered from. Returns APNS_OK. */
int apns_crypto_done(void);

/* Clears the record and OpenSSL's error queue. Called first in every function that fills a record. */
void apns_crypto_begin(apns_error *error);

/* Returns a BIO that reads the bytes in place, or NULL if there is no memory or they are more than INT_MAX. */
BIO *apns_crypto_bio_over(const uint8_t *bytes, size_t length);

/* Copies what was written to a BIO into out, or fails with the given message if writing failed. bio: freed in either
 * case; NULL allowed if not written. out: owned by caller. */
int apns_crypto_bio_finish(BIO *bio, bool written, const char *failure, apns_crypto_buffer *out, apns_error *error);

/* Context of the passphrase callback. */
typedef struct crypto_passphrase {
    const uint8_t *bytes; /* NULL for none */
    size_t length;
    bool asked;
} crypto_passphrase;

/* Fails if the passphrase is too long. */
int apns_crypto_passphrase_expect(const crypto_passphrase *passphrase, apns_error *error);

/* A passphrase callback that refuses. Without one OpenSSL would ask on the terminal. */
int apns_crypto_no_passphrase(char *buffer, int capacity, int for_writing, void *context);

enum { CRYPTO_PEM_LABEL_MAX = 40 };

/* Finds the next "-----BEGIN <label>-----" at or after *at: copies the label and moves *at to the dashes after it.
 * Returns false if there is none. A label consists of capital letters, digits and spaces (RFC 7468, section 3). */
bool apns_crypto_pem_next_label(const uint8_t *pem, size_t length, size_t *at, char label[CRYPTO_PEM_LABEL_MAX + 1]);

/* Returns a BIO over a PEM text in *out, owned by caller. Fails if no block has a label that ends with suffix ("PRIVATE
 * KEY"); the error names the type that was found. */
int apns_crypto_pem_open(const uint8_t *pem, size_t pem_length, const char *suffix, BIO **out, apns_error *error);

/* Reads a private key of any algorithm. *out: owned by caller. */
int apns_crypto_pkey_read_private(const uint8_t *pem, size_t pem_length, crypto_passphrase *passphrase, EVP_PKEY **out,
                                  apns_error *error);

/* Makes a key from pkey, after checking that it is a consistent key on P-256. pkey: owned by callee, also on failure.
 * *out: owned by caller, unchanged on failure. */
int apns_crypto_key_take(EVP_PKEY *pkey, bool is_private, apns_crypto_key **out, apns_error *error);

/* Writes a certificate as PEM. out: owned by caller. */
int apns_crypto_certificate_write(X509 *certificate, apns_crypto_buffer *out, apns_error *error);

/* Writes a private key of any algorithm as PKCS#8 PEM. out: owned by caller. */
int apns_crypto_pkey_write_private(const EVP_PKEY *pkey, const uint8_t *passphrase, size_t passphrase_length,
                                   apns_crypto_buffer *out, apns_error *error);
