#include "failing_allocator.h"

#include <errno.h>
#include <stddef.h>

/* Called before a sanitizer has its own memory: none of this may be instrumented. */
#pragma clang attribute push(__attribute__((no_sanitize("address", "thread", "undefined", "coverage"))),               \
                             apply_to = function)

/* The sanitizers' allocators, where the process has one (a documented way to come between: their malloc is weak). */
__attribute__((weak)) void *__interceptor_malloc(size_t bytes);
__attribute__((weak)) void *__interceptor_calloc(size_t count, size_t bytes);
__attribute__((weak)) void *__interceptor_realloc(void *block, size_t bytes);
__attribute__((weak)) void *__interceptor_aligned_alloc(size_t alignment, size_t bytes);
__attribute__((weak)) int __interceptor_posix_memalign(void **out, size_t alignment, size_t bytes);
__attribute__((weak)) void __interceptor_free(void *block);

/* glibc's. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *block);

/* Plain data: reading it allocates nothing. */
static _Thread_local struct {
    bool running;
    bool failed;
    uint64_t failing;
    uint64_t asked;
    int64_t live;
} stretch;

void failing_allocator_begin(uint64_t failing) {
    stretch.running = true;
    stretch.failed = false;
    stretch.failing = failing;
    stretch.asked = 0;
    stretch.live = 0;
}

failing_allocator_result failing_allocator_end(void) {
    stretch.running = false;
    return (failing_allocator_result){.asked = stretch.asked, .live = stretch.live, .failed = stretch.failed};
}

/* Not with the thread sanitizer: its hooks in these functions would run before it is there. */
#if !defined(__has_feature) || !__has_feature(thread_sanitizer)

/* True when this allocation has to fail. */
static bool fails(void) {
    if (!stretch.running || ++stretch.asked != stretch.failing) return false;
    stretch.failed = true;
    errno = ENOMEM;
    return true;
}

static void *counted(void *block) {
    if (stretch.running && block != NULL) stretch.live++;
    return block;
}

void *malloc(size_t bytes) {
    if (fails()) return NULL;
    return counted(__interceptor_malloc != NULL ? __interceptor_malloc(bytes) : __libc_malloc(bytes));
}

void *calloc(size_t count, size_t bytes) {
    if (fails()) return NULL;
    return counted(__interceptor_calloc != NULL ? __interceptor_calloc(count, bytes) : __libc_calloc(count, bytes));
}

void *realloc(void *block, size_t bytes) {
    if (fails()) return NULL;
    void *grown = __interceptor_realloc != NULL ? __interceptor_realloc(block, bytes) : __libc_realloc(block, bytes);
    return block == NULL ? counted(grown) : grown;
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    if (fails()) return NULL;
    return counted(__interceptor_aligned_alloc != NULL ? __interceptor_aligned_alloc(alignment, bytes)
                                                       : __libc_memalign(alignment, bytes));
}

int posix_memalign(void **out, size_t alignment, size_t bytes) {
    if (fails()) return ENOMEM;
    if (__interceptor_posix_memalign != NULL) {
        int result = __interceptor_posix_memalign(out, alignment, bytes);
        if (result == 0) counted(*out);
        return result;
    }
    void *block = __libc_memalign(alignment, bytes);
    if (block == NULL) return ENOMEM;
    *out = counted(block);
    return 0;
}

void free(void *block) {
    if (stretch.running && block != NULL) stretch.live--;
    if (__interceptor_free != NULL)
        __interceptor_free(block);
    else
        __libc_free(block);
}

#endif

#pragma clang attribute pop
