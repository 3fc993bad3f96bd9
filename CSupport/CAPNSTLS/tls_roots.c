#include "tls_internal.h"
#include <openssl/crypto.h>
#include <openssl/x509_vfy.h>

/* The certificates that the system trusts. OpenSSL has a directory, in which a certificate is found by a hash of its
 * subject, and one file with all of them. To read the file takes half of the processor time of a short campaign's
 * start, and is not needed where the directory or the caller's own certificates have the issuer. So it is read when the
 * issuer of a certificate is not found otherwise, once for all contexts, and kept until the process ends. */

static CRYPTO_ONCE file_once = CRYPTO_ONCE_STATIC_INIT;
static STACK_OF(X509) * file_roots; /* NULL before file_read, or if there are none */

static void file_read(void) {
    X509_STORE *store = X509_STORE_new();
    if (store != NULL && X509_STORE_set_default_paths(store) == 1) file_roots = X509_STORE_get1_all_certs(store);
    X509_STORE_free(store);
    ERR_clear_error(); /* such as that of a missing file */
}

/* Adds the file's certificates to a store; returns false if there are none, or no memory. */
static bool file_add(X509_STORE *store) {
    if (CRYPTO_THREAD_run_once(&file_once, file_read) != 1 || sk_X509_num(file_roots) <= 0) return false;
    for (int i = 0; i < sk_X509_num(file_roots); i++)
        if (X509_STORE_add_cert(store, sk_X509_value(file_roots, i)) != 1) return false;
    return true;
}

/* The get_issuer function of X509_STORE_set_get_issuer: OpenSSL's own, which is asked again when the store has more. */
static int issuer_find(X509 **issuer, X509_STORE_CTX *ctx, X509 *certificate) {
    int found = X509_STORE_CTX_get1_issuer(issuer, ctx, certificate);
    if (found != 0 || !file_add(X509_STORE_CTX_get0_store(ctx))) return found;
    return X509_STORE_CTX_get1_issuer(issuer, ctx, certificate);
}

bool apns_tls_roots_trust(SSL_CTX *ctx) {
    X509_STORE_set_get_issuer(SSL_CTX_get_cert_store(ctx), issuer_find);
    return SSL_CTX_set_default_verify_dir(ctx) == 1;
}
