/*
 * apns_error: statuses and error records of all C modules. A function that can fail returns 0 (or a documented value
 * from 0 up) or a negative enum apns_status; some also fill an error record.
 */
#pragma once

#include <stdint.h>

enum apns_status {
    APNS_OK = 0,
    APNS_MISUSE = -1,   /* programming error of the caller, such as an invalid argument */
    APNS_RESOURCE = -2, /* no memory, descriptors or slots, or a library failure that no input can cause */
    APNS_PEER = -3,     /* the peer violated a protocol */
    APNS_NETWORK = -4,  /* the connection failed */
    APNS_INPUT = -5,    /* the given bytes are invalid */
};

typedef struct apns_error {
    int32_t status; /* enum apns_status */
    int32_t scope;  /* determines the meaning of code: an enum of the module that fills the record */
    int64_t code;
    char text[240]; /* English, NUL-terminated, without secrets */
} apns_error;
_Static_assert(sizeof(apns_error) == 256, "fixed layout");

/* Fills a record (NULL allowed) and returns its status. text: copied, truncated if it is too long. */
int apns_error_set(apns_error *error, int status, int scope, int64_t code, const char *text);
