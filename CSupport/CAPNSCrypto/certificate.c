/* Reading certificates: dates, names, and the match with a private key. */
#define _DEFAULT_SOURCE /* timegm */
#include "internal.h"

#include "apns_check.h"
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>
#include <time.h>

static bool unix_seconds(const ASN1_TIME *time, int64_t *out) {
    struct tm broken = {0};
    if (time == NULL || ASN1_TIME_to_tm(time, &broken) != 1) return false;
    *out = (int64_t)timegm(&broken);
    return true;
}

/* Copies the first subject attribute with this nid as UTF-8; empty if it is absent, too long, or contains a NUL. */
static void subject_text(const X509 *certificate, int nid, char *out, size_t capacity) {
    out[0] = '\0';
    const X509_NAME *subject = X509_get_subject_name(certificate);
    int index = X509_NAME_get_index_by_NID(subject, nid, -1);
    if (index < 0) return;
    uint8_t *text = NULL;
    int length = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)));
    if (length > 0 && (size_t)length < capacity && memchr(text, 0, (size_t)length) == NULL) {
        memcpy(out, text, (size_t)length);
        out[length] = '\0';
    }
    if (length >= 0) OPENSSL_free(text);
}

static int read_facts(const X509 *certificate, apns_crypto_certificate_facts *out, apns_error *error) {
    if (!unix_seconds(X509_get0_notBefore(certificate), &out->not_before) ||
        !unix_seconds(X509_get0_notAfter(certificate), &out->not_after))
        return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_MALFORMED, "the certificate's dates cannot be read");
    subject_text(certificate, NID_commonName, out->common_name, sizeof(out->common_name));
    subject_text(certificate, NID_userId, out->user_id, sizeof(out->user_id));
    return apns_crypto_done();
}

/* Parses all certificates of a text and returns the first. *out: owned by caller. */
static int read_chain(const uint8_t *pem, size_t pem_length, X509 **out, apns_error *error) {
    BIO *bio;
    int status = apns_crypto_pem_open(pem, pem_length, "CERTIFICATE", &bio, error);
    if (status != APNS_OK) return status;
    X509 *first = NULL;
    X509 *next = NULL;
    while ((next = PEM_read_bio_X509(bio, NULL, apns_crypto_no_passphrase, NULL)) != NULL) {
        if (first == NULL)
            first = next;
        else
            X509_free(next);
    }
    BIO_free(bio);
    /* The last read always fails; PEM_R_NO_START_LINE means the end of the text. */
    if (first != NULL && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) {
        *out = first;
        return apns_crypto_done();
    }
    X509_free(first);
    return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_MALFORMED, "the certificate cannot be read");
}

int apns_crypto_certificate_read(const uint8_t *pem, size_t pem_length, apns_crypto_certificate_facts *out,
                                 apns_error *error) {
    APNS_REQUIRE(out != NULL && (pem != NULL || pem_length == 0));
    apns_crypto_begin(error);
    memset(out, 0, sizeof(*out));
    X509 *certificate = NULL;
    int status = read_chain(pem, pem_length, &certificate, error);
    if (status != APNS_OK) return status;
    status = read_facts(certificate, out, error);
    X509_free(certificate);
    return status;
}

static int expect_match(const X509 *certificate, const EVP_PKEY *key, apns_error *error) {
    if (X509_check_private_key(certificate, key) == 1) return APNS_OK;
    return apns_crypto_fail(error, APNS_CRYPTO_FAULT_MISMATCH, "the private key is not the certificate's");
}

int apns_crypto_certificate_match(const uint8_t *certificate_pem, size_t certificate_length, const uint8_t *key_pem,
                                  size_t key_length, const uint8_t *passphrase, size_t passphrase_length,
                                  apns_crypto_certificate_facts *facts, apns_crypto_buffer *plain_key,
                                  apns_error *error) {
    APNS_REQUIRE(facts != NULL && plain_key != NULL);
    APNS_REQUIRE((certificate_pem != NULL || certificate_length == 0) && (key_pem != NULL || key_length == 0));
    apns_crypto_begin(error);
    memset(facts, 0, sizeof(*facts));
    *plain_key = (apns_crypto_buffer){0};
    X509 *certificate = NULL;
    EVP_PKEY *key = NULL;
    crypto_passphrase given = {.bytes = passphrase, .length = passphrase_length};
    int status = read_chain(certificate_pem, certificate_length, &certificate, error);
    if (status == APNS_OK) status = apns_crypto_pkey_read_private(key_pem, key_length, &given, &key, error);
    if (status == APNS_OK) status = expect_match(certificate, key, error);
    if (status == APNS_OK) status = read_facts(certificate, facts, error);
    if (status == APNS_OK) status = apns_crypto_pkey_write_private(key, NULL, 0, plain_key, error);
    EVP_PKEY_free(key);
    X509_free(certificate);
    return status;
}
