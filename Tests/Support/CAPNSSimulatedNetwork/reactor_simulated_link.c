#include "reactor_platform.h"

#include "reactor_simulated.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define US 1000U

/* ---------------------------------------------------------------- making */

static struct sim_link *link_take(apns_reactor_world *world, uint32_t *number) {
    for (uint32_t i = 0; i < world->link_count; i++) {
        if (world->links[i]->used) continue;
        *number = i;
        return world->links[i];
    }
    if (world->link_count == world->link_capacity) {
        uint32_t capacity = world->link_capacity == 0 ? 16 : world->link_capacity * 2;
        struct sim_link **links = realloc(world->links, capacity * sizeof(struct sim_link *));
        if (links == NULL) return NULL;
        world->links = links;
        world->link_capacity = capacity;
    }
    struct sim_link *link = calloc(1, sizeof(*link));
    if (link == NULL) return NULL;
    *number = world->link_count;
    return world->links[world->link_count++] = link;
}

void apns_sim_link_free(struct sim_link *link) {
    free(link->flows[0].bytes);
    free(link->flows[1].bytes);
    free(link);
}

static bool flow_make(apns_reactor_world *world, struct sim_flow *flow) {
    const struct apns_reactor_world_options *options = &world->options;
    uint8_t *bytes = flow->bytes != NULL ? flow->bytes : malloc(options->buffer_bytes_max);
    if (bytes == NULL) return false;
    uint32_t range = options->buffer_bytes_max - options->buffer_bytes_min + 1;
    *flow = (struct sim_flow){
        .bytes = bytes,
        .capacity = options->buffer_bytes_min + (uint32_t)sim_random_below(world, range),
        .end_ns = REACTOR_NEVER,
    };
    return true;
}

/* Chooses the fault of a link and its position. */
static void fault_draw(apns_reactor_world *world, struct sim_link *link) {
    const apns_reactor_world_faults *faults = &world->options.faults;
    uint64_t place = sim_random_below(world, 1000000);
    uint64_t reset = faults->reset;
    uint64_t cut = reset + faults->cut;
    uint64_t silent = cut + faults->silent;
    link->fault = place < reset    ? SIM_FAULT_RESET
                  : place < cut    ? SIM_FAULT_CUT
                  : place < silent ? SIM_FAULT_SILENT
                                   : SIM_FAULT_NONE;
    link->fault_side = (uint8_t)sim_random_below(world, 2);
    link->fault_at = faults->fault_bytes == 0 ? 0 : sim_random_below(world, faults->fault_bytes);
}

static struct sim_listener *listener_find(apns_reactor_world *world, uint16_t port) {
    for (uint32_t i = 0; i < world->listener_count; i++)
        if (world->listeners[i].reactor != NULL && world->listeners[i].port == port) return &world->listeners[i];
    return NULL;
}

/* Sends the connection attempt to the listener, if there is one, and schedules the answer. */
static void attempt(apns_reactor_world *world, struct sim_link *link, uint32_t number, uint16_t port) {
    struct sim_side *client = &link->sides[SIM_CLIENT];
    struct sim_listener *listener = listener_find(world, port);
    uint64_t there_ns = world->now_ns + link->delay_ns;
    client->event_ns = there_ns + link->delay_ns;
    if (sim_chance(world, world->options.faults.unanswered)) {
        world->strikes.unanswered++;
        client->event_ns = REACTOR_NEVER;
        link->sides[SIM_SERVER].state = SIM_SIDE_GONE;
        return;
    }
    bool refused = sim_chance(world, world->options.faults.refused);
    world->strikes.refused += refused;
    if (refused || listener == NULL || listener->backlog_count == SIM_BACKLOG) {
        client->error = ECONNREFUSED;
        link->sides[SIM_SERVER].state = SIM_SIDE_GONE;
        return;
    }
    listener->backlog[listener->backlog_count++] = (struct sim_arrival){.at_ns = there_ns, .link = number};
}

struct sim_link *apns_sim_link_begin(apns_reactor_world *world, apns_reactor *client, uint32_t slot, uint16_t port,
                                     uint32_t *number) {
    struct sim_link *link = link_take(world, number);
    if (link == NULL || !flow_make(world, &link->flows[0]) || !flow_make(world, &link->flows[1])) return NULL;
    link->used = true;
    link->delay_ns = (1 + sim_random_below(world, world->options.delay_us_max)) * US;
    link->byte_ns = sim_chance(world, world->options.slow) ? 10000 + sim_random_below(world, 90000) : 0;
    world->strikes.connections++;
    world->strikes.slow += link->byte_ns > 0;
    link->sides[SIM_CLIENT] = (struct sim_side){.reactor = client, .slot = slot, .state = SIM_SIDE_CONNECTING};
    link->sides[SIM_SERVER] = (struct sim_side){.event_ns = REACTOR_NEVER};
    fault_draw(world, link);
    attempt(world, link, *number, port);
    return link;
}

