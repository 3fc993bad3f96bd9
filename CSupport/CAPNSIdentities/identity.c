/* Creating certificates: of an authority, of a server and of a client. */
#define _DEFAULT_SOURCE /* inet_pton with strict C17 */
#include "apns_identities.h"
#include "internal.h"

#include "apns_check.h"
#include <arpa/inet.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>

enum { HOSTS_MAX = 64, HOST_NAME_MAX_BYTES = 253, NAME_MAX_BYTES = 200, DAYS_MAX = 36500, SERIAL_BYTES = 16 };

static bool is_host_name(const char *host) {
    size_t length = strlen(host);
    if (length == 0 || length > HOST_NAME_MAX_BYTES) return false;
    for (size_t i = 0; i < length; i++) {
        char c = host[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool digit = c >= '0' && c <= '9';
        if (!letter && !digit && c != '-' && c != '.' && c != '_' && c != '*') return false;
    }
    return true;
}

/* Creates one entry of subjectAltName. The text is passed as data and not in OpenSSL's configuration syntax, in which a
 * comma begins another entry. */
static GENERAL_NAME *general_name(const char *host) {
    uint8_t address[sizeof(struct in6_addr)];
    int address_length = inet_pton(AF_INET, host, address) == 1    ? (int)sizeof(struct in_addr)
                         : inet_pton(AF_INET6, host, address) == 1 ? (int)sizeof(struct in6_addr)
                                                                   : 0;
    bool is_address = address_length > 0;
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_STRING *value = is_address ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
    const void *data = is_address ? (const void *)address : host;
    int length = is_address ? address_length : (int)strlen(host);
    if (name == NULL || value == NULL || ASN1_STRING_set(value, data, length) != 1) {
        ASN1_STRING_free(value);
        GENERAL_NAME_free(name);
        return NULL;
    }
    GENERAL_NAME_set0_value(name, is_address ? GEN_IPADD : GEN_DNS, value);
    return name;
}

static bool add_hosts(X509 *certificate, const char *const *hosts, size_t host_count) {
    GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    bool good = names != NULL;
    for (size_t i = 0; good && i < host_count; i++) {
        GENERAL_NAME *name = general_name(hosts[i]);
        good = name != NULL && sk_GENERAL_NAME_push(names, name) > 0;
        if (!good) GENERAL_NAME_free(name);
    }
    good = good && X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0) == 1;
    GENERAL_NAMES_free(names);
    return good;
}

/* Adds an extension in OpenSSL's configuration syntax. value must be a fixed text. */
static bool add_extension(X509 *certificate, X509 *issuer, int nid, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool good = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return good;
}

static bool set_serial(X509 *certificate) {
    uint8_t bytes[SERIAL_BYTES];
    if (RAND_bytes(bytes, sizeof(bytes)) != 1) return false;
    bytes[0] = (uint8_t)((bytes[0] & 0x7f) | 0x40); /* positive and of full length (RFC 5280, section 4.1.2.2) */
    BIGNUM *number = BN_bin2bn(bytes, sizeof(bytes), NULL);
    bool good = number != NULL && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL;
    BN_free(number);
    return good;
}

static bool set_dates(X509 *certificate, uint32_t days) {
    return X509_time_adj_ex(X509_getm_notBefore(certificate), -1, 0, NULL) != NULL &&
           X509_time_adj_ex(X509_getm_notAfter(certificate), (int)days, 0, NULL) != NULL;
}

static bool add_name(X509 *certificate, int nid, const char *value) {
    return X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate), nid, V_ASN1_UTF8STRING,
                                      (const uint8_t *)value, -1, -1, 0) == 1;
}

/* Returns the certificate if everything succeeded; otherwise frees it and returns NULL. */
static X509 *finished(X509 *certificate, bool good) {
    if (good) return certificate;
    X509_free(certificate);
    return NULL;
}

/* Creates an unsigned certificate with the fields that all certificates have. user_id: NULL for none. */
static X509 *new_certificate(EVP_PKEY *key, const char *user_id, const char *common_name, uint32_t days) {
    X509 *certificate = X509_new();
    bool good = certificate != NULL && X509_set_version(certificate, X509_VERSION_3) == 1 && set_serial(certificate) &&
                set_dates(certificate, days) && X509_set_pubkey(certificate, key) == 1 &&
                (user_id == NULL || add_name(certificate, NID_userId, user_id)) &&
                add_name(certificate, NID_commonName, common_name) &&
                add_extension(certificate, NULL, NID_subject_key_identifier, "hash");
    return finished(certificate, good);
}

static bool sign(X509 *certificate, const X509 *issuer, EVP_PKEY *issuer_key) {
    return X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1 &&
           X509_sign(certificate, issuer_key, EVP_sha256()) > 0;
}

