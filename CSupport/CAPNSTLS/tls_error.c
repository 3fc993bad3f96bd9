#include "tls_internal.h"
#include <stdio.h>

int apns_tls_error_take(apns_error *error, const char *what) {
    unsigned long code = ERR_get_error();
    const char *reason = ERR_reason_error_string(code);
    if (reason == NULL) reason = code == 0 ? "no further information" : "unnamed error of the TLS library";
    ERR_clear_error();
    char text[sizeof(error->text)];
    snprintf(text, sizeof(text), "%s: %s", what, reason);
    return apns_error_set(error, APNS_RESOURCE, APNS_TLS_ERROR_LIBRARY, (int64_t)code, text);
}
