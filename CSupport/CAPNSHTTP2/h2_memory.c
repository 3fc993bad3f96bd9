#include "h2_internal.h"
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>

/* Pages are aligned to their size, so that the page of a block, and with it its size class, is found by masking its
 * address. All blocks of a page have the same class. Blocks larger than CLASS_BYTES_MAX get a page of their own. Under
 * AddressSanitizer, memory that is not in use is poisoned: never allocated parts of pages, free blocks, and what a
 * block has beyond the requested size. */
enum { PAGE_BYTES = 65536, PAGE_HEADER_BYTES = 64, GRAIN = 32, CLASS_BYTES_MAX = 16384, CLASS_LARGE = 255 };

static const uint16_t class_bytes[] = {32,  64,  96,   128,  160,  192,  256,  320,  384,  512,
                                       640, 768, 1024, 1536, 2048, 3072, 4096, 8192, 16384};
enum { CLASS_COUNT = sizeof(class_bytes) / sizeof(class_bytes[0]) };

typedef struct page {
    struct page *next; /* in the ring of all pages */
    struct page *previous;
    size_t bytes; /* of a large block: usable bytes of its page */
    uint32_t class;
} page;
_Static_assert(sizeof(page) <= PAGE_HEADER_BYTES, "fits the header");

typedef struct block {
    struct block *next;
} block;

struct apns_h2_memory {
    block *free[CLASS_COUNT];
    uint8_t *fresh[CLASS_COUNT]; /* the unused part of the newest page of the class */
    uint8_t *fresh_end[CLASS_COUNT];
    size_t bytes;
    size_t bytes_max;
    page *reserve; /* spare page, not in the ring; NULL after it was used, until it can be replaced */
    page pages;    /* head of the ring */
    uint8_t class_of[CLASS_BYTES_MAX / GRAIN + 1]; /* class of each size, in units of GRAIN bytes, rounded up */
};

apns_h2_memory *apns_h2_memory_create(size_t bytes_max) {
    apns_h2_memory *memory = calloc(1, sizeof(*memory));
    if (memory == NULL) return NULL;
    memory->reserve = aligned_alloc(PAGE_BYTES, PAGE_BYTES);
    if (memory->reserve == NULL) {
        free(memory);
        return NULL;
    }
    memory->bytes_max = bytes_max;
    memory->pages.next = memory->pages.previous = &memory->pages;
    uint8_t class = 0;
    for (size_t grains = 0; grains <= CLASS_BYTES_MAX / GRAIN; grains++) {
        while (class_bytes[class] < grains * GRAIN)
            class ++;
        memory->class_of[grains] = class;
    }
    return memory;
}

void apns_h2_memory_destroy(apns_h2_memory *memory) {
    if (memory == NULL) return;
    for (page *p = memory->pages.next; p != &memory->pages;) {
        page *next = p->next;
        ASAN_UNPOISON_MEMORY_REGION(p, PAGE_BYTES);
        free(p);
        p = next;
    }
    free(memory->reserve);
    free(memory);
}

static void page_link(apns_h2_memory *memory, page *p, size_t bytes, uint32_t class) {
    memory->bytes += bytes;
    p->class = class;
    p->bytes = bytes;
    p->next = memory->pages.next;
    p->previous = &memory->pages;
    p->next->previous = p;
    memory->pages.next = p;
}

