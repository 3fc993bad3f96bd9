/* A digest for each row. The functions are those of OpenSSL below its providers, which are deprecated for what protects
 * something: here they need no allocation, and a third of the time. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "internal.h"

#include "apns_check.h"
#include <openssl/sha.h>

void apns_crypto_sha256_plain(const uint8_t *bytes, size_t length, uint8_t *digest) {
    APNS_REQUIRE(digest != NULL && (bytes != NULL || length == 0));
    SHA256_CTX context;
    (void)SHA256_Init(&context);
    if (length > 0) (void)SHA256_Update(&context, bytes, length);
    (void)SHA256_Final(digest, &context);
}
