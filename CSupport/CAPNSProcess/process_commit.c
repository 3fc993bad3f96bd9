#include "apns_process.h"

#include <stddef.h>

const char *apns_process_commit(void) {
#ifdef APNS_BUILD_COMMIT
    return APNS_BUILD_COMMIT;
#else
    return NULL;
#endif
}
