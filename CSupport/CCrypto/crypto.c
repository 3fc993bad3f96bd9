#include "crypto.h"

typedef int crypto_placeholder;
