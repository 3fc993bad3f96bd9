#define _GNU_SOURCE
#include "storage.h"

#include <errno.h>
#include <fcntl.h>

int apns_storage_reserve(int descriptor, uint64_t from, uint64_t to) {
    while (fallocate(descriptor, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from)) != 0) {
        if (errno != EINTR) return -errno;
    }
    return 0;
}
