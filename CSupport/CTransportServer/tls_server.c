#include "tls_internal.h"
#include <openssl/x509.h>
#include <stdio.h>

/* Appends a line with the first attribute of a kind; returns how much is written then. What does not fit is left out
 * whole: a name cut short would be another name. */
static size_t attribute_write(const X509_NAME *subject, int nid, const char *label, char *text, size_t length,
                              size_t capacity) {
    int place = X509_NAME_get_index_by_NID(subject, nid, -1);
    if (place < 0) return length;
    unsigned char *value = NULL;
    int bytes = ASN1_STRING_to_UTF8(&value, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, place)));
    if (bytes < 0) return length;
    for (int i = 0; i < bytes; i++)
        if (value[i] < 0x20 || value[i] == 0x7f) value[i] = '?';
    int written = snprintf(text + length, capacity - length, "%s=%.*s\n", label, bytes, (const char *)value);
    OPENSSL_free(value);
    if (written > 0 && (size_t)written < capacity - length) return length + (size_t)written;
    text[length] = 0;
    return length;
}

void tls_session_peer_describe(const tls_session *session, char *text, size_t capacity) {
    if (capacity == 0) return;
    text[0] = 0;
    if (session->ssl == NULL) return;
    const X509 *certificate = SSL_get0_peer_certificate(session->ssl);
    if (!session->verify || certificate == NULL || SSL_get_verify_result(session->ssl) != X509_V_OK) return;
    const X509_NAME *subject = X509_get_subject_name(certificate);
    size_t length = attribute_write(subject, NID_userId, "UID", text, 0, capacity);
    attribute_write(subject, NID_commonName, "CN", text, length, capacity);
    ERR_clear_error();
}
