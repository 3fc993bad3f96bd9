/* PEM texts: finding blocks, and reading and writing private keys of any algorithm. */
#include "internal.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <string.h>

static const char begin_mark[] = "-----BEGIN ";

bool apns_crypto_pem_next_label(const uint8_t *pem, size_t length, size_t *at, char label[CRYPTO_PEM_LABEL_MAX + 1]) {
    const size_t mark = sizeof(begin_mark) - 1;
    for (size_t i = *at; i + mark < length; i++) {
        if (memcmp(pem + i, begin_mark, mark) != 0) continue;
        size_t n = 0;
        size_t j = i + mark;
        while (j < length && n < CRYPTO_PEM_LABEL_MAX) {
            uint8_t c = pem[j];
            if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' ')) break;
            label[n++] = (char)c;
            j++;
        }
        if (n == 0 || j >= length || pem[j] != '-') continue;
        label[n] = '\0';
        *at = j;
        return true;
    }
    return false;
}

static bool ends_with(const char *text, const char *suffix) {
    size_t a = strlen(text);
    size_t b = strlen(suffix);
    return a >= b && strcmp(text + a - b, suffix) == 0;
}

static int expect_block(const uint8_t *pem, size_t pem_length, const char *suffix, apns_error *error) {
    char label[CRYPTO_PEM_LABEL_MAX + 1];
    char first[CRYPTO_PEM_LABEL_MAX + 1] = "";
    size_t at = 0;
    while (apns_crypto_pem_next_label(pem, pem_length, &at, label)) {
        if (ends_with(label, suffix)) return APNS_OK;
        if (first[0] == '\0') memcpy(first, label, sizeof(first));
    }
    if (first[0] != '\0')
        return apns_crypto_fail(error, APNS_CRYPTO_FAULT_WRONG_BLOCK, "the PEM holds a %s, expected a %s", first,
                                suffix);
    if (pem_length == 0) return apns_crypto_fail(error, APNS_CRYPTO_FAULT_NOT_PEM, "not PEM: there are no bytes");
    return apns_crypto_fail(error, APNS_CRYPTO_FAULT_NOT_PEM, "not PEM: no line \"-----BEGIN %s-----\" was found",
                            suffix);
}

int apns_crypto_pem_open(const uint8_t *pem, size_t pem_length, const char *suffix, BIO **out, apns_error *error) {
    int status = expect_block(pem, pem_length, suffix, error);
    if (status != APNS_OK) return status;
    *out = apns_crypto_bio_over(pem, pem_length);
    return *out != NULL ? APNS_OK : apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_LIBRARY, "cannot read the PEM");
}

static int give_passphrase(char *buffer, int capacity, int for_writing, void *context) {
    (void)for_writing;
    crypto_passphrase *passphrase = context;
    passphrase->asked = true;
    if (passphrase->bytes == NULL || capacity < 0 || passphrase->length > (size_t)capacity) return -1;
    memcpy(buffer, passphrase->bytes, passphrase->length);
    return (int)passphrase->length;
}

int apns_crypto_no_passphrase(char *buffer, int capacity, int for_writing, void *context) {
    (void)buffer;
    (void)capacity;
    (void)for_writing;
    (void)context;
    return -1;
}

/* Determines the reason of a failed read from what the callback recorded. */
static int read_failed(const crypto_passphrase *passphrase, apns_error *error) {
    if (passphrase->asked && passphrase->bytes == NULL)
        return apns_crypto_fail(error, APNS_CRYPTO_FAULT_ENCRYPTED, "the key is encrypted and no passphrase was given");
    if (passphrase->asked)
        return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_PASSPHRASE, "the passphrase does not open the key");
    return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_MALFORMED, "the private key cannot be read");
}

int apns_crypto_passphrase_expect(const crypto_passphrase *passphrase, apns_error *error) {
    if (passphrase->bytes == NULL || passphrase->length <= PEM_BUFSIZE) return APNS_OK;
    return apns_crypto_fail(error, APNS_CRYPTO_FAULT_PASSPHRASE, "the passphrase is longer than %d bytes", PEM_BUFSIZE);
}

int apns_crypto_pkey_read_private(const uint8_t *pem, size_t pem_length, crypto_passphrase *passphrase, EVP_PKEY **out,
                                  apns_error *error) {
    BIO *bio = NULL;
    int status = apns_crypto_passphrase_expect(passphrase, error);
    if (status == APNS_OK) status = apns_crypto_pem_open(pem, pem_length, "PRIVATE KEY", &bio, error);
    if (status != APNS_OK) return status;
    *out = PEM_read_bio_PrivateKey(bio, NULL, give_passphrase, passphrase);
    BIO_free(bio);
    return *out != NULL ? apns_crypto_done() : read_failed(passphrase, error);
}

int apns_crypto_pkey_write_private(const EVP_PKEY *pkey, const uint8_t *passphrase, size_t passphrase_length,
                                   apns_crypto_buffer *out, apns_error *error) {
    crypto_passphrase given = {.bytes = passphrase, .length = passphrase_length};
    int status = apns_crypto_passphrase_expect(&given, error);
    if (status != APNS_OK) return status;
    const EVP_CIPHER *cipher = passphrase == NULL ? NULL : EVP_aes_256_cbc();
    BIO *bio = BIO_new(BIO_s_secmem()); /* wiped when freed */
    bool good = bio != NULL && PEM_write_bio_PKCS8PrivateKey(bio, pkey, cipher, NULL, 0, give_passphrase, &given) == 1;
    return apns_crypto_bio_finish(bio, good, "the private key cannot be written", out, error);
}

int apns_crypto_certificate_write(X509 *certificate, apns_crypto_buffer *out, apns_error *error) {
    BIO *bio = BIO_new(BIO_s_mem());
    bool good = bio != NULL && PEM_write_bio_X509(bio, certificate) == 1;
    return apns_crypto_bio_finish(bio, good, "the certificate cannot be written", out, error);
}
