/* Keys on P-256. */
#include "internal.h"

#include "apns_check.h"
#include <openssl/obj_mac.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>

/* Allocates the handle. Takes ownership of pkey, also on failure. */
static int wrap(EVP_PKEY *pkey, bool is_private, apns_crypto_key **out, apns_error *error) {
    apns_crypto_key *key = malloc(sizeof(*key));
    if (key == NULL) {
        EVP_PKEY_free(pkey);
        return apns_crypto_fail_memory(error);
    }
    *key = (apns_crypto_key){.pkey = pkey, .is_private = is_private};
    *out = key;
    return apns_crypto_done();
}

/* Fails unless the key is on P-256; the error names what it is. */
static int expect_p256(const EVP_PKEY *pkey, apns_error *error) {
    const char *kind = EVP_PKEY_get0_type_name(pkey);
    if (EVP_PKEY_get_base_id(pkey) != EVP_PKEY_EC)
        return apns_crypto_fail(error, APNS_CRYPTO_FAULT_WRONG_KIND, "the key is %s, expected P-256",
                                kind == NULL ? "of an unknown kind" : kind);
    char group[64] = "";
    size_t length = 0;
    if (EVP_PKEY_get_group_name(pkey, group, sizeof(group), &length) != 1) group[0] = '\0';
    if (OBJ_sn2nid(group) == NID_X9_62_prime256v1 || strcmp(group, "P-256") == 0) return APNS_OK;
    return apns_crypto_fail(error, APNS_CRYPTO_FAULT_WRONG_KIND, "the key is on the curve %s, expected P-256",
                            group[0] == '\0' ? "(unnamed)" : group);
}

/* Fails if the numbers of the key are inconsistent, such as a point that is not on the curve. */
static int expect_consistent(EVP_PKEY *pkey, bool is_private, apns_error *error) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, pkey, NULL);
    if (context == NULL) return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_LIBRARY, "cannot check a key");
    int good = is_private ? EVP_PKEY_check(context) : EVP_PKEY_public_check(context);
    EVP_PKEY_CTX_free(context);
    if (good == 1) return APNS_OK;
    return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_MALFORMED, "the key is not a valid P-256 key");
}

int apns_crypto_key_take(EVP_PKEY *pkey, bool is_private, apns_crypto_key **out, apns_error *error) {
    int status = expect_p256(pkey, error);
    if (status == APNS_OK) status = expect_consistent(pkey, is_private, error);
    if (status != APNS_OK) {
        EVP_PKEY_free(pkey);
        return status;
    }
    return wrap(pkey, is_private, out, error);
}

int apns_crypto_key_read_private(const uint8_t *pem, size_t pem_length, const uint8_t *passphrase,
                                 size_t passphrase_length, apns_crypto_key **out, apns_error *error) {
    APNS_REQUIRE(out != NULL && (pem != NULL || pem_length == 0));
    apns_crypto_begin(error);
    *out = NULL;
    crypto_passphrase given = {.bytes = passphrase, .length = passphrase_length};
    EVP_PKEY *pkey = NULL;
    int status = apns_crypto_pkey_read_private(pem, pem_length, &given, &pkey, error);
    return status == APNS_OK ? apns_crypto_key_take(pkey, true, out, error) : status;
}

int apns_crypto_key_write_private(const apns_crypto_key *key, const uint8_t *passphrase, size_t passphrase_length,
                                  apns_crypto_buffer *out, apns_error *error) {
    APNS_REQUIRE(key != NULL && out != NULL);
    apns_crypto_begin(error);
    *out = (apns_crypto_buffer){0};
    if (!key->is_private)
        return apns_error_set(error, APNS_MISUSE, APNS_CRYPTO_FAULT_NONE, 0, "a public key has no private part");
    return apns_crypto_pkey_write_private(key->pkey, passphrase, passphrase_length, out, error);
}

int apns_crypto_key_write_public(const apns_crypto_key *key, apns_crypto_buffer *out, apns_error *error) {
    APNS_REQUIRE(key != NULL && out != NULL);
    apns_crypto_begin(error);
    *out = (apns_crypto_buffer){0};
    BIO *bio = BIO_new(BIO_s_mem());
    bool good = bio != NULL && PEM_write_bio_PUBKEY(bio, key->pkey) == 1;
    return apns_crypto_bio_finish(bio, good, "the public key cannot be written", out, error);
}

void apns_crypto_key_free(apns_crypto_key *key) {
    if (key == NULL) return;
    EVP_PKEY_free(key->pkey); /* OpenSSL wipes private numbers before it frees them */
    free(key);
}
