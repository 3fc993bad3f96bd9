/* RSA encryption for one recipient after another. */
#pragma once

#include "recipient.h"

#include <openssl/bn.h>

typedef struct crypto_rsa_encryption {
    BN_CTX *numbers;
    BN_MONT_CTX *montgomery; /* of the modulus */
    BIGNUM *modulus;
    BIGNUM *exponent;
    BIGNUM *number; /* the message that is being encrypted */
    EVP_MD *digest; /* of OAEP and its mask function */
    EVP_MD_CTX *digesting;
    size_t digest_bytes;
    size_t bytes; /* of the modulus; 0 without a recipient */
    bool pkcs1;   /* PKCS #1 v1.5 instead of OAEP */
    uint8_t no_label[EVP_MAX_MD_SIZE];
} crypto_rsa_encryption;

/* Prepares encryption with an enum apns_crypto_padding. Returns false if OpenSSL fails; apns_crypto_rsa_clear is called
 * in either case. */
bool apns_crypto_rsa_init(crypto_rsa_encryption *rsa, int padding);
void apns_crypto_rsa_clear(crypto_rsa_encryption *rsa);

/* Sets the recipient. Returns false if there is none now, because the modulus is even or there is no memory. key:
 * borrowed until return. */
bool apns_crypto_rsa_address(crypto_rsa_encryption *rsa, const crypto_rsa *key);

/* Encrypts a message of a few dozen bytes for the recipient, which must have been set. Returns false if OpenSSL fails.
 * target: room for rsa->bytes. */
bool apns_crypto_rsa_encrypt(crypto_rsa_encryption *rsa, const uint8_t *message, size_t length, uint8_t *target);
