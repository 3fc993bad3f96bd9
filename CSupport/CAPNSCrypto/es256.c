/* ES256, SHA-256, HMAC-SHA256 and random bytes. Each call has an OpenSSL context of its own, so that several threads
 * can use the same key. */
#include "internal.h"

#include "apns_check.h"
#include <limits.h>
#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/rand.h>
#include <string.h>

enum { COORDINATE_BYTES = APNS_CRYPTO_ES256_BYTES / 2, DER_MAX = 80 };

/* Converts a DER signature of OpenSSL to r and s of fixed width (RFC 7518, section 3.4). */
static bool der_to_raw(const uint8_t *der, size_t der_length, uint8_t *raw) {
    ECDSA_SIG *parsed = d2i_ECDSA_SIG(NULL, &der, (long)der_length);
    if (parsed == NULL) return false;
    bool good = BN_bn2binpad(ECDSA_SIG_get0_r(parsed), raw, COORDINATE_BYTES) == COORDINATE_BYTES &&
                BN_bn2binpad(ECDSA_SIG_get0_s(parsed), raw + COORDINATE_BYTES, COORDINATE_BYTES) == COORDINATE_BYTES;
    ECDSA_SIG_free(parsed);
    return good;
}

int apns_crypto_es256_sign(const apns_crypto_key *key, const uint8_t *message, size_t message_length,
                           uint8_t *signature, apns_error *error) {
    APNS_REQUIRE(key != NULL && signature != NULL && (message != NULL || message_length == 0));
    apns_crypto_begin(error);
    if (!key->is_private)
        return apns_error_set(error, APNS_MISUSE, APNS_CRYPTO_FAULT_NONE, 0, "a public key cannot sign");
    uint8_t der[DER_MAX];
    size_t der_length = sizeof(der);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context != NULL && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key->pkey) == 1 &&
                EVP_DigestSign(context, der, &der_length, message, message_length) == 1 &&
                der_to_raw(der, der_length, signature);
    EVP_MD_CTX_free(context);
    if (!good) return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_LIBRARY, "signing failed");
    return apns_crypto_done();
}

int apns_crypto_sha256(const uint8_t *bytes, size_t length, uint8_t *digest, apns_error *error) {
    APNS_REQUIRE(digest != NULL && (bytes != NULL || length == 0));
    apns_crypto_begin(error);
    if (EVP_Digest(bytes, length, digest, NULL, EVP_sha256(), NULL) == 1) return apns_crypto_done();
    return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_LIBRARY, "SHA-256 failed");
}

int apns_crypto_hmac_sha256(const uint8_t *key, size_t key_length, const uint8_t *message, size_t message_length,
                            uint8_t *code, apns_error *error) {
    APNS_REQUIRE(key != NULL && code != NULL && (message != NULL || message_length == 0));
    apns_crypto_begin(error);
    size_t length = 0;
    if (EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, key, key_length, message, message_length, code,
                  APNS_CRYPTO_SHA256_BYTES, &length) != NULL &&
        length == APNS_CRYPTO_SHA256_BYTES)
        return apns_crypto_done();
    return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_LIBRARY, "HMAC-SHA256 failed");
}

int apns_crypto_random(uint8_t *bytes, size_t length, apns_error *error) {
    APNS_REQUIRE(bytes != NULL || length == 0);
    apns_crypto_begin(error);
    while (length > 0) {
        int part = length > INT_MAX ? INT_MAX : (int)length;
        if (RAND_bytes(bytes, part) != 1)
            return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_LIBRARY, "no random bytes");
        bytes += part;
        length -= (size_t)part;
    }
    return apns_crypto_done();
}
