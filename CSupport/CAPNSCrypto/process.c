#include "internal.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>

int apns_crypto_core_dumps_forbid(void) {
    /* The limit alone is not enough: it does not apply to core dumps that are piped to a program. */
    const struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return -errno;
    return prctl(PR_SET_DUMPABLE, 0) == 0 ? 0 : -errno;
}
