/*
 * The system's calls for files as a disk in trouble answers them: short writes, and a file system that reserves no
 * space. And it counts what is made durable. Linked into a test's process, it takes the place of write, fsync,
 * fdatasync and fallocate; each thread has its own trouble, and has none before failing_disk_begin and after
 * failing_disk_end.
 */
#ifndef FAILING_DISK_H
#define FAILING_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct failing_disk_trouble {
    size_t write_max;    /* bytes that one write takes; 0 for all */
    int fallocate_error; /* what fallocate ends with; 0 for what the system says */
} failing_disk_trouble;

typedef struct failing_disk_counts {
    uint64_t short_writes;
    uint64_t file_syncs;
    uint64_t directory_syncs;
} failing_disk_counts;

/* False where a sanitizer needs these calls for itself: then nothing is counted, and there is no trouble. */
bool failing_disk_works(void);

void failing_disk_begin(failing_disk_trouble trouble);

/* What the calling thread did since failing_disk_begin. */
failing_disk_counts failing_disk_end(void);

#endif
