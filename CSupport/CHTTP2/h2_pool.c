#include "h2_internal.h"
#include <stdlib.h>
#include <string.h>

h2_pool *h2_pool_create(h2_memory *memory, uint32_t count, size_t extra) {
    size_t stride = (sizeof(h2_exchange) + extra + 15) & ~(size_t)15;
    h2_pool *pool = calloc(1, sizeof(*pool));
    uint8_t *slab = calloc(count, stride);
    if (pool == NULL || slab == NULL) {
        free(pool);
        free(slab);
        return NULL;
    }
    pool->memory = memory;
    pool->slab = pool->fresh = slab;
    pool->end = slab + count * stride;
    pool->stride = stride;
    pool->free_count = count;
    return pool;
}

void h2_pool_destroy(h2_pool *pool) {
    if (pool == NULL) return;
    free(pool->slab);
    free(pool);
}

uint32_t h2_pool_free_count(const h2_pool *pool) {
    return pool->free_count;
}

static h2_exchange *fresh_take(h2_pool *pool) {
    if (pool->fresh == pool->end) return NULL;
    h2_exchange *exchange = (h2_exchange *)(void *)pool->fresh;
    pool->fresh += pool->stride;
    return exchange;
}

h2_exchange *h2_pool_take(h2_pool *pool) {
    h2_exchange *exchange = pool->free;
    if (exchange != NULL)
        pool->free = exchange->next;
    else if ((exchange = fresh_take(pool)) == NULL)
        return NULL;
    pool->free_count--;
    memset(exchange, 0, sizeof(*exchange));
    return exchange;
}

void h2_pool_give(h2_pool *pool, h2_exchange *exchange) {
    if (exchange->message != NULL) h2_pool_message_give(pool, exchange->message);
    exchange->next = pool->free;
    pool->free = exchange;
    pool->free_count++;
}
