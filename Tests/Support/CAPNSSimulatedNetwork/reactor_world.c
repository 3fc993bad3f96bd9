#include "reactor_platform.h"

#include "reactor_simulated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each turn takes some time, so that time passes in every loop. */
#define TURN_NS_MAX 20000U

uint64_t apns_sim_random(apns_reactor_world *world) {
    /* SplitMix64 */
    uint64_t z = world->random += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

apns_reactor_world *apns_reactor_world_create(const apns_reactor_world_options *options) {
    apns_reactor_world *world = calloc(1, sizeof(*world));
    if (world == NULL) return NULL;
    world->options = *options;
    world->random = options->seed;
    world->now_ns = options->start_ns;
    world->digest = 0xCBF29CE484222325U;
    world->next_port = 40000;
    return world;
}

void apns_reactor_world_destroy(apns_reactor_world *world) {
    if (world == NULL) return;
    for (uint32_t i = 0; i < world->link_count; i++)
        apns_sim_link_free(world->links[i]);
    free(world->links);
    free(world->listeners);
    free(world->members);
    free(world);
}

uint64_t apns_reactor_world_now_ns(const apns_reactor_world *world) {
    return world->now_ns;
}

apns_reactor_world_strikes apns_reactor_world_struck(const apns_reactor_world *world) {
    return world->strikes;
}

uint64_t apns_reactor_world_digest(const apns_reactor_world *world) {
    return world->digest;
}

void apns_reactor_world_faults_set(apns_reactor_world *world, const apns_reactor_world_faults *faults) {
    world->options.faults = faults == NULL ? (apns_reactor_world_faults){0} : *faults;
    if (faults != NULL) return;
    for (uint32_t i = 0; i < world->link_count; i++)
        if (world->links[i]->used) apns_sim_link_calm(world, world->links[i]);
}

void apns_reactor_world_stand_still(apns_reactor_world *world, uint32_t but, uint64_t span_ns) {
    for (uint32_t i = 0; i < world->member_count; i++)
        if (i != but) world->members[i].stands_until_ns = world->now_ns + span_ns;
}

/* ---------------------------------------------------------------- whose turn it is */

static uint64_t min(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint32_t number_of(const apns_reactor *r) {
    return sim_state_of(r)->number;
}

/* Stores in due the time until which each reactor has no work. */
static void due_collect(const apns_reactor_world *world, uint64_t *due) {
    for (uint32_t i = 0; i < world->member_count; i++) {
        const struct sim_member *member = &world->members[i];
        due[i] = member->reactor == NULL ? REACTOR_NEVER : member->due_ns;
        if (member->reactor == NULL) continue;
        bool woken = atomic_load_explicit(&member->reactor->wake.state, memory_order_relaxed) == REACTOR_WAKE_PENDING;
        if (woken) due[i] = world->now_ns;
    }
    for (uint32_t i = 0; i < world->link_count; i++) {
        const struct sim_link *link = world->links[i];
        if (!link->used) continue;
        for (uint32_t side = 0; side < 2; side++) {
            const apns_reactor *r = link->sides[side].reactor;
            if (r != NULL) due[number_of(r)] = min(due[number_of(r)], apns_sim_side_due(link, side, world->now_ns));
        }
    }
    for (uint32_t i = 0; i < world->listener_count; i++) {
        const struct sim_listener *listener = &world->listeners[i];
        if (listener->reactor == NULL || reactor_slots_full(&listener->reactor->slots)) continue;
        uint64_t *its = &due[number_of(listener->reactor)];
        for (uint32_t j = 0; j < listener->backlog_count; j++)
            *its = min(*its, listener->backlog[j].at_ns);
    }
}

int64_t apns_reactor_world_next(apns_reactor_world *world) {
    uint64_t due[64]; /* only long runs have had more members */
    uint64_t *all = world->member_count <= 64 ? due : calloc(world->member_count, sizeof(*all));
    if (all == NULL) return -1;
    due_collect(world, all);
    uint64_t first = REACTOR_NEVER;
    uint32_t equal = 0;
    int64_t chosen = -1;
    for (uint32_t i = 0; i < world->member_count; i++) {
        uint64_t at = all[i] == REACTOR_NEVER || all[i] > world->now_ns ? all[i] : world->now_ns;
        if (at < world->members[i].stands_until_ns) at = world->members[i].stands_until_ns;
        if (at == REACTOR_NEVER || at > first) continue;
        equal = at < first ? 1 : equal + 1;
        first = at;
        /* If several reactors are due at the same time, each is equally likely. */
        if (equal == 1 || sim_random_below(world, equal) == 0) chosen = (int64_t)i;
    }
    if (all != due) free(all);
    if (chosen >= 0) world->now_ns = first + sim_random_below(world, TURN_NS_MAX);
    return chosen;
}

/* ---------------------------------------------------------------- digest and trace */

static void digest_add(apns_reactor_world *world, uint64_t value) {
    uint64_t z = (world->digest ^ value) * 0xFF51AFD7ED558CCDU;
    world->digest = z ^ (z >> 33);
}

static void digest_bytes(apns_reactor_world *world, const uint8_t *bytes, uint32_t length) {
    for (uint32_t i = 0; i < length; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, length - i < 8 ? length - i : 8);
        digest_add(world, word);
    }
}

static const char *const kinds[] = {"", "connected", "accepted", "received", "sent", "closed", "woken"};

void apns_sim_note(const apns_reactor *r, const apns_reactor_event *event) {
    apns_reactor_world *world = sim_state_of(r)->world;
    digest_add(world, world->now_ns);
    digest_add(world, (uint64_t)event->kind << 48 ^ (uint64_t)number_of(r) << 40 ^ event->socket);
    digest_add(world, (uint64_t)(uint32_t)event->error << 32 | event->length);
    if (event->kind == APNS_REACTOR_RECEIVED && event->length > 0) digest_bytes(world, event->bytes, event->length);
    if (world->options.trace < 0) return;
    dprintf(world->options.trace, "%12.6f ms reactor %u socket %u.%u %s %u bytes error %d\n",
            (double)(world->now_ns - world->options.start_ns) / 1e6, number_of(r), (uint32_t)event->socket,
            (uint32_t)(event->socket >> 32), kinds[event->kind], event->length, event->error);
}
