#include "tls_internal.h"
#include <stdio.h>

void apns_tls_error_set(apns_tls_error *error, uint32_t kind, int64_t code, const char *text) {
    error->kind = kind;
    error->code = code;
    error->reserved = 0;
    snprintf(error->text, sizeof(error->text), "%s", text);
}

void apns_tls_error_take(apns_tls_error *error, const char *what) {
    unsigned long code = ERR_get_error();
    const char *reason = ERR_reason_error_string(code);
    if (reason == NULL) reason = code == 0 ? "no further information" : "unnamed error of the TLS library";
    error->kind = TLS_ERROR_LIBRARY;
    error->code = (int64_t)code;
    error->reserved = 0;
    if (what == NULL)
        snprintf(error->text, sizeof(error->text), "TLS: %s", reason);
    else
        snprintf(error->text, sizeof(error->text), "%s: %s", what, reason);
    ERR_clear_error();
}
