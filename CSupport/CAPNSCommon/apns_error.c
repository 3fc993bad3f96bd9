#include "apns_error.h"
#include <stdio.h>

int apns_error_set(apns_error *error, int status, int scope, int64_t code, const char *text) {
    if (error == NULL) return status;
    *error = (apns_error){.status = status, .scope = scope, .code = code};
    snprintf(error->text, sizeof(error->text), "%s", text);
    return status;
}
