/*
 * apns_error: what all parts of the core say of a failure. A function that can fail returns 0 (or what it promises,
 * from 0 up) or a negative enum apns_status; one that has more to say fills a record, too.
 */
#ifndef APNS_BATCH_ERROR_H
#define APNS_BATCH_ERROR_H

#include <stdint.h>

enum apns_status {
    APNS_OK = 0,
    APNS_MISUSE = -1,   /* the caller's bug: unknown connection, bad argument */
    APNS_RESOURCE = -2, /* local: memory, descriptors, slots, a failure of a library that no input can cause */
    APNS_PEER = -3,     /* the peer broke a rule */
    APNS_NETWORK = -4,  /* the connection itself failed */
    APNS_INPUT = -5,    /* the bytes given are not what they should be */
};

typedef struct apns_error {
    int32_t status; /* enum apns_status */
    int32_t scope;  /* says what code means: an enum of the part that fills the record */
    int64_t code;
    char text[240]; /* English, NUL-terminated, no secrets */
} apns_error;
_Static_assert(sizeof(apns_error) == 256, "fixed layout");

/* Fills a record (NULL allowed) and returns its status. */
int apns_error_set(apns_error *error, int status, int scope, int64_t code, const char *text);

#endif
