#include "apns_identities.h"
#include "scenario.h"

/* Ends the scenario because a call failed. The library does not always report a lack of memory as such. */
static int refused(scenario_result *result, uint32_t step, const apns_error *error) {
    if (error->status == APNS_OK) return scenario_end(result, SCENARIO_UNTOLD, step, "");
    return scenario_refused(result, step, error->text);
}

static int key_use(apns_crypto_key *key, scenario_result *result) {
    static const uint8_t message[] = "header.claims";
    uint8_t signature[APNS_CRYPTO_ES256_BYTES];
    uint8_t digest[APNS_CRYPTO_SHA256_BYTES], code[APNS_CRYPTO_SHA256_BYTES];
    apns_error error;
    if (apns_crypto_es256_sign(key, message, sizeof(message), signature, &error) != 0)
        return refused(result, 2, &error);
    int good = apns_crypto_es256_verify(key, message, sizeof(message), signature, sizeof(signature), &error);
    if (good < 0) return refused(result, 3, &error);
    /* The library reports a lack of memory as a wrong signature. This is incorrect, but safe. */
    if (good == 0) return scenario_refused(result, 3, "the signature is said to be wrong");
    if (apns_crypto_sha256(message, sizeof(message), digest, &error) != 0) return refused(result, 4, &error);
    if (apns_crypto_hmac_sha256(digest, sizeof(digest), message, sizeof(message), code, &error) != 0)
        return refused(result, 4, &error);
    return SCENARIO_DONE;
}

/* Writes the key, either plain or encrypted, and reads it back. */
static int key_copy(const apns_crypto_key *key, bool encrypted, scenario_result *result) {
    static const uint8_t passphrase[] = "passphrase";
    const uint8_t *given = encrypted ? passphrase : NULL;
    apns_crypto_buffer pem = {0};
    apns_crypto_key *copy = NULL;
    apns_error error;
    int end = SCENARIO_DONE;
    if (apns_crypto_key_write_private(key, given, encrypted ? 10 : 0, &pem, &error) != 0)
        end = refused(result, 5, &error);
    else if (apns_crypto_key_read_private(pem.bytes, pem.length, given, encrypted ? 10 : 0, &copy, &error) != 0)
        end = refused(result, 6, &error);
    apns_crypto_key_free(copy);
    apns_crypto_buffer_free(&pem);
    return end;
}

static int public_copy(const apns_crypto_key *key, scenario_result *result) {
    apns_crypto_buffer pem = {0};
    apns_crypto_key *copy = NULL;
    apns_error error;
    int end = SCENARIO_DONE;
    if (apns_crypto_key_write_public(key, &pem, &error) != 0)
        end = refused(result, 7, &error);
    else if (apns_crypto_key_read_public(pem.bytes, pem.length, &copy, &error) != 0)
        end = refused(result, 8, &error);
    apns_crypto_key_free(copy);
    apns_crypto_buffer_free(&pem);
    return end;
}

static void key_act(scenario_result *result) {
    apns_crypto_key *key = NULL;
    apns_error error;
    if (apns_crypto_key_generate(&key, &error) != 0) {
        refused(result, 1, &error);
        return;
    }
    if (key_use(key, result) == SCENARIO_DONE && key_copy(key, false, result) == SCENARIO_DONE)
        public_copy(key, result);
    apns_crypto_key_free(key);
}

static void identity_act(scenario_result *result) {
    static const char *const hosts[] = {"localhost", "127.0.0.1"};
    apns_crypto_identity identity = {0};
    apns_crypto_certificate_facts facts;
    apns_crypto_buffer key = {0};
    apns_error error;
    if (apns_crypto_identity_make(hosts, 2, 30, &identity, &error) != 0)
        refused(result, 1, &error);
    else if (apns_crypto_certificate_read(identity.certificate.bytes, identity.certificate.length, &facts, &error) != 0)
        refused(result, 2, &error);
    else if (apns_crypto_certificate_match(identity.certificate.bytes, identity.certificate.length, identity.key.bytes,
                                           identity.key.length, NULL, 0, &facts, &key, &error) != 0)
        refused(result, 3, &error);
    apns_crypto_buffer_free(&key);
    apns_crypto_identity_free(&identity);
}

/* Functions of the leak sanitizer, if the process has one. */
__attribute__((weak)) void __lsan_disable(void);
__attribute__((weak)) void __lsan_enable(void);

/* Reads a PKCS#12 file. OpenSSL 3.0 leaks a library context that it cannot complete, so leaks are not checked. */
static void pkcs12_act(const scenario_crypto_input *input, scenario_result *result) {
    apns_crypto_buffer certificates = {0};
    apns_crypto_buffer key = {0};
    apns_error error;
    if (__lsan_disable != NULL) __lsan_disable();
    if (apns_crypto_pkcs12_read(input->pkcs12, input->pkcs12_length, (const uint8_t *)"secret", 6, &certificates, &key,
                                &error) != 0)
        refused(result, 1, &error);
    if (__lsan_enable != NULL) __lsan_enable();
    apns_crypto_buffer_free(&certificates);
    apns_crypto_buffer_free(&key);
}

static int seal(apns_crypto_sealer *sealer, const scenario_crypto_input *input, scenario_result *result) {
    static const uint8_t message[] = "{\"aps\":{\"alert\":\"secret\"}}";
    uint8_t content[256];
    uint8_t secret[2048];
    apns_error error;
    if (apns_crypto_sealer_address(sealer, input->recipient, input->recipient_length, &error) != 0)
        return refused(result, 2, &error);
    if (apns_crypto_sealer_seal(sealer, message, sizeof(message) - 1, content, secret, &error) != 0)
        return refused(result, 3, &error);
    return SCENARIO_DONE;
}

static void sealer_act(const scenario_crypto_input *input, scenario_result *result) {
    for (int cipher = APNS_CRYPTO_CIPHER_AES256_GCM; cipher <= APNS_CRYPTO_CIPHER_AES256_CBC; cipher++) {
        apns_crypto_sealer *sealer = NULL;
        apns_error error;
        if (apns_crypto_sealer_make(cipher, APNS_CRYPTO_PADDING_OAEP_SHA256, &sealer, &error) != 0) {
            refused(result, 1, &error);
            return;
        }
        int end = seal(sealer, input, result);
        apns_crypto_sealer_free(sealer);
        if (end != SCENARIO_DONE) return;
    }
}

void scenario_crypto(uint32_t kind, const scenario_crypto_input *input, uint64_t failing, scenario_result *result) {
    scenario_begin(result, failing);
    switch (kind) {
    case SCENARIO_CRYPTO_KEY:
        key_act(result);
        break;
    case SCENARIO_CRYPTO_IDENTITY:
        identity_act(result);
        break;
    case SCENARIO_CRYPTO_PKCS12:
        pkcs12_act(input, result);
        break;
    default:
        sealer_act(input, result);
    }
    scenario_finish(result);
}
