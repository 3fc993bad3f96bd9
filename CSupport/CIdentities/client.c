/* A client certificate that signs itself, made for the occasion. */
#include "crypto_client.h"
#include "internal.h"

#include <assert.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <string.h>

enum { NAME_MAX_BYTES = 200, DAYS_MAX = 36500 };

static bool add_name(X509 *certificate, int nid, const char *value) {
    X509_NAME *subject = X509_get_subject_name(certificate);
    ASN1_STRING *text = ASN1_UTF8STRING_new();
    X509_NAME_ENTRY *entry = NULL;
    bool good = text != NULL && ASN1_STRING_set(text, value, (int)strlen(value)) == 1 &&
                (entry = X509_NAME_ENTRY_create_by_NID(NULL, nid, V_ASN1_UTF8STRING, ASN1_STRING_get0_data(text),
                                                       ASN1_STRING_length(text))) != NULL &&
                X509_NAME_add_entry(subject, entry, -1, 0) == 1;
    X509_NAME_ENTRY_free(entry);
    ASN1_STRING_free(text);
    return good;
}

static bool add_usage(X509 *certificate) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, NID_ext_key_usage, "clientAuth");
    bool good = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return good;
}

static bool set_serial(X509 *certificate) {
    uint64_t number = 0;
    return RAND_bytes((uint8_t *)&number, sizeof(number)) == 1 &&
           ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), number >> 1 | 1) == 1;
}

static X509 *make_client(EVP_PKEY *key, const char *user_id, const char *common_name, uint32_t days) {
    X509 *client = X509_new();
    bool good =
        client != NULL && X509_set_version(client, X509_VERSION_3) == 1 && set_serial(client) &&
        X509_time_adj_ex(X509_getm_notBefore(client), -1, 0, NULL) != NULL &&
        X509_time_adj_ex(X509_getm_notAfter(client), (int)days, 0, NULL) != NULL && X509_set_pubkey(client, key) == 1 &&
        add_name(client, NID_userId, user_id) && add_name(client, NID_commonName, common_name) && add_usage(client) &&
        X509_set_issuer_name(client, X509_get_subject_name(client)) == 1 && X509_sign(client, key, EVP_sha256()) > 0;
    if (good) return client;
    X509_free(client);
    return NULL;
}

static int write_client(X509 *client, const EVP_PKEY *key, crypto_identity *out, crypto_error *error) {
    int status = crypto_certificate_write(client, &out->authority, error);
    if (status == CRYPTO_OK) status = crypto_certificate_write(client, &out->certificate, error);
    if (status == CRYPTO_OK) status = crypto_pkey_write_private(key, NULL, 0, &out->key, error);
    if (status != CRYPTO_OK) crypto_identity_free(out);
    return status;
}

static bool is_name(const char *text) {
    size_t length = strlen(text);
    return length > 0 && length <= NAME_MAX_BYTES;
}

int crypto_client_make(const char *user_id, const char *common_name, uint32_t days, crypto_identity *out,
                       crypto_error *error) {
    assert(out != NULL && user_id != NULL && common_name != NULL && days >= 1 && days <= DAYS_MAX);
    crypto_begin(error);
    *out = (crypto_identity){0};
    if (!is_name(user_id) || !is_name(common_name))
        return crypto_fail(error, CRYPTO_INPUT, CRYPTO_FAULT_NAME, "a name of 1 to %d bytes was expected",
                           NAME_MAX_BYTES);
    EVP_PKEY *key = crypto_pkey_generate();
    X509 *client = key == NULL ? NULL : make_client(key, user_id, common_name, days);
    int status = client == NULL ? crypto_fail_library(error, CRYPTO_RESOURCE, CRYPTO_FAULT_LIBRARY,
                                                      "the certificate cannot be made")
                                : write_client(client, key, out, error);
    X509_free(client);
    EVP_PKEY_free(key);
    return status == CRYPTO_OK ? crypto_done() : status;
}
