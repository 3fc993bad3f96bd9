/* The error record and buffers. */
#include "internal.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void apns_crypto_begin(apns_error *error) {
    ERR_clear_error();
    if (error != NULL) memset(error, 0, sizeof(*error));
}

int apns_crypto_done(void) {
    ERR_clear_error();
    return APNS_OK;
}

int apns_crypto_fail(apns_error *error, int status, int fault, const char *format, ...) {
    ERR_clear_error();
    if (error == NULL) return status;
    error->status = status;
    error->scope = fault;
    error->code = 0;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return status;
}

bool apns_crypto_memory_was_short(void) {
    bool was_short = false;
    for (unsigned long code; (code = ERR_get_error()) != 0;)
        was_short = was_short || ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE;
    return was_short;
}

int apns_crypto_fail_library(apns_error *error, int status, int fault, const char *what) {
    unsigned long code = ERR_peek_last_error();
    /* Input is not to blame for a lack of memory while it was read. */
    if (apns_crypto_memory_was_short()) {
        status = APNS_RESOURCE;
        fault = APNS_CRYPTO_FAULT_LIBRARY;
    }
    /* The reason is a fixed text of the library. The "data" of an error is left out: it may quote the input. */
    const char *reason = code == 0 ? NULL : ERR_reason_error_string(code);
    if (reason == NULL)
        (void)apns_crypto_fail(error, status, fault, "%s", what);
    else
        (void)apns_crypto_fail(error, status, fault, "%s (%s)", what, reason);
    if (error != NULL) error->code = (int64_t)code;
    return status;
}

BIO *apns_crypto_bio_over(const uint8_t *bytes, size_t length) {
    if (length > INT_MAX) return NULL;
    return BIO_new_mem_buf(length == 0 ? (const void *)"" : bytes, (int)length);
}

BIO *apns_crypto_bio_secret(void) {
    return BIO_new(BIO_s_secmem());
}

int apns_crypto_buffer_from_bio(BIO *bio, apns_crypto_buffer *out, apns_error *error) {
    char *data = NULL;
    long length = BIO_get_mem_data(bio, &data);
    if (length <= 0)
        return apns_crypto_fail_library(error, APNS_RESOURCE, APNS_CRYPTO_FAULT_LIBRARY, "nothing was written");
    uint8_t *bytes = malloc((size_t)length);
    if (bytes == NULL) return apns_crypto_fail(error, APNS_RESOURCE, APNS_CRYPTO_FAULT_NONE, "out of memory");
    memcpy(bytes, data, (size_t)length);
    out->bytes = bytes;
    out->length = (size_t)length;
    return apns_crypto_done();
}

void apns_crypto_buffer_free(apns_crypto_buffer *buffer) {
    if (buffer->bytes != NULL) {
        OPENSSL_cleanse(buffer->bytes, buffer->length);
        free(buffer->bytes);
    }
    buffer->bytes = NULL;
    buffer->length = 0;
}

void apns_crypto_wipe(void *bytes, size_t length) {
    OPENSSL_cleanse(bytes, length);
}
