#include "tls.h"

typedef int tls_placeholder;
