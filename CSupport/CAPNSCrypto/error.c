/* Error records and buffers. */
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

int apns_crypto_fail(apns_error *error, int fault, const char *format, ...) {
    ERR_clear_error();
    if (error == NULL) return APNS_INPUT;
    va_list arguments;
    va_start(arguments, format);
    *error = (apns_error){.status = APNS_INPUT, .scope = fault};
    (void)vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return APNS_INPUT;
}

int apns_crypto_fail_memory(apns_error *error) {
    ERR_clear_error();
    return apns_error_set(error, APNS_RESOURCE, APNS_CRYPTO_FAULT_NONE, 0, "out of memory");
}

/* Whether OpenSSL's error queue reports a failed allocation; empties the queue. */
static bool memory_was_short(void) {
    bool was_short = false;
    for (unsigned long code; (code = ERR_get_error()) != 0;)
        was_short = was_short || ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE;
    return was_short;
}

int apns_crypto_fail_library(apns_error *error, int fault, const char *what) {
    unsigned long code = ERR_peek_last_error();
    /* A failed allocation is not a fault of the input. */
    if (memory_was_short()) fault = APNS_CRYPTO_FAULT_LIBRARY;
    int status = fault == APNS_CRYPTO_FAULT_LIBRARY ? APNS_RESOURCE : APNS_INPUT;
    /* The reason is a fixed text of OpenSSL. The "data" of an error is omitted because it may quote the input. */
    const char *reason = code == 0 ? NULL : ERR_reason_error_string(code);
    ERR_clear_error(); /* also frees the data of errors that were taken */
    char text[sizeof(error->text)];
    (void)snprintf(text, sizeof(text), reason == NULL ? "%s" : "%s (%s)", what, reason);
    return apns_error_set(error, status, fault, (int64_t)code, text);
}

BIO *apns_crypto_bio_over(const uint8_t *bytes, size_t length) {
    if (length > INT_MAX) return NULL;
    return BIO_new_mem_buf(length == 0 ? (const void *)"" : bytes, (int)length);
}

static int buffer_fill(apns_crypto_buffer *out, BIO *bio, apns_error *error) {
    char *data = NULL;
    long length = BIO_get_mem_data(bio, &data);
    if (length <= 0) return apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_LIBRARY, "nothing was written");
    uint8_t *bytes = malloc((size_t)length);
    if (bytes == NULL) return apns_crypto_fail_memory(error);
    memcpy(bytes, data, (size_t)length);
    *out = (apns_crypto_buffer){.bytes = bytes, .length = (size_t)length};
    return apns_crypto_done();
}

int apns_crypto_bio_finish(BIO *bio, bool written, const char *failure, apns_crypto_buffer *out, apns_error *error) {
    int status =
        written ? buffer_fill(out, bio, error) : apns_crypto_fail_library(error, APNS_CRYPTO_FAULT_LIBRARY, failure);
    BIO_free(bio);
    return status;
}

void apns_crypto_buffer_free(apns_crypto_buffer *buffer) {
    if (buffer->bytes != NULL) {
        OPENSSL_cleanse(buffer->bytes, buffer->length);
        free(buffer->bytes);
    }
    *buffer = (apns_crypto_buffer){0};
}