/* ---------------------------------------------------------------- faults */

static void fail(struct sim_side *side, int error, uint64_t at_ns) {
    if (side->error != 0 || side->state == SIM_SIDE_GONE) return;
    side->error = error;
    side->event_ns = at_ns;
}

/* Drops the bytes that have not arrived. */
static void flow_lose(struct sim_flow *flow) {
    flow->held = flow->arrived;
    flow->segments_count = 0;
}

static void flow_end(struct sim_flow *flow, uint64_t at_ns) {
    if (flow->end_ns == REACTOR_NEVER) flow->end_ns = at_ns > flow->last_ns ? at_ns : flow->last_ns;
}

static void strike(apns_reactor_world *world, struct sim_link *link) {
    uint64_t there_ns = world->now_ns + link->delay_ns;
    uint32_t which = (uint32_t)sim_random_below(world, 4);
    link->flows[0].over = link->flows[1].over = link->fault != SIM_FAULT_SILENT;
    switch (link->fault) {
    case SIM_FAULT_RESET:
        world->strikes.reset++;
        for (uint32_t side = 0; side < 2; side++) {
            if ((which >> side & 1) != 0) flow_lose(&link->flows[side]);
            fail(&link->sides[side], ECONNRESET,
                 there_ns > link->flows[!side].last_ns ? there_ns : link->flows[!side].last_ns);
        }
        break;
    case SIM_FAULT_CUT:
        world->strikes.cut++;
        flow_end(&link->flows[0], there_ns);
        flow_end(&link->flows[1], there_ns);
        break;
    case SIM_FAULT_SILENT:
        world->strikes.silent++;
        link->flows[link->fault_side].silent = true;
        link->flows[!link->fault_side].silent = which != 0;
        break;
    default:
        break;
    }
    link->fault = SIM_FAULT_NONE;
}

void apns_sim_link_calm(apns_reactor_world *world, struct sim_link *link) {
    link->fault = SIM_FAULT_NONE;
    link->byte_ns = 0;
    uint64_t latest_ns = world->now_ns + link->delay_ns;
    for (uint32_t side = 0; side < 2; side++) {
        struct sim_flow *flow = &link->flows[side];
        for (uint32_t i = 0; i < flow->segments_count; i++) {
            struct sim_segment *segment = &flow->segments[(flow->segments_first + i) % SIM_SEGMENTS];
            if (segment->at_ns > latest_ns) segment->at_ns = latest_ns;
        }
        if (flow->last_ns > latest_ns) flow->last_ns = latest_ns;
        if (flow->end_ns != REACTOR_NEVER && flow->end_ns > latest_ns) flow->end_ns = latest_ns;
    }
}

/* ---------------------------------------------------------------- bytes */

static void segment_add(struct sim_flow *flow, uint64_t at_ns, uint32_t bytes) {
    flow->last_ns = at_ns;
    if (flow->segments_count == SIM_SEGMENTS) {
        struct sim_segment *last = &flow->segments[(flow->segments_first + SIM_SEGMENTS - 1) % SIM_SEGMENTS];
        last->at_ns = at_ns;
        last->bytes += bytes;
        return;
    }
    uint32_t place = (flow->segments_first + flow->segments_count++) % SIM_SEGMENTS;
    flow->segments[place] = (struct sim_segment){.at_ns = at_ns, .bytes = bytes};
}

static uint64_t arrival(apns_reactor_world *world, const struct sim_link *link, const struct sim_flow *flow,
                        uint32_t bytes) {
    uint64_t at_ns = world->now_ns + link->delay_ns;
    if (sim_chance(world, world->options.faults.stalled)) {
        world->strikes.stalled++;
        at_ns += sim_random_below(world, (uint64_t)world->options.faults.stall_us + 1) * US;
    }
    if (at_ns < flow->last_ns) at_ns = flow->last_ns;
    return at_ns + bytes * link->byte_ns;
}

static void flow_write(struct sim_flow *flow, const uint8_t *bytes, uint32_t count) {
    uint32_t tail = (flow->head + flow->held) % flow->capacity;
    uint32_t first = flow->capacity - tail < count ? flow->capacity - tail : count;
    memcpy(flow->bytes + tail, bytes, first);
    memcpy(flow->bytes, bytes + first, count - first);
    flow->held += count;
    flow->taken += count;
}

/* Returns how many of the bytes are before a fault. */
static uint32_t up_to_fault(const struct sim_link *link, uint32_t side, uint32_t count) {
    if (link->fault == SIM_FAULT_NONE || link->fault_side != side) return count;
    uint64_t left = link->fault_at > link->flows[side].taken ? link->fault_at - link->flows[side].taken : 0;
    return left < count ? (uint32_t)left : count;
}

