/*
 * System calls that Swift's C library module does not offer.
 *
 * Threads: every function may be called from any thread.
 */
#ifndef APNS_BATCH_SYSTEM_H
#define APNS_BATCH_SYSTEM_H

#include <stdint.h>

/* Has the file system reserve space for the bytes `from` to `to` of an open file, whose size does not change. Returns 0
 * or a negative errno; -EOPNOTSUPP where the file system cannot do it. */
int apns_reserve(int descriptor, uint64_t from, uint64_t to);

/* Names the calling thread for ps and top. `name`: NUL-terminated; the kernel keeps its first 15 bytes. Uses prctl,
 * because /proc/self/task/TID/comm belongs to root in a process that may not be dumped. */
void apns_thread_name(const char *name);

#endif
