#define _GNU_SOURCE
#include "failing_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local struct {
    bool running;
    failing_disk_trouble trouble;
    failing_disk_counts counts;
} stretch;

void failing_disk_begin(failing_disk_trouble trouble) {
    stretch.running = true;
    stretch.trouble = trouble;
    stretch.counts = (failing_disk_counts){0};
}

failing_disk_counts failing_disk_end(void) {
    stretch.running = false;
    return stretch.counts;
}

/* The thread sanitizer intercepts these calls to learn which thread woke another one. */
#if defined(__has_feature) && __has_feature(thread_sanitizer)

bool failing_disk_works(void) {
    return false;
}

#else

bool failing_disk_works(void) {
    return true;
}

ssize_t write(int file, const void *bytes, size_t count) {
    if (stretch.running && stretch.trouble.write_max > 0 && count > stretch.trouble.write_max) {
        count = stretch.trouble.write_max;
        stretch.counts.short_writes++;
    }
    return syscall(SYS_write, file, bytes, count);
}

static void count_sync(int file) {
    struct stat facts;
    if (!stretch.running || fstat(file, &facts) != 0) return;
    if (S_ISDIR(facts.st_mode))
        stretch.counts.directory_syncs++;
    else
        stretch.counts.file_syncs++;
}

int fsync(int file) {
    count_sync(file);
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    count_sync(file);
    return (int)syscall(SYS_fdatasync, file);
}

int fallocate(int file, int mode, off_t offset, off_t length) {
    if (stretch.running && stretch.trouble.fallocate_error != 0) {
        errno = stretch.trouble.fallocate_error;
        return -1;
    }
    return (int)syscall(SYS_fallocate, file, mode, offset, length);
}

#endif