static X509 *make_authority(EVP_PKEY *key, uint32_t days) {
    X509 *authority = new_certificate(key, NULL, "apns-batch test authority", days);
    bool good = authority != NULL &&
                add_extension(authority, authority, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                add_extension(authority, authority, NID_key_usage, "critical,keyCertSign,cRLSign") &&
                sign(authority, authority, key);
    return finished(authority, good);
}

static X509 *make_server(EVP_PKEY *key, X509 *authority, EVP_PKEY *authority_key, const char *const *hosts,
                         size_t host_count, uint32_t days) {
    X509 *server = new_certificate(key, NULL, "apns-batch test server", days);
    bool good = server != NULL && add_extension(server, authority, NID_authority_key_identifier, "keyid:always") &&
                add_extension(server, authority, NID_basic_constraints, "critical,CA:FALSE") &&
                add_extension(server, authority, NID_key_usage, "critical,digitalSignature") &&
                add_extension(server, authority, NID_ext_key_usage, "serverAuth,clientAuth") &&
                add_hosts(server, hosts, host_count) && sign(server, authority, authority_key);
    return finished(server, good);
}

static X509 *make_client(EVP_PKEY *key, const char *user_id, const char *common_name, uint32_t days) {
    X509 *client = new_certificate(key, user_id, common_name, days);
    return finished(client, client != NULL && add_extension(client, client, NID_ext_key_usage, "clientAuth") &&
                                sign(client, client, key));
}

/* certificate: NULL if it could not be created. */
static int write_identity(X509 *authority, X509 *certificate, const EVP_PKEY *key, apns_crypto_identity *out,
                          apns_error *error) {
    if (certificate == NULL)
        return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_LIBRARY, "the certificate cannot be made");
    int status = apns_crypto_certificate_write(authority, &out->authority, error);
    if (status == APNS_OK) status = apns_crypto_certificate_write(certificate, &out->certificate, error);
    if (status == APNS_OK) status = apns_crypto_pkey_write_private(key, NULL, 0, &out->key, error);
    if (status != APNS_OK) apns_crypto_identity_free(out);
    return status;
}

static int expect_hosts(const char *const *hosts, size_t host_count, apns_error *error) {
    if (host_count == 0 || host_count > HOSTS_MAX)
        return apns_crypto_fail(error, APNS_CRYPTO_FAULT_NAME, "%zu host names given, expected 1 to %d", host_count,
                                HOSTS_MAX);
    for (size_t i = 0; i < host_count; i++) {
        uint8_t scratch[sizeof(struct in6_addr)];
        if (is_host_name(hosts[i]) || inet_pton(AF_INET6, hosts[i], scratch) == 1) continue;
        return apns_crypto_fail(error, APNS_CRYPTO_FAULT_NAME, "host %zu is neither a host name nor an IP address",
                                i + 1);
    }
    return APNS_OK;
}

int apns_crypto_identity_make(const char *const *hosts, size_t host_count, uint32_t days, apns_crypto_identity *out,
                              apns_error *error) {
    APNS_REQUIRE(out != NULL && (hosts != NULL || host_count == 0) && days >= 1 && days <= DAYS_MAX);
    apns_crypto_begin(error);
    *out = (apns_crypto_identity){0};
    int status = expect_hosts(hosts, host_count, error);
    if (status != APNS_OK) return status;
    EVP_PKEY *authority_key = EVP_EC_gen("P-256");
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *authority = authority_key == NULL ? NULL : make_authority(authority_key, days);
    X509 *server =
        authority == NULL || key == NULL ? NULL : make_server(key, authority, authority_key, hosts, host_count, days);
    status = write_identity(authority, server, key, out, error);
    X509_free(server);
    X509_free(authority);
    EVP_PKEY_free(key);
    EVP_PKEY_free(authority_key);
    return status == APNS_OK ? apns_crypto_done() : status;
}

static bool is_name(const char *text) {
    size_t length = strlen(text);
    return length > 0 && length <= NAME_MAX_BYTES;
}

int apns_crypto_client_make(const char *user_id, const char *common_name, uint32_t days, apns_crypto_identity *out,
                            apns_error *error) {
    APNS_REQUIRE(out != NULL && user_id != NULL && common_name != NULL && days >= 1 && days <= DAYS_MAX);
    apns_crypto_begin(error);
    *out = (apns_crypto_identity){0};
    if (!is_name(user_id) || !is_name(common_name))
        return apns_crypto_fail(error, APNS_CRYPTO_FAULT_NAME, "a name of 1 to %d bytes was expected", NAME_MAX_BYTES);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *client = key == NULL ? NULL : make_client(key, user_id, common_name, days);
    int status = write_identity(client, client, key, out, error);
    X509_free(client);
    EVP_PKEY_free(key);
    return status == APNS_OK ? apns_crypto_done() : status;
}

void apns_crypto_identity_free(apns_crypto_identity *identity) {
    apns_crypto_buffer_free(&identity->authority);
    apns_crypto_buffer_free(&identity->certificate);
    apns_crypto_buffer_free(&identity->key);
}
