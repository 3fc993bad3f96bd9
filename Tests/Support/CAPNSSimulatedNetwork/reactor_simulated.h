/*
 * reactor_simulated: what the files of the simulated back end share.
 *
 * A world holds links and listeners. A link is a connection: two sides, and a flow of bytes from each to the other. A
 * side belongs to a socket of some reactor, until that closes; a link whose sides are both gone is free again. A slot's
 * descriptor is its link's number times two, plus its side, or its listener's number.
 */
#pragma once

#include "apns_reactor_world.h"
#include "reactor_internal.h"

enum { SIM_CLIENT = 0, SIM_SERVER = 1 };

#define SIM_SEGMENTS 32U
#define SIM_BACKLOG 64U

/* Bytes on their way: so many arrive at that time. */
struct sim_segment {
    uint64_t at_ns;
    uint32_t bytes;
    uint32_t reserved;
};

/* One direction. */
struct sim_flow {
    uint8_t *bytes; /* a ring */
    uint32_t capacity;
    uint32_t head;
    uint32_t held;    /* taken from the sender and not yet read */
    uint32_t arrived; /* of these, what may be read */
    uint64_t taken;   /* ever */
    struct sim_segment segments[SIM_SEGMENTS];
    uint32_t segments_first;
    uint32_t segments_count;
    uint64_t last_ns; /* nothing sent later arrives earlier */
    uint64_t end_ns;  /* the end of the stream stands behind the bytes and arrives then; REACTOR_NEVER: not yet */
    bool silent;      /* nothing arrives any more */
    bool over;        /* nor is anything kept that is sent from now on: the link was reset or cut */
};

enum sim_side_state {
    SIM_SIDE_NONE = 0,   /* server: not accepted yet */
    SIM_SIDE_CONNECTING, /* client */
    SIM_SIDE_OPEN,
    SIM_SIDE_CLOSING, /* apns_reactor_close was called */
    SIM_SIDE_GONE,
};

struct sim_side {
    apns_reactor *reactor;
    uint32_t slot;
    uint32_t state;    /* enum sim_side_state */
    uint64_t event_ns; /* CONNECTED is due then, or the error */
    int32_t error;     /* of the connection from event_ns on; 0 for none */
    bool ended;        /* the end or an error was told */
};

enum sim_fault { SIM_FAULT_NONE = 0, SIM_FAULT_RESET, SIM_FAULT_CUT, SIM_FAULT_SILENT };

struct sim_link {
    bool used;
    uint8_t fault;      /* enum sim_fault */
    uint8_t fault_side; /* whose bytes are counted */
    uint64_t fault_at;  /* it strikes when so many were taken */
    uint64_t delay_ns;  /* one way */
    uint64_t byte_ns;   /* a slow link's time for a byte */
    struct sim_side sides[2];
    struct sim_flow flows[2]; /* by sender */
};

struct sim_arrival {
    uint64_t at_ns;
    uint32_t link;
    uint32_t reserved;
};

struct sim_listener {
    apns_reactor *reactor; /* NULL: free */
    uint32_t slot;
    uint16_t port;
    uint32_t backlog_count;
    struct sim_arrival backlog[SIM_BACKLOG]; /* in the order in which they began */
};

struct sim_member {
    apns_reactor *reactor;    /* NULL: gone */
    uint64_t due_ns;          /* until when it would sleep */
    uint64_t stands_until_ns; /* no turn before then */
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

/* A reactor's part. */
struct sim_state {
    apns_reactor_world *world;
    uint32_t number;
    uint32_t buffer_bytes;
    uint8_t *buffers; /* receive buffers: half of them for this wait, the others were handed out by the last one */
    uint32_t buffer_count;
    uint32_t buffer_used;
    bool upper_half;
};

static inline struct sim_state *sim_state_of(const apns_reactor *r) {
    return r->backend_state;
}

/* ---- reactor_world.c */

/* The next number of the world's generator. */
uint64_t apns_sim_random(apns_reactor_world *world);

/* From 0 up to and without limit, which is at least 1. */
static inline uint64_t sim_random_below(apns_reactor_world *world, uint64_t limit) {
    return apns_sim_random(world) % limit;
}

/* True so often in a million times. */
static inline bool sim_chance(apns_reactor_world *world, uint32_t millionths) {
    return millionths > 0 && sim_random_below(world, 1000000) < millionths;
}

/* Notes an event in the digest and the trace. */
void apns_sim_note(const apns_reactor *r, const apns_reactor_event *event);

/* ---- reactor_simulated_link.c */

/* A new link from a client's slot to a port; NULL when memory is short. */
struct sim_link *apns_sim_link_begin(apns_reactor_world *world, apns_reactor *client, uint32_t slot, uint16_t port,
                                     uint32_t *number);

/* Frees the memory of a link. */
void apns_sim_link_free(struct sim_link *link);

/* Takes what it can of the bytes that a side's slot sends. */
void apns_sim_link_take(apns_reactor_world *world, struct sim_link *link, uint32_t side);

/* Reads what has arrived for a side, up to capacity. */
uint32_t apns_sim_link_read(apns_reactor_world *world, struct sim_link *link, uint32_t side, uint8_t *into,
                            uint32_t capacity);

/* Moves what has arrived by now. */
void apns_sim_flow_arrive(struct sim_flow *flow, uint64_t now_ns);

/* A side's socket is closed: the other one learns it. */
void apns_sim_link_leave(apns_reactor_world *world, struct sim_link *link, uint32_t side);

/* When there is something to tell or to do for a side; REACTOR_NEVER for nothing. */
uint64_t apns_sim_side_due(const struct sim_link *link, uint32_t side, uint64_t now_ns);

/* Forgets faults that have not struck, and lets stalled bytes arrive. */
void apns_sim_link_calm(apns_reactor_world *world, struct sim_link *link);
