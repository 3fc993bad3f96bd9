/*
 * allocation_scenarios: runs the parts of the C core from creation to destruction. The scenarios are written in C
 * alone, so that every allocation in them is one of the core or of its libraries. Any single allocation of a scenario
 * can be made to fail.
 *
 * A scenario returns its result, and has freed everything that it created.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scenario_end {
    SCENARIO_DONE = 0,     /* all steps succeeded */
    SCENARIO_REFUSED = 1,  /* a call reported that memory is short, or the connection ended with an error */
    SCENARIO_UNTOLD = -1,  /* error in the core: a failure without an error record, or a request without an outcome */
    SCENARIO_HANGING = -2, /* error in the core: no further event happened */
};

typedef struct scenario_result {
    int32_t end;    /* an enum scenario_end */
    uint32_t step;  /* the step that ended it, counted from 1, for messages */
    uint64_t asked; /* number of allocations requested */
    int64_t live;   /* number of blocks that were not freed */
    bool failed;    /* an allocation was refused */
    char text[248]; /* text of the error that was reported */
} scenario_result;

/* The PEM texts that scenarios with TLS need. They are made once, outside of the scenarios. */
typedef struct scenario_identity {
    const uint8_t *authority;
    const uint8_t *certificate;
    const uint8_t *key;
    uint32_t authority_length;
    uint32_t certificate_length;
    uint32_t key_length;
} scenario_identity;

/* failing is the number of the allocation that fails, from 1; 0 for none. */

/* Runs a loop with a listener and a connection to it, and sends bytes in both directions. backend is an enum
 * apns_reactor_backend. */
void scenario_reactor(uint32_t backend, uint64_t failing, scenario_result *result);

/* Runs two contexts, a handshake over memory, a message and close_notify. */
void scenario_tls(const scenario_identity *identity, uint64_t failing, scenario_result *result);

/* Runs two sessions over memory, with settings, requests, answers and GOAWAY. */
void scenario_h2(uint64_t failing, scenario_result *result);

/* Runs two transports over the loopback interface, with requests, answers and an orderly end. loop is an enum
 * apns_transport_loop. */
void scenario_transport(uint32_t loop, const scenario_identity *identity, uint64_t failing, scenario_result *result);

/* The scenarios that make, write, read and use keys and certificates. */
enum scenario_crypto_kind {
    SCENARIO_CRYPTO_KEY = 0,
    SCENARIO_CRYPTO_IDENTITY = 1,
    SCENARIO_CRYPTO_PKCS12 = 2,
    SCENARIO_CRYPTO_SEALER = 3,
};

typedef struct scenario_crypto_input {
    const uint8_t *pkcs12;    /* made with the passphrase "secret" */
    const uint8_t *recipient; /* an RSA PUBLIC KEY, PEM */
    size_t pkcs12_length;
    size_t recipient_length;
} scenario_crypto_input;

void scenario_crypto(uint32_t kind, const scenario_crypto_input *input, uint64_t failing, scenario_result *result);
