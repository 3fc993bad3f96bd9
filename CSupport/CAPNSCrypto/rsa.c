/* RSA encryption for recipients that change with every message (RFC 8017, sections 7.1.1 and 7.2.1). OpenSSL has the
 * numbers and the digests; it would take half as long again to make a key and a context of its own for each recipient.
 */
#include "rsa.h"

#include <openssl/rand.h>
#include <string.h>

bool apns_crypto_rsa_init(crypto_rsa_encryption *rsa, int padding) {
    const char *digest = padding == APNS_CRYPTO_PADDING_OAEP_SHA1 ? "SHA1" : "SHA256";
    memset(rsa, 0, sizeof(*rsa));
    rsa->pkcs1 = padding == APNS_CRYPTO_PADDING_PKCS1;
    rsa->numbers = BN_CTX_new();
    rsa->montgomery = BN_MONT_CTX_new();
    rsa->modulus = BN_new();
    rsa->exponent = BN_new();
    rsa->number = BN_new();
    rsa->digest = EVP_MD_fetch(NULL, digest, NULL);
    rsa->digesting = EVP_MD_CTX_new();
    uint32_t length = 0;
    if (rsa->numbers == NULL || rsa->montgomery == NULL || rsa->modulus == NULL || rsa->exponent == NULL ||
        rsa->number == NULL || rsa->digest == NULL || rsa->digesting == NULL ||
        EVP_Digest("", 0, rsa->no_label, &length, rsa->digest, NULL) != 1)
        return false;
    rsa->digest_bytes = length;
    return true;
}

void apns_crypto_rsa_clear(crypto_rsa_encryption *rsa) {
    BN_clear_free(rsa->number);
    BN_free(rsa->exponent);
    BN_free(rsa->modulus);
    BN_MONT_CTX_free(rsa->montgomery);
    BN_CTX_free(rsa->numbers);
    EVP_MD_CTX_free(rsa->digesting);
    EVP_MD_free(rsa->digest);
}

bool apns_crypto_rsa_address(crypto_rsa_encryption *rsa, const crypto_rsa *key) {
    rsa->bytes = 0;
    if (BN_bin2bn(key->modulus, (int)key->modulus_length, rsa->modulus) == NULL ||
        BN_bin2bn(key->exponent, (int)key->exponent_length, rsa->exponent) == NULL ||
        BN_MONT_CTX_set(rsa->montgomery, rsa->modulus, rsa->numbers) != 1)
        return false;
    rsa->bytes = key->modulus_length;
    return true;
}

/* Combines bytes with the mask that MGF1 makes of a seed (RFC 8017, appendix B.2.1). */
static bool mask(crypto_rsa_encryption *rsa, uint8_t *bytes, size_t length, const uint8_t *seed, size_t seed_length) {
    uint8_t block[EVP_MAX_MD_SIZE];
    bool good = true;
    for (uint32_t counter = 0; good && length > 0; counter++) {
        const uint8_t number[] = {(uint8_t)(counter >> 24), (uint8_t)(counter >> 16), (uint8_t)(counter >> 8),
                                  (uint8_t)counter};
        good = EVP_DigestInit_ex2(rsa->digesting, rsa->digest, NULL) == 1 &&
               EVP_DigestUpdate(rsa->digesting, seed, seed_length) == 1 &&
               EVP_DigestUpdate(rsa->digesting, number, sizeof(number)) == 1 &&
               EVP_DigestFinal_ex(rsa->digesting, block, NULL) == 1;
        size_t now = length < rsa->digest_bytes ? length : rsa->digest_bytes;
        for (size_t i = 0; i < now; i++)
            bytes[i] ^= block[i];
        bytes += now;
        length -= now;
    }
    OPENSSL_cleanse(block, sizeof(block));
    return good;
}

/* Writes zero, a seed, and a data block: the digest of no label, zeros, a one, and the message; seed and data block are
 * masked with each other. */
static bool oaep_write(crypto_rsa_encryption *rsa, uint8_t *target, const uint8_t *message, size_t length) {
    uint8_t *seed = target + 1, *data = seed + rsa->digest_bytes;
    size_t data_length = rsa->bytes - 1 - rsa->digest_bytes;
    if (data_length < rsa->digest_bytes + 1 + length) return false;
    target[0] = 0;
    memset(data, 0, data_length);
    memcpy(data, rsa->no_label, rsa->digest_bytes);
    data[data_length - length - 1] = 1;
    memcpy(data + data_length - length, message, length);
    return RAND_priv_bytes(seed, (int)rsa->digest_bytes) == 1 &&
           mask(rsa, data, data_length, seed, rsa->digest_bytes) &&
           mask(rsa, seed, rsa->digest_bytes, data, data_length);
}

/* Replaces the zeros among random bytes. */
static bool without_zeros(uint8_t *bytes, size_t length) {
    bool good = true;
    for (size_t i = 0; good && i < length; i++)
        while (good && bytes[i] == 0)
            good = RAND_priv_bytes(bytes + i, 1) == 1;
    return good;
}

/* Writes zero, two, random bytes that are not zero, zero, and the message. */
static bool pkcs1_write(const crypto_rsa_encryption *rsa, uint8_t *target, const uint8_t *message, size_t length) {
    if (rsa->bytes < length + 11) return false;
    size_t random_length = rsa->bytes - length - 3;
    target[0] = 0;
    target[1] = 2;
    target[2 + random_length] = 0;
    memcpy(target + rsa->bytes - length, message, length);
    return RAND_priv_bytes(target + 2, (int)random_length) == 1 && without_zeros(target + 2, random_length);
}

bool apns_crypto_rsa_encrypt(crypto_rsa_encryption *rsa, const uint8_t *message, size_t length, uint8_t *target) {
    bool good = rsa->pkcs1 ? pkcs1_write(rsa, target, message, length) : oaep_write(rsa, target, message, length);
    good = good && BN_bin2bn(target, (int)rsa->bytes, rsa->number) != NULL &&
           BN_mod_exp_mont(rsa->number, rsa->number, rsa->exponent, rsa->modulus, rsa->numbers, rsa->montgomery) == 1 &&
           BN_bn2binpad(rsa->number, target, (int)rsa->bytes) == (int)rsa->bytes;
    if (!good) OPENSSL_cleanse(target, rsa->bytes);
    return good;
}
