/*
 * failing_disk: simulates a disk with problems, which are short writes and a file system that cannot reserve space. It
 * also counts calls that make data durable. It replaces write, fsync, fdatasync and fallocate in the process of a test.
 * The settings are those of a thread, and apply only between failing_disk_begin and failing_disk_end.
 */
#ifndef FAILING_DISK_H
#define FAILING_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct failing_disk_trouble {
    size_t write_max;    /* maximum number of bytes of one write; 0 for no limit */
    int fallocate_error; /* error of fallocate; 0 for the result of the system */
} failing_disk_trouble;

typedef struct failing_disk_counts {
    uint64_t short_writes;
    uint64_t file_syncs;
    uint64_t directory_syncs;
} failing_disk_counts;

/* Returns false if a sanitizer needs these calls. Then the settings have no effect, and nothing is counted. */
bool failing_disk_works(void);

void failing_disk_begin(failing_disk_trouble trouble);

/* Returns the counts of the calling thread since failing_disk_begin, and ends the effect of the settings. */
failing_disk_counts failing_disk_end(void);

#endif
