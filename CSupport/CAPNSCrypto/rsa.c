/* RSA encryption for recipients that change with every message (RFC 8017, sections 7.1.1 and 7.2.1), by OpenSSL's EVP:
 * docs/decisions/0003-own-key-reader.md. */
#include "rsa.h"

#include "apns_check.h"
#include <openssl/core_names.h>
#include <string.h>

bool apns_crypto_rsa_init(crypto_rsa_encryption *rsa, int padding) {
    *rsa = (crypto_rsa_encryption){.padding = padding};
    rsa->maker = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    return rsa->maker != NULL && EVP_PKEY_fromdata_init(rsa->maker) == 1;
}

void apns_crypto_rsa_clear(crypto_rsa_encryption *rsa) {
    apns_crypto_rsa_forget(rsa);
    EVP_PKEY_CTX_free(rsa->maker);
    rsa->maker = NULL;
}

void apns_crypto_rsa_forget(crypto_rsa_encryption *rsa) {
    EVP_PKEY_CTX_free(rsa->context);
    rsa->context = NULL;
    rsa->bytes = 0;
}

/* OpenSSL's parameters have numbers in the order of bytes of the machine. */
static void to_native(const uint8_t *number, size_t length, uint8_t *target) {
    for (size_t i = 0; i < length; i++)
        target[i] = number[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? length - 1 - i : i];
}

static EVP_PKEY *key_of(const crypto_rsa_encryption *rsa, const crypto_rsa *numbers) {
    uint8_t modulus[sizeof(numbers->modulus)], exponent[sizeof(numbers->exponent)];
    to_native(numbers->modulus, numbers->modulus_length, modulus);
    to_native(numbers->exponent, numbers->exponent_length, exponent);
    OSSL_PARAM parts[] = {OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_RSA_N, modulus, numbers->modulus_length),
                          OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_RSA_E, exponent, numbers->exponent_length),
                          OSSL_PARAM_construct_end()};
    EVP_PKEY *key = NULL;
    return EVP_PKEY_fromdata(rsa->maker, &key, EVP_PKEY_PUBLIC_KEY, parts) == 1 ? key : NULL;
}

static bool padding_set(EVP_PKEY_CTX *context, int padding) {
    char pkcs1[] = OSSL_PKEY_RSA_PAD_MODE_PKCSV15, oaep[] = OSSL_PKEY_RSA_PAD_MODE_OAEP;
    char sha1[] = "SHA1", sha256[] = "SHA256";
    char *digest = padding == APNS_CRYPTO_PADDING_OAEP_SHA1 ? sha1 : sha256;
    bool is_oaep = padding != APNS_CRYPTO_PADDING_PKCS1;
    OSSL_PARAM parts[] = {OSSL_PARAM_construct_utf8_string(OSSL_ASYM_CIPHER_PARAM_PAD_MODE, is_oaep ? oaep : pkcs1, 0),
                          is_oaep ? OSSL_PARAM_construct_utf8_string(OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST, digest, 0)
                                  : OSSL_PARAM_construct_end(),
                          OSSL_PARAM_construct_utf8_string(OSSL_ASYM_CIPHER_PARAM_MGF1_DIGEST, digest, 0),
                          OSSL_PARAM_construct_end()};
    return EVP_PKEY_encrypt_init_ex(context, parts) == 1;
}

bool apns_crypto_rsa_address(crypto_rsa_encryption *rsa, const crypto_rsa *key) {
    apns_crypto_rsa_forget(rsa);
    EVP_PKEY *made = key_of(rsa, key);
    if (made == NULL) return false;
    rsa->context = EVP_PKEY_CTX_new_from_pkey(NULL, made, NULL);
    EVP_PKEY_free(made);
    if (rsa->context == NULL || !padding_set(rsa->context, rsa->padding)) {
        apns_crypto_rsa_forget(rsa);
        return false;
    }
    rsa->bytes = key->modulus_length;
    return true;
}

bool apns_crypto_rsa_encrypt(crypto_rsa_encryption *rsa, const uint8_t *message, size_t length, uint8_t *target) {
    APNS_REQUIRE(rsa->context != NULL);
    size_t written = rsa->bytes;
    return EVP_PKEY_encrypt(rsa->context, target, &written, message, length) == 1 && written == rsa->bytes;
}
