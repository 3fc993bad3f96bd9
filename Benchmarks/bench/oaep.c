/*
 * Prints what OpenSSL takes to encrypt 32 bytes for one RSA key of 2,048 bits (OAEP with SHA-256), in nanoseconds of
 * processor time for each of COUNT operations that share key and context.
 *
 *     oaep COUNT
 */
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void check(int good) {
    if (good == 1) return;
    fprintf(stderr, "oaep: OpenSSL failed\n");
    exit(1);
}

int main(int count, char **arguments) {
    long operations = count == 2 ? strtol(arguments[1], NULL, 10) : 0;
    if (operations <= 0) {
        fprintf(stderr, "usage: oaep COUNT\n");
        return 64;
    }
    EVP_PKEY *key = EVP_RSA_gen(2048);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
    check(key != NULL && ctx != NULL);
    check(EVP_PKEY_encrypt_init(ctx));
    check(EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_OAEP_PADDING));
    check(EVP_PKEY_CTX_set_rsa_oaep_md(ctx, EVP_sha256()));
    unsigned char plain[32] = {1}, sealed[256];
    double start = now_ns();
    for (long i = 0; i < operations; i++) {
        size_t length = sizeof(sealed);
        check(EVP_PKEY_encrypt(ctx, sealed, &length, plain, sizeof(plain)));
    }
    printf("%.0f\n", (now_ns() - start) / (double)operations);
    EVP_PKEY_CTX_free(ctx);
    EVP_PKEY_free(key);
    return 0;
}
