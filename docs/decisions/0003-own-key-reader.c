/*
 * The measurement behind 0003-own-key-reader.md: what OpenSSL takes for a recipient's RSA key of 2,048 bits.
 *
 *   clang -O2 -o /tmp/rsakey 0003-own-key-reader.c -lcrypto && /tmp/rsakey
 */
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 5000 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(void) {
    EVP_PKEY *key = EVP_RSA_gen(2048);
    unsigned char *der = NULL;
    int length = i2d_PUBKEY(key, &der);
    double start = now();
    for (int i = 0; i < ROUNDS; i++) {
        const unsigned char *at = der;
        EVP_PKEY_free(d2i_PUBKEY(NULL, &at, length));
    }
    printf("d2i_PUBKEY                          %7.0f ns\n", (now() - start) / ROUNDS);

    BIGNUM *n = NULL;
    unsigned char modulus[256], exponent[] = {1, 0, 1}, out[256], secret[44];
    EVP_PKEY_get_bn_param(key, "n", &n);
    BN_bn2nativepad(n, modulus, sizeof modulus);
    OSSL_PARAM numbers[] = {OSSL_PARAM_construct_BN("n", modulus, sizeof modulus),
                            OSSL_PARAM_construct_BN("e", exponent, sizeof exponent), OSSL_PARAM_construct_end()};
    OSSL_PARAM padding[] = {OSSL_PARAM_construct_utf8_string("pad-mode", (char *)"oaep", 0),
                            OSSL_PARAM_construct_utf8_string("digest", (char *)"SHA256", 0),
                            OSSL_PARAM_construct_utf8_string("mgf1-digest", (char *)"SHA256", 0),
                            OSSL_PARAM_construct_end()};
    EVP_PKEY_CTX *maker = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    EVP_PKEY_fromdata_init(maker);
    RAND_bytes(secret, sizeof secret);
    double make = 0, begin = 0, encrypt = 0, again = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double t0 = now();
        EVP_PKEY *made = NULL;
        EVP_PKEY_fromdata(maker, &made, EVP_PKEY_PUBLIC_KEY, numbers);
        double t1 = now();
        EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, made, NULL);
        EVP_PKEY_encrypt_init_ex(context, padding);
        double t2 = now();
        size_t written = sizeof out;
        EVP_PKEY_encrypt(context, out, &written, secret, sizeof secret);
        double t3 = now();
        EVP_PKEY_encrypt(context, out, &written, secret, sizeof secret);
        again += now() - t3;
        make += t1 - t0, begin += t2 - t1, encrypt += t3 - t2;
        EVP_PKEY_CTX_free(context);
        EVP_PKEY_free(made);
    }
    printf("EVP_PKEY_fromdata                   %7.0f ns\n", make / ROUNDS);
    printf("context and padding                 %7.0f ns\n", begin / ROUNDS);
    printf("first EVP_PKEY_encrypt with a key   %7.0f ns\n", encrypt / ROUNDS);
    printf("each further one                    %7.0f ns\n", again / ROUNDS);
    return 0;
}
