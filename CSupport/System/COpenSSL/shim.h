#include <openssl/ssl.h>
#include <openssl/evp.h>
