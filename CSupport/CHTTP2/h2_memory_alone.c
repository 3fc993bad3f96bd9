#include "h2_memory_kind.h"

#if H2_MEMORY_BLOCKS_ALONE

#include "h2_memory_library.h"
#include <stdlib.h>
#include <string.h>

/* In front of each block; as large as malloc aligns. */
typedef struct block {
    struct block *next; /* all blocks of the memory */
    struct block *previous;
    size_t bytes;
    size_t reserved;
} block;

enum { RESERVE_BYTES = 65536 - 64 };

struct apns_h2_memory {
    size_t bytes;
    size_t bytes_max;
    block *reserve; /* as in h2_memory.c */
    block blocks;   /* head of the ring */
};

apns_h2_memory *apns_h2_memory_create(size_t bytes_max) {
    apns_h2_memory *memory = calloc(1, sizeof(*memory));
    if (memory == NULL) return NULL;
    memory->reserve = malloc(sizeof(block) + RESERVE_BYTES);
    if (memory->reserve == NULL) {
        free(memory);
        return NULL;
    }
    memory->bytes_max = bytes_max;
    memory->blocks.next = memory->blocks.previous = &memory->blocks;
    return memory;
}

void apns_h2_memory_destroy(apns_h2_memory *memory) {
    if (memory == NULL) return;
    for (block *b = memory->blocks.next; b != &memory->blocks;) {
        block *next = b->next;
        free(b);
        b = next;
    }
    free(memory->reserve);
    free(memory);
}

static void *link_block(apns_h2_memory *memory, block *b, size_t bytes) {
    memory->bytes += bytes;
    b->bytes = bytes;
    b->next = memory->blocks.next;
    b->previous = &memory->blocks;
    b->next->previous = b;
    memory->blocks.next = b;
    return b + 1;
}

void *apns_h2_memory_take(apns_h2_memory *memory, size_t bytes) {
    if (memory->bytes > memory->bytes_max || bytes > memory->bytes_max - memory->bytes) return NULL;
    block *b = malloc(sizeof(*b) + bytes);
    return b == NULL ? NULL : link_block(memory, b, bytes);
}

void apns_h2_memory_give(apns_h2_memory *memory, void *bytes) {
    if (bytes == NULL) return;
    block *b = (block *)bytes - 1;
    memory->bytes -= b->bytes;
    b->next->previous = b->previous;
    b->previous->next = b->next;
    free(b);
}

static size_t room_of(void *bytes) {
    return ((block *)bytes - 1)->bytes;
}

static void *moved(apns_h2_memory *memory, void *bytes, void *grown) {
    if (grown == NULL || bytes == NULL) return grown;
    memcpy(grown, bytes, room_of(bytes));
    apns_h2_memory_give(memory, bytes);
    return grown;
}

void *apns_h2_memory_grow(apns_h2_memory *memory, void *bytes, size_t wanted) {
    if (bytes != NULL && wanted <= room_of(bytes)) return bytes;
    return moved(memory, bytes, apns_h2_memory_take(memory, wanted));
}

static void *reserve_take(apns_h2_memory *memory, size_t bytes) {
    block *b = memory->reserve;
    if (b == NULL || bytes > RESERVE_BYTES) return NULL;
    memory->reserve = NULL;
    return link_block(memory, b, RESERVE_BYTES);
}

void *apns_h2_memory_grow_reserved(apns_h2_memory *memory, void *bytes, size_t wanted) {
    if (memory->reserve == NULL) memory->reserve = malloc(sizeof(block) + RESERVE_BYTES);
    void *grown = apns_h2_memory_grow(memory, bytes, wanted);
    return grown != NULL ? grown : moved(memory, bytes, reserve_take(memory, wanted));
}

#endif
