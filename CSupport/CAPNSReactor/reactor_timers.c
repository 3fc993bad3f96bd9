#include "reactor_timers.h"

#include <errno.h>
#include <stdlib.h>

static bool before(const struct reactor_timer_entry *a, const struct reactor_timer_entry *b) {
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void put(struct reactor_timers *timers, uint32_t place, struct reactor_timer_entry entry) {
    timers->heap[place] = entry;
    timers->slots[entry.slot].place = place;
}

/* Moves entry from a free place towards the root as far as it belongs. */
static void rise(struct reactor_timers *timers, uint32_t place, struct reactor_timer_entry entry) {
    while (place > 0) {
        uint32_t parent = (place - 1) / 2;
        if (!before(&entry, &timers->heap[parent])) break;
        put(timers, place, timers->heap[parent]);
        place = parent;
    }
    put(timers, place, entry);
}

/* Moves entry from a free place towards the leaves as far as it belongs. */
static void sink(struct reactor_timers *timers, uint32_t place, struct reactor_timer_entry entry) {
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= timers->running) break;
        if (child + 1 < timers->running && before(&timers->heap[child + 1], &timers->heap[child])) child++;
        if (!before(&timers->heap[child], &entry)) break;
        put(timers, place, timers->heap[child]);
        place = child;
    }
    put(timers, place, entry);
}

/* Takes the entry at place out of the heap and frees its slot. */
static void remove_at(struct reactor_timers *timers, uint32_t place) {
    uint32_t index = timers->heap[place].slot;
    struct reactor_timer_entry last = timers->heap[--timers->running];
    if (place < timers->running) {
        if (place > 0 && before(&last, &timers->heap[(place - 1) / 2]))
            rise(timers, place, last);
        else
            sink(timers, place, last);
    }
    struct reactor_timer_slot *slot = &timers->slots[index];
    slot->running = false;
    slot->generation = slot->generation == UINT32_MAX ? 1 : slot->generation + 1;
    slot->place = timers->free_head;
    timers->free_head = index;
}

int apns_reactor_timers_create(struct reactor_timers *timers, uint32_t capacity) {
    size_t count = capacity == 0 ? 1 : capacity;
    *timers = (struct reactor_timers){.capacity = capacity};
    timers->slots = calloc(count, sizeof(*timers->slots));
    timers->heap = calloc(count, sizeof(*timers->heap));
    if (timers->slots == NULL || timers->heap == NULL) {
        apns_reactor_timers_destroy(timers);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < capacity; i++) {
        timers->slots[i].generation = 1;
        timers->slots[i].place = i + 1;
    }
    return 0;
}

void apns_reactor_timers_destroy(struct reactor_timers *timers) {
    free(timers->slots);
    free(timers->heap);
    *timers = (struct reactor_timers){0};
}

int apns_reactor_timers_start(struct reactor_timers *timers, uint64_t at_ns, uint64_t context,
                              apns_reactor_timer *out) {
    if (timers->running == timers->capacity) return -ENOSPC;
    uint32_t index = timers->free_head;
    struct reactor_timer_slot *slot = &timers->slots[index];
    timers->free_head = slot->place;
    slot->context = context;
    slot->running = true;
    struct reactor_timer_entry entry = {.at_ns = at_ns, .order = timers->starts++, .slot = index};
    rise(timers, timers->running++, entry);
    *out = (uint64_t)slot->generation << 32 | index;
    return 0;
}

int apns_reactor_timers_stop(struct reactor_timers *timers, apns_reactor_timer timer) {
    uint32_t index = (uint32_t)timer;
    if (index >= timers->capacity) return -ENOENT;
    const struct reactor_timer_slot *slot = &timers->slots[index];
    if (!slot->running || slot->generation != (uint32_t)(timer >> 32)) return -ENOENT;
    remove_at(timers, slot->place);
    return 0;
}

uint32_t apns_reactor_timers_collect(struct reactor_timers *timers, uint64_t now_ns, apns_reactor_event *events,
                                     uint32_t capacity) {
    uint32_t n = 0;
    while (n < capacity && timers->running > 0 && timers->heap[0].at_ns <= now_ns) {
        uint32_t index = timers->heap[0].slot;
        const struct reactor_timer_slot *slot = &timers->slots[index];
        events[n++] = (apns_reactor_event){
            .socket = (uint64_t)slot->generation << 32 | index, .context = slot->context, .kind = APNS_REACTOR_TIMER};
        remove_at(timers, 0);
    }
    return n;
}