static page *page_take(apns_h2_memory *memory, size_t bytes, uint32_t class) {
    if (memory->bytes > memory->bytes_max || bytes > memory->bytes_max - memory->bytes) return NULL;
    page *p = aligned_alloc(PAGE_BYTES, (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    if (p != NULL) page_link(memory, p, bytes, class);
    return p;
}

static page *page_of(void *bytes) {
    return (page *)((uintptr_t)bytes & ~(uintptr_t)(PAGE_BYTES - 1));
}

/* Rarely needed, like fresh_take, and therefore not inlined, which keeps apns_h2_memory_take short. */
__attribute__((noinline)) static void *large_take(apns_h2_memory *memory, size_t bytes) {
    if (bytes > memory->bytes_max) return NULL;
    page *p = page_take(memory, bytes + PAGE_HEADER_BYTES, CLASS_LARGE);
    return p == NULL ? NULL : (uint8_t *)p + PAGE_HEADER_BYTES;
}

static void large_give(apns_h2_memory *memory, page *p) {
    APNS_REQUIRE(p->bytes <= memory->bytes && p->next->previous == p && p->previous->next == p);
    memory->bytes -= p->bytes;
    p->next->previous = p->previous;
    p->previous->next = p->next;
    free(p);
}

__attribute__((noinline)) static void *fresh_take(apns_h2_memory *memory, uint32_t class) {
    size_t bytes = class_bytes[class];
    if ((size_t)(memory->fresh_end[class] - memory->fresh[class]) < bytes) {
        page *p = page_take(memory, PAGE_BYTES, class);
        if (p == NULL) return NULL;
        memory->fresh[class] = (uint8_t *)p + PAGE_HEADER_BYTES;
        memory->fresh_end[class] = (uint8_t *)p + PAGE_BYTES;
        ASAN_POISON_MEMORY_REGION(memory->fresh[class], PAGE_BYTES - PAGE_HEADER_BYTES);
    }
    void *taken = memory->fresh[class];
    memory->fresh[class] += bytes;
    return taken;
}

void *apns_h2_memory_take(apns_h2_memory *memory, size_t bytes) {
    if (bytes > CLASS_BYTES_MAX) return large_take(memory, bytes);
    uint32_t class = memory->class_of[(bytes + GRAIN - 1) / GRAIN];
    block *taken = memory->free[class];
    if (taken == NULL) {
        taken = fresh_take(memory, class);
        if (taken != NULL) ASAN_UNPOISON_MEMORY_REGION(taken, bytes);
        return taken;
    }
    ASAN_UNPOISON_MEMORY_REGION(taken, sizeof(*taken));
    memory->free[class] = taken->next;
    ASAN_POISON_MEMORY_REGION(taken, sizeof(*taken));
    ASAN_UNPOISON_MEMORY_REGION(taken, bytes);
    return taken;
}

void apns_h2_memory_give(apns_h2_memory *memory, void *bytes) {
    if (bytes == NULL) return;
    page *p = page_of(bytes);
    if (p->class == CLASS_LARGE) {
        large_give(memory, p);
        return;
    }
    APNS_ASSERT(p->class < CLASS_COUNT && memory->free[p->class] != bytes);
    block *given = bytes;
    ASAN_UNPOISON_MEMORY_REGION(given, sizeof(*given));
    given->next = memory->free[p->class];
    memory->free[p->class] = given;
    ASAN_POISON_MEMORY_REGION(given, class_bytes[p->class]);
}

static size_t room_of(void *bytes) {
    const page *p = page_of(bytes);
    return p->class == CLASS_LARGE ? p->bytes - PAGE_HEADER_BYTES : class_bytes[p->class];
}

static void *moved(apns_h2_memory *memory, void *bytes, void *grown) {
    if (grown == NULL || bytes == NULL) return grown;
    ASAN_UNPOISON_MEMORY_REGION(bytes, room_of(bytes));
    memcpy(grown, bytes, room_of(bytes));
    apns_h2_memory_give(memory, bytes);
    return grown;
}

void *apns_h2_memory_grow(apns_h2_memory *memory, void *bytes, size_t wanted) {
    if (bytes != NULL && wanted <= room_of(bytes)) {
        ASAN_UNPOISON_MEMORY_REGION(bytes, wanted);
        return bytes;
    }
    return moved(memory, bytes, apns_h2_memory_take(memory, wanted));
}

static void *reserve_take(apns_h2_memory *memory, size_t bytes) {
    page *p = memory->reserve;
    if (p == NULL || bytes > PAGE_BYTES - PAGE_HEADER_BYTES) return NULL;
    memory->reserve = NULL;
    page_link(memory, p, PAGE_BYTES, CLASS_LARGE);
    return (uint8_t *)p + PAGE_HEADER_BYTES;
}

/* ---------------------------------------------------------------- for nghttp2
 *
 * In this file so that take and give are inlined: nghttp2 calls these functions a dozen times per request. */

static void *library_take(size_t bytes, void *memory) {
    return apns_h2_memory_take(memory, bytes);
}

static void library_give(void *block, void *memory) {
    apns_h2_memory_give(memory, block);
}

static void *library_take_cleared(size_t count, size_t bytes, void *memory) {
    if (bytes != 0 && count > SIZE_MAX / bytes) return NULL;
    void *block = apns_h2_memory_take(memory, count * bytes);
    return block == NULL ? NULL : memset(block, 0, count * bytes);
}

/* Uses the reserve page when there is no memory or the limit is reached, because nghttp2 1.52 frees an item twice when
 * its queue of streams with data cannot grow. */
static void *library_grow(void *block, size_t bytes, void *context) {
    apns_h2_memory *memory = context;
    if (memory->reserve == NULL) memory->reserve = aligned_alloc(PAGE_BYTES, PAGE_BYTES);
    void *grown = apns_h2_memory_grow(memory, block, bytes);
    return grown != NULL ? grown : moved(memory, block, reserve_take(memory, bytes));
}

const h2_allocator apns_h2_memory_allocator = {library_take, library_give, library_take_cleared, library_grow};
