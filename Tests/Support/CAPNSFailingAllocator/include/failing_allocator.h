/*
 * failing_allocator: makes the n-th allocation of a stretch of code fail.
 *
 * This target defines malloc and its relatives for the whole process, the shared libraries included. They pass every
 * call on (to the sanitizer's allocator where there is one, else to glibc's) but for the one that is to fail.
 *
 * Threads. A stretch belongs to the thread that begins it; no other thread sees a failure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Begins a stretch. failing: number of the allocation to fail, from 1; 0 for none. */
void failing_allocator_begin(uint64_t failing);

typedef struct failing_allocator_result {
    uint64_t asked; /* allocations asked for in the stretch */
    int64_t live;   /* blocks allocated and not freed in the stretch; less than 0 when older ones were freed */
    bool failed;    /* the allocation that was to fail was asked for, and failed */
} failing_allocator_result;

/* Ends the stretch. */
failing_allocator_result failing_allocator_end(void);
