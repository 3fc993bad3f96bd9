/*
 * reactor_simulated: declarations that the files of the simulated back end share.
 *
 * A world has links and listeners. A link is a connection, which has two sides and a flow of bytes from each side to
 * the other. A side belongs to the socket of a reactor until that is closed. A link is free again when both sides are
 * gone. The descriptor of a slot is the number of its link times two plus the number of its side, or the number of its
 * listener.
 */
#pragma once

#include "apns_reactor_world.h"
#include "reactor_internal.h"

enum { SIM_CLIENT = 0, SIM_SERVER = 1 };

#define SIM_SEGMENTS 32U
#define SIM_BACKLOG 64U

/* A number of bytes that will arrive at this time. */
struct sim_segment {
    uint64_t at_ns;
    uint32_t bytes;
    uint32_t reserved;
};

/* The flow of bytes in one direction. */
struct sim_flow {
    uint8_t *bytes; /* a ring buffer */
    uint32_t capacity;
    uint32_t head;
    uint32_t held;    /* number of bytes accepted from the sender and not yet read */
    uint32_t arrived; /* number of these bytes that can be read */
    uint64_t taken;   /* number of bytes accepted in all */
    struct sim_segment segments[SIM_SEGMENTS];
    uint32_t segments_first;
    uint32_t segments_count;
    uint64_t last_ns; /* bytes that are sent later do not arrive earlier */
    uint64_t end_ns;  /* time at which the end of the stream arrives, after all bytes; REACTOR_NEVER if there is none */
    bool silent;      /* no more bytes arrive */
    bool over;        /* bytes that are sent are dropped, because the link was reset or cut */
};

enum sim_side_state {
    SIM_SIDE_NONE = 0,   /* of a server: not accepted yet */
    SIM_SIDE_CONNECTING, /* of a client */
    SIM_SIDE_OPEN,
    SIM_SIDE_CLOSING, /* apns_reactor_close was called */
    SIM_SIDE_GONE,
};

struct sim_side {
    apns_reactor *reactor;
    uint32_t slot;
    uint32_t state;    /* an enum sim_side_state */
    uint64_t event_ns; /* time of CONNECTED or of the error */
    int32_t error;     /* error of the connection from event_ns on; 0 for none */
    bool ended;        /* the end or an error was reported */
};

enum sim_fault { SIM_FAULT_NONE = 0, SIM_FAULT_RESET, SIM_FAULT_CUT, SIM_FAULT_SILENT };

struct sim_link {
    bool used;
    uint8_t fault;      /* an enum sim_fault */
    uint8_t fault_side; /* side whose bytes are counted */
    uint64_t fault_at;  /* number of bytes after which the fault occurs */
    uint64_t delay_ns;  /* delay in one direction */
    uint64_t byte_ns;   /* time per byte of a slow link */
    struct sim_side sides[2];
    struct sim_flow flows[2]; /* indexed by sender */
};

struct sim_arrival {
    uint64_t at_ns;
    uint32_t link;
    uint32_t reserved;
};

struct sim_listener {
    apns_reactor *reactor; /* NULL if free */
    uint32_t slot;
    uint16_t port;
    uint32_t backlog_count;
    struct sim_arrival backlog[SIM_BACKLOG]; /* in the order of the attempts */
};

struct sim_member {
    apns_reactor *reactor;    /* NULL if destroyed */
    uint64_t due_ns;          /* time until which it would sleep */
    uint64_t stands_until_ns; /* time until which it does not run */
};

struct apns_reactor_world {
    uint64_t now_ns;
    uint64_t random;
    uint64_t digest;
    struct apns_reactor_world_options options;
    apns_reactor_world_strikes strikes;
    struct sim_link **links;
    uint32_t link_count;
    uint32_t link_capacity;
    struct sim_listener *listeners;
    uint32_t listener_count;
    struct sim_member *members;
    uint32_t member_count;
    uint32_t member_capacity;
    uint16_t next_port;
};

/* The state of one reactor. */
struct sim_state {
    apns_reactor_world *world;
    uint32_t number;
    uint32_t buffer_bytes;
    uint8_t *buffers; /* receive buffers: one half for this wait, the other half was returned by the last one */
    uint32_t buffer_count;
    uint32_t buffer_used;
    bool upper_half;
};

static inline struct sim_state *sim_state_of(const apns_reactor *r) {
    return r->backend_state;
}

/* ---- reactor_world.c */

/* Returns the next number of the world's generator. */
uint64_t apns_sim_random(apns_reactor_world *world);

/* Returns a number from 0 to limit - 1. limit is at least 1. */
static inline uint64_t sim_random_below(apns_reactor_world *world, uint64_t limit) {
    return apns_sim_random(world) % limit;
}

/* Returns true with this probability. */
static inline bool sim_chance(apns_reactor_world *world, uint32_t millionths) {
    return millionths > 0 && sim_random_below(world, 1000000) < millionths;
}

/* Adds an event to the digest and the trace. */
void apns_sim_note(const apns_reactor *r, const apns_reactor_event *event);

/* ---- reactor_simulated_link.c */

/* Begins a link from a client's slot to a port. Returns NULL if memory is short. */
struct sim_link *apns_sim_link_begin(apns_reactor_world *world, apns_reactor *client, uint32_t slot, uint16_t port,
                                     uint32_t *number);

/* Frees the memory of a link. */
void apns_sim_link_free(struct sim_link *link);

/* Takes as many as possible of the bytes that a side's slot sends. */
void apns_sim_link_take(apns_reactor_world *world, struct sim_link *link, uint32_t side);

/* Reads up to capacity bytes that have arrived for a side. */
uint32_t apns_sim_link_read(apns_reactor_world *world, struct sim_link *link, uint32_t side, uint8_t *into,
                            uint32_t capacity);

/* Makes the bytes readable that have arrived by now. */
void apns_sim_flow_arrive(struct sim_flow *flow, uint64_t now_ns);

/* Closes a side. The other side receives the end of the stream or an error. */
void apns_sim_link_leave(apns_reactor_world *world, struct sim_link *link, uint32_t side);

/* Returns the time at which there is an event or work for a side, or REACTOR_NEVER. */
uint64_t apns_sim_side_due(const struct sim_link *link, uint32_t side, uint64_t now_ns);

/* Removes faults that have not occurred, and lets stalled bytes arrive. */
void apns_sim_link_calm(apns_reactor_world *world, struct sim_link *link);
