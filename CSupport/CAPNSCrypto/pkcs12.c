/* PKCS#12 files: a key and its certificates, encrypted with one passphrase. */
#include "internal.h"

#include "apns_check.h"
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/x509.h>
#include <string.h>

/* A library context of its own, so that legacy algorithms are available for this file only. */
typedef struct world {
    OSSL_LIB_CTX *library;
    OSSL_PROVIDER *present;
    OSSL_PROVIDER *legacy; /* NULL if it is not installed */
} world;

static bool world_open(world *w) {
    *w = (world){.library = OSSL_LIB_CTX_new()};
    if (w->library == NULL) return false;
    w->present = OSSL_PROVIDER_load(w->library, "default");
    w->legacy = OSSL_PROVIDER_load(w->library, "legacy");
    ERR_clear_error();
    return w->present != NULL;
}

static void world_close(world *w) {
    OSSL_PROVIDER_unload(w->legacy);
    OSSL_PROVIDER_unload(w->present);
    OSSL_LIB_CTX_free(w->library);
}

/* The contents of a file. */
typedef struct contents {
    EVP_PKEY *key;
    X509 *certificate;
    STACK_OF(X509) * others;
} contents;

static void contents_free(contents *c) {
    EVP_PKEY_free(c->key);
    X509_free(c->certificate);
    sk_X509_pop_free(c->others, X509_free);
}

static int passphrase_failed(bool given, apns_error *error) {
    if (!given)
        return apns_crypto_fail(error, APNS_CRYPTO_FAULT_ENCRYPTED,
                                "the PKCS#12 file is encrypted and no passphrase was given");
    return apns_crypto_fail(error, APNS_CRYPTO_FAULT_PASSPHRASE, "the passphrase does not open the PKCS#12 file");
}

/* Determines why unpacking failed although the passphrase is right. */
static int unpack_failed(const world *w, apns_error *error) {
    bool unsupported = false;
    for (unsigned long code = ERR_get_error(); code != 0; code = ERR_get_error()) {
        int reason = ERR_GET_REASON(code);
        if (reason == ERR_R_UNSUPPORTED || (ERR_GET_LIB(code) == ERR_LIB_EVP && reason == EVP_R_UNSUPPORTED_ALGORITHM))
            unsupported = true;
    }
    if (unsupported && w->legacy == NULL)
        return apns_crypto_fail(
            error, APNS_CRYPTO_FAULT_LEGACY,
            "the PKCS#12 file is encrypted with an old algorithm, and OpenSSL's legacy provider, which "
            "has it, cannot be loaded");
    return apns_crypto_fail(error, APNS_CRYPTO_FAULT_MALFORMED, "the PKCS#12 file cannot be read");
}

/* A file without a passphrase may have been made with an empty one or with none. */
static bool opens(PKCS12 *file, const char *passphrase, size_t length) {
    if (PKCS12_verify_mac(file, passphrase, (int)length) == 1) return true;
    return length == 0 && PKCS12_verify_mac(file, NULL, 0) == 1;
}

static int unpack(const world *w, PKCS12 *file, const char *passphrase, size_t length, bool given, contents *out,
                  apns_error *error) {
    bool sealed = PKCS12_mac_present(file) == 1;
    if (sealed && !opens(file, passphrase, length)) return passphrase_failed(given, error);
    ERR_clear_error();
    if (PKCS12_parse(file, passphrase, &out->key, &out->certificate, &out->others) == 1) return APNS_OK;
    if (sealed) return unpack_failed(w, error);
    if (!given) return passphrase_failed(false, error);
    /* Some versions of OpenSSL refuse a passphrase then, and in others a wrong one shows only in the failed decryption.
     */
    return apns_crypto_fail(
        error, APNS_CRYPTO_FAULT_PASSPHRASE,
        "the PKCS#12 file has no MAC, and cannot be opened with this passphrase; export it again with one, "
        "as openssl pkcs12 -export does without -nomac");
}

static int expect_whole(const contents *c, apns_error *error) {
    if (c->key == NULL)
        return apns_crypto_fail(error, APNS_CRYPTO_FAULT_MISSING, "the PKCS#12 file holds no private key");
    if (c->certificate == NULL)
        return apns_crypto_fail(error, APNS_CRYPTO_FAULT_MISSING,
                                "the PKCS#12 file holds no certificate for its private key");
    return APNS_OK;
}

static int write_certificates(const contents *c, apns_crypto_buffer *out, apns_error *error) {
    BIO *bio = BIO_new(BIO_s_mem());
    bool good = bio != NULL && PEM_write_bio_X509(bio, c->certificate) == 1;
    for (int i = 0; good && i < sk_X509_num(c->others); i++)
        good = PEM_write_bio_X509(bio, sk_X509_value(c->others, i)) == 1;
    return apns_crypto_bio_finish(bio, good, "the certificates cannot be written", out, error);
}

static int write_contents(const contents *c, apns_crypto_buffer *certificates, apns_crypto_buffer *key,
                          apns_error *error) {
    int status = expect_whole(c, error);
    if (status == APNS_OK) status = write_certificates(c, certificates, error);
    if (status == APNS_OK) status = apns_crypto_pkey_write_private(c->key, NULL, 0, key, error);
    if (status != APNS_OK) apns_crypto_buffer_free(certificates);
    return status;
}

/* Decodes the outer structure of a file; its parts are decoded with the algorithms of the world. */
static PKCS12 *decode(const world *w, const uint8_t *bytes, size_t length) {
    BIO *bio = apns_crypto_bio_over(bytes, length);
    PKCS12 *file = PKCS12_init_ex(NID_pkcs7_data, w->library, NULL);
    if (bio == NULL || file == NULL || d2i_PKCS12_bio(bio, &file) == NULL) {
        PKCS12_free(file);
        file = NULL;
    }
    BIO_free(bio);
    return file;
}

static int read_in(const world *w, const uint8_t *bytes, size_t length, const crypto_passphrase *passphrase,
                   contents *out, apns_error *error) {
    PKCS12 *file = decode(w, bytes, length);
    if (file == NULL) return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_MALFORMED, "this is no PKCS#12 file");
    char text[PEM_BUFSIZE + 1] = {0};
    if (passphrase->bytes != NULL) memcpy(text, passphrase->bytes, passphrase->length);
    int status = unpack(w, file, text, passphrase->length, passphrase->bytes != NULL, out, error);
    OPENSSL_cleanse(text, sizeof(text));
    PKCS12_free(file);
    return status;
}

int apns_crypto_pkcs12_read(const uint8_t *bytes, size_t length, const uint8_t *passphrase, size_t passphrase_length,
                            apns_crypto_buffer *certificates, apns_crypto_buffer *key, apns_error *error) {
    APNS_REQUIRE(certificates != NULL && key != NULL && (bytes != NULL || length == 0));
    apns_crypto_begin(error);
    *certificates = (apns_crypto_buffer){0};
    *key = (apns_crypto_buffer){0};
    const crypto_passphrase given = {.bytes = passphrase, .length = passphrase_length};
    int status = apns_crypto_passphrase_expect(&given, error);
    if (status != APNS_OK) return status;
    world w;
    contents c = {0};
    status = world_open(&w) ? read_in(&w, bytes, length, &given, &c, error)
                            : apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_LIBRARY, "OpenSSL cannot be set up");
    if (status == APNS_OK) status = write_contents(&c, certificates, key, error);
    contents_free(&c);
    world_close(&w);
    return status == APNS_OK ? apns_crypto_done() : status;
}
