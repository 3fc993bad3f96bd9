/*
 * allocation_scenarios: what the C core does from creation to destruction, written in C alone, so that every allocation
 * in it is one of the core's or of its libraries'. Each scenario may be run with any one allocation failing.
 *
 * A scenario returns what became of it; whatever it made it has freed again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scenario_end {
    SCENARIO_DONE = 0,     /* all steps succeeded */
    SCENARIO_REFUSED = 1,  /* a call said that memory is short, or the connection ended with an error */
    SCENARIO_UNTOLD = -1,  /* broken promise: a failure without an error record, a request without an outcome */
    SCENARIO_HANGING = -2, /* broken promise: nothing more happened */
};

typedef struct scenario_result {
    int32_t end;    /* enum scenario_end */
    uint32_t step;  /* the step that ended it, counted from 1, for messages */
    uint64_t asked; /* allocations asked for */
    int64_t live;   /* blocks left */
    bool failed;    /* an allocation was refused */
    char text[248]; /* the error that was told */
} scenario_result;

/* PEM texts that scenarios of TLS need: made once, outside. */
typedef struct scenario_identity {
    const uint8_t *authority;
    const uint8_t *certificate;
    const uint8_t *key;
    uint32_t authority_length;
    uint32_t certificate_length;
    uint32_t key_length;
} scenario_identity;

/* failing: number of the allocation that fails, from 1; 0 for none. */

/* A loop with a listener and a connection to it, bytes both ways. backend: enum apns_reactor_backend. */
void scenario_reactor(uint32_t backend, uint64_t failing, scenario_result *result);

/* Two contexts, a handshake over memory, a message, close_notify. */
void scenario_tls(const scenario_identity *identity, uint64_t failing, scenario_result *result);

/* Two sessions over memory: settings, requests, answers, GOAWAY. */
void scenario_h2(uint64_t failing, scenario_result *result);

/* Two transports over the loopback: requests, answers, an orderly end. loop: enum apns_transport_loop. */
void scenario_transport(uint32_t loop, const scenario_identity *identity, uint64_t failing, scenario_result *result);

/* Keys and certificates made, written, read, used: one scenario for each kind. */
enum scenario_crypto_kind {
    SCENARIO_CRYPTO_KEY = 0,
    SCENARIO_CRYPTO_IDENTITY = 1,
    SCENARIO_CRYPTO_PKCS12 = 2,
    SCENARIO_CRYPTO_SEALER = 3,
};

typedef struct scenario_crypto_input {
    const uint8_t *pkcs12;    /* made with passphrase "secret" */
    const uint8_t *recipient; /* an RSA PUBLIC KEY, PEM */
    size_t pkcs12_length;
    size_t recipient_length;
} scenario_crypto_input;

void scenario_crypto(uint32_t kind, const scenario_crypto_input *input, uint64_t failing, scenario_result *result);
