#define _GNU_SOURCE
#include "apns_system.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>

int apns_reserve(int descriptor, uint64_t from, uint64_t to) {
    while (fallocate(descriptor, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from)) != 0) {
        if (errno != EINTR) return -errno;
    }
    return 0;
}

void apns_thread_name(const char *name) {
    (void)prctl(PR_SET_NAME, name, 0, 0, 0);
}
