/* RSA encryption for one recipient after another. */
#pragma once

#include "recipient.h"

typedef struct crypto_rsa_encryption {
    EVP_PKEY_CTX *maker;   /* makes keys of numbers */
    EVP_PKEY_CTX *context; /* of the recipient; NULL without one */
    int padding;           /* enum apns_crypto_padding */
    size_t bytes;          /* of the modulus; 0 without a recipient */
} crypto_rsa_encryption;

/* Prepares encryption with an enum apns_crypto_padding. Returns false if OpenSSL fails; apns_crypto_rsa_clear is called
 * in either case. */
bool apns_crypto_rsa_init(crypto_rsa_encryption *rsa, int padding);
void apns_crypto_rsa_clear(crypto_rsa_encryption *rsa);

/* Sets the recipient. Returns false if there is none now, because OpenSSL refuses the key or has no memory. key:
 * borrowed until return. */
bool apns_crypto_rsa_address(crypto_rsa_encryption *rsa, const crypto_rsa *key);

/* Removes the recipient. */
void apns_crypto_rsa_forget(crypto_rsa_encryption *rsa);

/* Encrypts a message of a few dozen bytes for the recipient, which must have been set. Returns false if OpenSSL fails.
 * target: room for rsa->bytes; must not overlap message. */
bool apns_crypto_rsa_encrypt(crypto_rsa_encryption *rsa, const uint8_t *message, size_t length, uint8_t *target);
