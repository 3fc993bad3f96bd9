#define _GNU_SOURCE
#include "apns_system.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/vfs.h>

int apns_reserve(int descriptor, uint64_t from, uint64_t to) {
    while (fallocate(descriptor, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from)) != 0) {
        if (errno != EINTR) return -errno;
    }
    return 0;
}

void apns_thread_name(const char *name) {
    (void)prctl(PR_SET_NAME, name, 0, 0, 0);
}

/* PIPEFS_MAGIC of linux/magic.h: the file system of pipes without a name. */
enum { PIPE_FILE_SYSTEM = 0x50495045 };

int apns_nameless_pipe(const char *path, int descriptor) {
    struct statfs system;
    int result = path != NULL ? statfs(path, &system) : fstatfs(descriptor, &system);
    return result == 0 && system.f_type == PIPE_FILE_SYSTEM;
}
