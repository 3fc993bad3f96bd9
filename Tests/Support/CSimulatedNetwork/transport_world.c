#include "transport_world.h"
#include "reactor_world.h"

#include <stddef.h>

_Static_assert(sizeof(transport_world_options) == sizeof(reactor_world_options) &&
                   offsetof(transport_world_options, trace) == offsetof(reactor_world_options, trace) &&
                   offsetof(transport_world_options, faults) == offsetof(reactor_world_options, faults) &&
                   offsetof(transport_world_faults, fault_bytes) == offsetof(reactor_world_faults, fault_bytes),
               "options pass from one room to the other as they are");

/* A world of transports is one of reactors. */
static reactor_world *inner(const transport_world *world) {
    return (reactor_world *)(uintptr_t)world;
}

transport_world *transport_world_create(const transport_world_options *options) {
    return (transport_world *)reactor_world_create((const reactor_world_options *)(const void *)options);
}

void transport_world_destroy(transport_world *world) {
    reactor_world_destroy(inner(world));
}

uint64_t transport_world_now_ns(const transport_world *world) {
    return reactor_world_now_ns(inner(world));
}

int64_t transport_world_next(transport_world *world) {
    return reactor_world_next(inner(world));
}

void transport_world_faults_set(transport_world *world, const transport_world_faults *faults) {
    reactor_world_faults_set(inner(world), (const reactor_world_faults *)(const void *)faults);
}

void transport_world_stand_still(transport_world *world, uint32_t but, uint64_t span_ns) {
    reactor_world_stand_still(inner(world), but, span_ns);
}

uint64_t transport_world_digest(const transport_world *world) {
    return reactor_world_digest(inner(world));
}

transport_world_strikes transport_world_struck(const transport_world *world) {
    reactor_world_strikes from = reactor_world_struck(inner(world));
    return (transport_world_strikes){
        .connections = from.connections,
        .slow = from.slow,
        .refused = from.refused,
        .unanswered = from.unanswered,
        .reset = from.reset,
        .cut = from.cut,
        .silent = from.silent,
        .stalled = from.stalled,
    };
}

uint64_t transport_world_random(transport_world *world) {
    return reactor_world_random(inner(world));
}
