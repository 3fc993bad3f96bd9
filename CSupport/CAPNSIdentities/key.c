/* Generating keys and verifying signatures. */
#include "apns_identities.h"
#include "internal.h"

#include "apns_check.h"
#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/pem.h>

enum { COORDINATE_BYTES = APNS_CRYPTO_ES256_BYTES / 2 };

int apns_crypto_key_generate(apns_crypto_key **out, apns_error *error) {
    APNS_REQUIRE(out != NULL);
    apns_crypto_begin(error);
    *out = NULL;
    EVP_PKEY *pkey = EVP_EC_gen("P-256");
    if (pkey == NULL) return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_LIBRARY, "no key could be made");
    return apns_crypto_key_take(pkey, true, out, error);
}

int apns_crypto_key_read_public(const uint8_t *pem, size_t pem_length, apns_crypto_key **out, apns_error *error) {
    APNS_REQUIRE(out != NULL && (pem != NULL || pem_length == 0));
    apns_crypto_begin(error);
    *out = NULL;
    BIO *bio;
    int status = apns_crypto_pem_open(pem, pem_length, "PUBLIC KEY", &bio, error);
    if (status != APNS_OK) return status;
    EVP_PKEY *pkey = PEM_read_bio_PUBKEY(bio, NULL, apns_crypto_no_passphrase, NULL);
    BIO_free(bio);
    if (pkey == NULL)
        return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_MALFORMED, "the public key cannot be read");
    return apns_crypto_key_take(pkey, false, out, error);
}

/* Converts r and s of fixed width to DER. *der: owned by caller, free with OPENSSL_free. Returns the length of the DER,
 * or 0 on failure. */
static int raw_to_der(const uint8_t *raw, uint8_t **der) {
    ECDSA_SIG *made = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(raw, COORDINATE_BYTES, NULL);
    BIGNUM *s = BN_bin2bn(raw + COORDINATE_BYTES, COORDINATE_BYTES, NULL);
    int length = 0;
    if (made != NULL && r != NULL && s != NULL && ECDSA_SIG_set0(made, r, s) == 1) {
        r = NULL; /* owned by made now */
        s = NULL;
        length = i2d_ECDSA_SIG(made, der);
    }
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(made);
    return length > 0 ? length : 0;
}

int apns_crypto_es256_verify(const apns_crypto_key *key, const uint8_t *message, size_t message_length,
                             const uint8_t *signature, size_t signature_length, apns_error *error) {
    APNS_REQUIRE(key != NULL && (message != NULL || message_length == 0) &&
                 (signature != NULL || signature_length == 0));
    apns_crypto_begin(error);
    if (signature_length != APNS_CRYPTO_ES256_BYTES) return 0;
    uint8_t *der = NULL;
    int der_length = raw_to_der(signature, &der);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ready =
        der_length > 0 && context != NULL && EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key->pkey) == 1;
    /* 1 if valid, 0 if not (also for numbers out of range), negative if the library failed */
    int verified = ready ? EVP_DigestVerify(context, der, (size_t)der_length, message, message_length) : -1;
    EVP_MD_CTX_free(context);
    OPENSSL_free(der);
    if (verified < 0) return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_LIBRARY, "verifying failed");
    (void)apns_crypto_done();
    return verified == 1 ? 1 : 0;
}
