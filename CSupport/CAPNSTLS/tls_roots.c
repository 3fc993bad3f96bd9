#include "tls_internal.h"
#include <stdlib.h>

int apns_tls_roots_load(apns_tls_roots **out, apns_error *error) {
    ERR_clear_error();
    *out = NULL;
    apns_tls_roots *roots = calloc(1, sizeof(*roots));
    X509_STORE *store = X509_STORE_new();
    if (roots != NULL && store != NULL && X509_STORE_set_default_paths(store) == 1)
        roots->certificates = X509_STORE_get1_all_certs(store);
    X509_STORE_free(store);
    if (roots != NULL && roots->certificates != NULL) {
        ERR_clear_error(); /* a file that is not there */
        *out = roots;
        return APNS_OK;
    }
    free(roots);
    return apns_tls_error_take(error, "the system's trusted certificates");
}

void apns_tls_roots_destroy(apns_tls_roots *roots) {
    if (roots == NULL) return;
    sk_X509_pop_free(roots->certificates, X509_free);
    free(roots);
}

bool apns_tls_roots_add(const apns_tls_roots *roots, SSL_CTX *ctx) {
    X509_STORE *store = SSL_CTX_get_cert_store(ctx);
    for (int i = 0; i < sk_X509_num(roots->certificates); i++)
        if (X509_STORE_add_cert(store, sk_X509_value(roots->certificates, i)) != 1) return false;
    /* The system's directory is searched when a certificate is looked for. */
    return SSL_CTX_set_default_verify_dir(ctx) == 1;
}
