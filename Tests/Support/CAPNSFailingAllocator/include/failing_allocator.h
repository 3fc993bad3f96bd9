/*
 * failing_allocator: makes the n-th allocation of a section of code fail.
 *
 * This target defines malloc and related functions for the whole process, including shared libraries. They pass on
 * every call except the one that must fail, to the allocator of the sanitizer if there is one, and otherwise to that of
 * glibc.
 *
 * Threads. A section belongs to the thread that begins it. No other thread gets a failure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Begins a section. failing is the number of the allocation that must fail, from 1; 0 for none. */
void failing_allocator_begin(uint64_t failing);

typedef struct failing_allocator_result {
    uint64_t asked; /* number of allocations requested in the section */
    int64_t live;   /* blocks allocated and not freed in the section; negative if older blocks were freed */
    bool failed;    /* the allocation that must fail was requested, and failed */
} failing_allocator_result;

/* Ends the section. */
failing_allocator_result failing_allocator_end(void);
