#include "h2_internal.h"
#include <stdlib.h>
#include <string.h>

apns_h2_pool *apns_h2_pool_create(apns_h2_memory *memory, uint32_t count, size_t extra) {
    size_t stride = (sizeof(apns_h2_exchange) + extra + 15) & ~(size_t)15;
    apns_h2_pool *pool = calloc(1, sizeof(*pool));
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

void apns_h2_pool_destroy(apns_h2_pool *pool) {
    if (pool == NULL) return;
    free(pool->slab);
    free(pool);
}

uint32_t apns_h2_pool_free_count(const apns_h2_pool *pool) {
    return pool->free_count;
}

static apns_h2_exchange *fresh_take(apns_h2_pool *pool) {
    if (pool->fresh == pool->end) return NULL;
    apns_h2_exchange *exchange = (apns_h2_exchange *)(void *)pool->fresh;
    pool->fresh += pool->stride;
    return exchange;
}

apns_h2_exchange *apns_h2_pool_take(apns_h2_pool *pool) {
    apns_h2_exchange *exchange = pool->free;
    if (exchange != NULL)
        pool->free = exchange->next;
    else if ((exchange = fresh_take(pool)) == NULL) {
        APNS_ASSERT(pool->free_count == 0);
        return NULL;
    }
    APNS_REQUIRE(pool->free_count > 0);
    pool->free_count--;
    memset(exchange, 0, sizeof(*exchange));
    return exchange;
}

void apns_h2_pool_give(apns_h2_pool *pool, apns_h2_exchange *exchange) {
    APNS_REQUIRE((uint8_t *)exchange >= pool->slab && (uint8_t *)exchange < pool->fresh);
    APNS_ASSERT(((size_t)((uint8_t *)exchange - pool->slab)) % pool->stride == 0 && exchange != pool->free);
    if (exchange->message != NULL) apns_h2_pool_message_give(pool, exchange->message);
    exchange->next = pool->free;
    pool->free = exchange;
    pool->free_count++;
    APNS_ASSERT(pool->free_count <= (size_t)(pool->end - pool->slab) / pool->stride); /* each is given back once */
}
