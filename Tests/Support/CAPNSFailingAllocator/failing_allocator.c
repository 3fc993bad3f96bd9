#include "failing_allocator.h"

#include <errno.h>
#include <stddef.h>

/* These functions are called before a sanitizer has set up its memory, so they must not be instrumented. */
#pragma clang attribute push(__attribute__((no_sanitize("address", "thread", "undefined", "coverage"))),               \
                             apply_to = function)

/* The allocators of the sanitizers, if the process has one. The sanitizers document this way to replace their
 * functions. */
__attribute__((weak)) void *__interceptor_malloc(size_t bytes);
__attribute__((weak)) void *__interceptor_calloc(size_t count, size_t bytes);
__attribute__((weak)) void *__interceptor_realloc(void *block, size_t bytes);
__attribute__((weak)) void *__interceptor_aligned_alloc(size_t alignment, size_t bytes);
__attribute__((weak)) int __interceptor_posix_memalign(void **out, size_t alignment, size_t bytes);
__attribute__((weak)) void __interceptor_free(void *block);

/* The allocator of glibc. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *block);

/* Reading this plain data allocates no memory. */
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

/* The functions are not replaced if there is a thread sanitizer, because its hooks in them would run too early. */
#if !defined(__has_feature) || !__has_feature(thread_sanitizer)

/* Returns whether this allocation must fail. */
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
