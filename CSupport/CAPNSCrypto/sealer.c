/* Sealing: each message is encrypted with a fresh AES key, which is encrypted for the recipient. */
#include "rsa.h"

#include "apns_base64.h"
#include "apns_check.h"
#include <limits.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

enum {
    AES_KEY_BYTES = 32,
    AES_BLOCK_BYTES = 16,
    GCM_NONCE_BYTES = 12,
    GCM_TAG_BYTES = 16,
    SECRET_BYTES_MAX = AES_KEY_BYTES + AES_BLOCK_BYTES,
    /* Maximum size of the last key's text that is kept for comparison; the PEM of every allowed key fits. */
    KEPT_MAX = 2048,
};

struct apns_crypto_sealer {
    bool gcm;
    EVP_CIPHER *cipher;
    EVP_CIPHER_CTX *cipher_context;
    crypto_rsa_encryption rsa;
    size_t kept_length; /* 0 for none */
    uint8_t kept[KEPT_MAX];
};

int apns_crypto_sealer_make(int cipher, int padding, apns_crypto_sealer **out, apns_error *error) {
    APNS_REQUIRE(out != NULL && (cipher == APNS_CRYPTO_CIPHER_AES256_GCM || cipher == APNS_CRYPTO_CIPHER_AES256_CBC));
    APNS_REQUIRE(padding >= APNS_CRYPTO_PADDING_OAEP_SHA256 && padding <= APNS_CRYPTO_PADDING_PKCS1);
    apns_crypto_begin(error);
    *out = NULL;
    apns_crypto_sealer *sealer = calloc(1, sizeof(*sealer));
    if (sealer == NULL) return apns_crypto_fail_memory(error);
    sealer->gcm = cipher == APNS_CRYPTO_CIPHER_AES256_GCM;
    sealer->cipher = EVP_CIPHER_fetch(NULL, sealer->gcm ? "AES-256-GCM" : "AES-256-CBC", NULL);
    sealer->cipher_context = EVP_CIPHER_CTX_new();
    bool rsa = apns_crypto_rsa_init(&sealer->rsa, padding);
    if (sealer->cipher == NULL || sealer->cipher_context == NULL || !rsa) {
        apns_crypto_sealer_free(sealer);
        return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_LIBRARY, "encryption cannot be set up");
    }
    *out = sealer;
    return apns_crypto_done();
}

void apns_crypto_sealer_free(apns_crypto_sealer *sealer) {
    if (sealer == NULL) return;
    apns_crypto_rsa_clear(&sealer->rsa);
    EVP_CIPHER_CTX_free(sealer->cipher_context);
    EVP_CIPHER_free(sealer->cipher);
    OPENSSL_cleanse(sealer, sizeof(*sealer));
    free(sealer);
}

int apns_crypto_sealer_address(apns_crypto_sealer *sealer, const uint8_t *key, size_t length, apns_error *error) {
    APNS_REQUIRE(sealer != NULL && (key != NULL || length == 0));
    if (length > 0 && length == sealer->kept_length && memcmp(key, sealer->kept, length) == 0) return APNS_OK;
    apns_crypto_begin(error);
    apns_crypto_rsa_forget(&sealer->rsa);
    sealer->kept_length = 0;
    crypto_rsa rsa;
    int status = apns_crypto_rsa_read(key, length, &rsa, error);
    if (status != APNS_OK) return status;
    if (!apns_crypto_rsa_address(&sealer->rsa, &rsa))
        return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_MALFORMED, "the RSA public key cannot be used");
    if (length <= KEPT_MAX) {
        memcpy(sealer->kept, key, length);
        sealer->kept_length = length;
    }
    return apns_crypto_done();
}

/* Returns the length of the encrypted message. CBC pads to whole blocks, with at least one byte. */
static size_t cipher_length(const apns_crypto_sealer *sealer, size_t length) {
    return sealer->gcm ? length + GCM_TAG_BYTES : length / AES_BLOCK_BYTES * AES_BLOCK_BYTES + AES_BLOCK_BYTES;
}

size_t apns_crypto_sealer_content_length(const apns_crypto_sealer *sealer, size_t message_length) {
    return apns_base64_length(cipher_length(sealer, message_length));
}

size_t apns_crypto_sealer_secret_length(const apns_crypto_sealer *sealer) {
    return apns_base64_length(sealer->rsa.bytes);
}

/* Encrypts into target, and then overwrites the key in the context with zeros. */
static bool encrypt_message(apns_crypto_sealer *sealer, const uint8_t *message, size_t length, const uint8_t *secret,
                            uint8_t *target) {
    static const uint8_t nothing[SECRET_BYTES_MAX];
    EVP_CIPHER_CTX *context = sealer->cipher_context;
    int first = 0;
    int last = 0;
    bool good = EVP_EncryptInit_ex2(context, sealer->cipher, secret, secret + AES_KEY_BYTES, NULL) == 1 &&
                EVP_EncryptUpdate(context, target, &first, message, (int)length) == 1 &&
                EVP_EncryptFinal_ex(context, target + first, &last) == 1;
    if (good && sealer->gcm) {
        good = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, GCM_TAG_BYTES, target + length) == 1;
    } else if (good) {
        good = (size_t)(first + last) == cipher_length(sealer, length);
    }
    return EVP_EncryptInit_ex2(context, sealer->cipher, nothing, nothing + AES_KEY_BYTES, NULL) == 1 && good;
}

/* Returns the position at the end of the text's memory from where bytes can be encoded in place: writing never
 * overtakes reading. */
static uint8_t *bytes_within(uint8_t *text, size_t byte_count) {
    return text + apns_base64_length(byte_count) - byte_count;
}

int apns_crypto_sealer_seal(apns_crypto_sealer *sealer, const uint8_t *message, size_t message_length, uint8_t *content,
                            uint8_t *secret, apns_error *error) {
    APNS_REQUIRE(sealer != NULL && content != NULL && secret != NULL && (message != NULL || message_length == 0));
    APNS_REQUIRE(sealer->rsa.bytes > 0 && message_length <= INT_MAX - AES_BLOCK_BYTES);
    apns_crypto_begin(error);
    const size_t secret_length = AES_KEY_BYTES + (sealer->gcm ? GCM_NONCE_BYTES : AES_BLOCK_BYTES);
    const size_t encrypted_length = cipher_length(sealer, message_length);
    uint8_t *encrypted = bytes_within(content, encrypted_length);
    uint8_t *wrapped = bytes_within(secret, sealer->rsa.bytes);
    uint8_t key_and_iv[SECRET_BYTES_MAX];
    bool good = RAND_priv_bytes(key_and_iv, (int)secret_length) == 1 &&
                encrypt_message(sealer, message, message_length, key_and_iv, encrypted) &&
                apns_crypto_rsa_encrypt(&sealer->rsa, key_and_iv, secret_length, wrapped);
    OPENSSL_cleanse(key_and_iv, sizeof(key_and_iv));
    if (!good) {
        return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_LIBRARY, "the payload cannot be encrypted");
    }
    apns_base64_encode(encrypted, encrypted_length, content);
    apns_base64_encode(wrapped, sealer->rsa.bytes, secret);
    return apns_crypto_done();
}
