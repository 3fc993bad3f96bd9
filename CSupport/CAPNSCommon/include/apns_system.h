/*
 * System calls that are not available in Swift.
 *
 * Threads. Every function may be called from any thread.
 */
#pragma once

#include <stdint.h>

/* Reserves disk space for the bytes `from` (inclusive) to `to` (exclusive) of an open file, without changing its size.
 * Returns 0 or a negative errno, -EOPNOTSUPP if the file system does not support it. */
int apns_reserve(int descriptor, uint64_t from, uint64_t to);

/* Sets the name of the calling thread, which ps and top show. name: NUL-terminated, borrowed until return; the kernel
 * keeps the first 15 bytes. Uses prctl because /proc/self/task/TID/comm belongs to root in a process that is not
 * dumpable. */
void apns_thread_name(const char *name);

/* Whether a file is a pipe without a name (pipe(7)), and not a FIFO: the file at path or, if that is NULL, the open
 * file. path: borrowed until return. Returns 1 or 0. */
int apns_nameless_pipe(const char *path, int descriptor);
