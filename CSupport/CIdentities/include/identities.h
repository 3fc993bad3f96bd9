/*
 * crypto_client: a client certificate for one occasion, as the simulator's clients use them. Rules and errors as in
 * crypto.h.
 */
#ifndef APNS_BATCH_CRYPTO_CLIENT_H
#define APNS_BATCH_CRYPTO_CLIENT_H

#include "crypto.h"

/* Makes a certificate on P-256 that signs itself, for TLS clients, with user_id and common_name as UID and CN of its
 * subject (1 to 200 bytes of UTF-8 each, borrowed until return). Valid from one day ago for days (1 to 36,500) more
 * days. out->authority: the certificate again, which is what a server has to trust. */
int crypto_client_make(const char *user_id, const char *common_name, uint32_t days, crypto_identity *out,
                       crypto_error *error);

#endif
