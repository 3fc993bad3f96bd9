/* The two numbers of an RSA public key, as read from its text. */
#pragma once

#include "internal.h"

typedef struct crypto_rsa {
    uint32_t bits;
    size_t modulus_length;
    size_t exponent_length;
    uint8_t modulus[APNS_CRYPTO_RSA_BYTES_MAX]; /* big endian, without leading zeros */
    uint8_t exponent[8];
} crypto_rsa;

/* Reads a key from PEM, base64 of DER, or DER. Allocates nothing. key: borrowed until return. */
int apns_crypto_rsa_read(const uint8_t *key, size_t length, crypto_rsa *out, apns_error *error);