void apns_sim_link_take(apns_reactor_world *world, struct sim_link *link, uint32_t side) {
    struct sim_flow *flow = &link->flows[side];
    struct reactor_slot *slot = &link->sides[side].reactor->slots.all[link->sides[side].slot];
    uint32_t count = slot->send_length - slot->send_done;
    if (count > flow->capacity - flow->held) count = flow->capacity - flow->held;
    if (count > 1 && sim_chance(world, world->options.pieces)) count = 1 + (uint32_t)sim_random_below(world, count);
    count = up_to_fault(link, side, count);
    if (link->sides[!side].state == SIM_SIDE_GONE && !flow->silent && count > 0)
        fail(&link->sides[side], ECONNRESET, world->now_ns + 2 * link->delay_ns); /* the other side is gone */
    if (flow->over) {
        slot->send_done += count;
    } else if (count > 0) {
        flow_write(flow, slot->send_bytes + slot->send_done, count);
        segment_add(flow, arrival(world, link, flow, count), count);
        slot->send_done += count;
    }
    if (link->fault != SIM_FAULT_NONE && link->fault_side == side && flow->taken >= link->fault_at) strike(world, link);
}

void apns_sim_flow_arrive(struct sim_flow *flow, uint64_t now_ns) {
    while (!flow->silent && flow->segments_count > 0 && flow->segments[flow->segments_first].at_ns <= now_ns) {
        flow->arrived += flow->segments[flow->segments_first].bytes;
        flow->segments_first = (flow->segments_first + 1) % SIM_SEGMENTS;
        flow->segments_count--;
    }
    assert(flow->arrived <= flow->held);
}

uint32_t apns_sim_link_read(apns_reactor_world *world, struct sim_link *link, uint32_t side, uint8_t *into,
                            uint32_t capacity) {
    struct sim_flow *flow = &link->flows[!side];
    uint32_t count = flow->arrived < capacity ? flow->arrived : capacity;
    if (count > 1 && sim_chance(world, world->options.pieces)) count = 1 + (uint32_t)sim_random_below(world, count);
    uint32_t first = flow->capacity - flow->head < count ? flow->capacity - flow->head : count;
    memcpy(into, flow->bytes + flow->head, first);
    memcpy(into + first, flow->bytes, count - first);
    flow->head = (flow->head + count) % flow->capacity;
    flow->held -= count;
    flow->arrived -= count;
    return count;
}

/* ---------------------------------------------------------------- closing */

/* An orderly close is an end of stream after all bytes. If bytes are unread, it may be a reset, as on Linux. */
void apns_sim_link_leave(apns_reactor_world *world, struct sim_link *link, uint32_t side) {
    struct sim_flow *in = &link->flows[!side];
    struct sim_flow *out = &link->flows[side];
    bool unread = in->held > 0;
    link->sides[side].state = SIM_SIDE_GONE;
    link->sides[side].reactor = NULL;
    in->held = in->arrived = in->segments_count = 0;
    uint64_t there_ns = world->now_ns + link->delay_ns;
    struct sim_side *other = &link->sides[!side];
    if (!out->silent && unread && sim_chance(world, 500000)) {
        if (sim_chance(world, 500000)) flow_lose(out);
        fail(other, ECONNRESET, there_ns > out->last_ns ? there_ns : out->last_ns);
    } else if (!out->silent) {
        flow_end(out, there_ns);
    }
    if (other->state == SIM_SIDE_GONE) link->used = false;
}

/* ---------------------------------------------------------------- time */

/* Returns the time at which a side can continue its send, or learns that it cannot. */
static uint64_t sending_due(const struct sim_link *link, uint32_t side, uint64_t now_ns) {
    const struct sim_side *own = &link->sides[side];
    if (!own->reactor->slots.all[own->slot].sending) return REACTOR_NEVER;
    if (link->flows[side].held < link->flows[side].capacity) return now_ns;
    return own->error != 0 ? own->event_ns : REACTOR_NEVER;
}

/* Returns the time of the next event from the other side. */
static uint64_t incoming_due(const struct sim_flow *flow, uint64_t now_ns) {
    if (flow->arrived > 0) return now_ns;
    if (flow->silent) return REACTOR_NEVER;
    if (flow->segments_count > 0) return flow->segments[flow->segments_first].at_ns;
    return flow->end_ns;
}

uint64_t apns_sim_side_due(const struct sim_link *link, uint32_t side, uint64_t now_ns) {
    const struct sim_side *own = &link->sides[side];
    switch (own->state) {
    case SIM_SIDE_CONNECTING:
        return own->event_ns;
    case SIM_SIDE_OPEN:
        if (own->ended) return sending_due(link, side, now_ns);
        return reactor_time_min(sending_due(link, side, now_ns),
                                reactor_time_min(own->error != 0 ? own->event_ns : REACTOR_NEVER,
                                                 incoming_due(&link->flows[!side], now_ns)));
    case SIM_SIDE_CLOSING:
        return now_ns;
    default:
        return REACTOR_NEVER;
    }
}
