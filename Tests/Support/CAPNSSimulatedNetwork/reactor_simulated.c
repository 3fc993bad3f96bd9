#include "reactor_platform.h"

#include "reactor_simulated.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* Value of reactor_slot.active: the descriptor is the number of a listener. */
enum { SLOT_LISTENER = 1 };

/* ---------------------------------------------------------------- creation */

static int member_add(apns_reactor_world *world, apns_reactor *r, uint32_t *number) {
    if (world->member_count == world->member_capacity) {
        uint32_t capacity = world->member_capacity == 0 ? 8 : world->member_capacity * 2;
        struct sim_member *members = realloc(world->members, capacity * sizeof(*members));
        if (members == NULL) return -ENOMEM;
        world->members = members;
        world->member_capacity = capacity;
    }
    *number = world->member_count++;
    world->members[*number] = (struct sim_member){.reactor = r};
    return 0;
}

static int create(apns_reactor *r, const apns_reactor_options *options) {
    struct sim_state *s = calloc(1, sizeof(*s));
    if (s == NULL) return -ENOMEM;
    s->world = r->backend_state;
    s->buffer_bytes = options->receive_buffer_bytes;
    s->buffer_count = options->receive_buffer_count < 2 ? 2 : options->receive_buffer_count;
    s->buffers = malloc((size_t)s->buffer_bytes * s->buffer_count);
    int status = s->buffers == NULL ? -ENOMEM : member_add(s->world, r, &s->number);
    if (status < 0) {
        free(s->buffers);
        free(s);
        return status;
    }
    r->backend_state = s;
    return 0;
}

static void destroy(apns_reactor *r) {
    struct sim_state *s = sim_state_of(r);
    s->world->members[s->number].reactor = NULL;
    free(s->buffers);
    free(s);
    r->backend_state = NULL;
}

static uint64_t now_ns(const apns_reactor *r) {
    return sim_state_of(r)->world->now_ns;
}

/* ---------------------------------------------------------------- sockets */

static struct sim_link *link_of(apns_reactor_world *world, const struct reactor_slot *slot, uint32_t *side) {
    *side = (uint32_t)slot->descriptor & 1;
    return world->links[slot->descriptor >> 1];
}

static int port_of(const struct sockaddr *address, socklen_t length) {
    if (address->sa_family == AF_INET && length >= sizeof(struct sockaddr_in))
        return ntohs(((const struct sockaddr_in *)(const void *)address)->sin_port);
    if (address->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6))
        return ntohs(((const struct sockaddr_in6 *)(const void *)address)->sin6_port);
    return address->sa_family == AF_INET || address->sa_family == AF_INET6 ? -EINVAL : -EAFNOSUPPORT;
}

static int connect_start(apns_reactor *r, struct reactor_slot *slot, const struct sockaddr *address, socklen_t length) {
    int port = port_of(address, length);
    if (port < 0) return port;
    uint32_t number = 0;
    uint32_t index = reactor_slot_index(&r->slots, slot);
    if (apns_sim_link_begin(sim_state_of(r)->world, r, index, (uint16_t)port, &number) == NULL) return -ENOMEM;
    slot->descriptor = (int32_t)(number << 1 | SIM_CLIENT);
    return 0;
}

static struct sim_listener *listener_take(apns_reactor_world *world, uint32_t *number) {
    for (uint32_t i = 0; i < world->listener_count; i++) {
        *number = i;
        if (world->listeners[i].reactor == NULL) return &world->listeners[i];
    }
    struct sim_listener *listeners = realloc(world->listeners, (world->listener_count + 1) * sizeof(*world->listeners));
    if (listeners == NULL) return NULL;
    world->listeners = listeners;
    *number = world->listener_count;
    return &world->listeners[world->listener_count++];
}

static int listen_start(apns_reactor *r, struct reactor_slot *slot, const struct sockaddr *address, socklen_t length,
                        uint32_t backlog) {
    (void)backlog;
    apns_reactor_world *world = sim_state_of(r)->world;
    int port = port_of(address, length);
    if (port < 0) return port;
    for (uint32_t i = 0; port != 0 && i < world->listener_count; i++)
        if (world->listeners[i].reactor != NULL && world->listeners[i].port == port) return -EADDRINUSE;
    uint32_t number = 0;
    struct sim_listener *listener = listener_take(world, &number);
    if (listener == NULL) return -ENOMEM;
    *listener = (struct sim_listener){
        .reactor = r,
        .slot = reactor_slot_index(&r->slots, slot),
        .port = port != 0 ? (uint16_t)port : world->next_port++,
    };
    slot->descriptor = (int32_t)number;
    slot->active = SLOT_LISTENER;
    return 0;
}

static int local_port(const apns_reactor *r, const struct reactor_slot *slot) {
    if (slot->state != REACTOR_SLOT_LISTENING) return 40000 + slot->descriptor % 20000;
    return sim_state_of(r)->world->listeners[slot->descriptor].port;
}

/* The next wait takes the bytes. */
static void send_start(apns_reactor *r, struct reactor_slot *slot) {
    (void)r;
    (void)slot;
}

static void listener_close(apns_reactor_world *world, struct sim_listener *listener) {
    for (uint32_t i = 0; i < listener->backlog_count; i++) {
        struct sim_link *link = world->links[listener->backlog[i].link];
        apns_sim_link_leave(world, link, SIM_SERVER);
    }
    listener->reactor = NULL;
}

/* The next wait closes the socket. Until then the bytes being sent may still be read, as by a kernel. The link keeps
 * their description, because apns_reactor_close removes it from the slot. */
static void close_start(apns_reactor *r, struct reactor_slot *slot) {
    apns_reactor_world *world = sim_state_of(r)->world;
    if (slot->active == SLOT_LISTENER) {
        listener_close(world, &world->listeners[slot->descriptor]);
        apns_reactor_slots_close(&r->slots, slot);
        return;
    }
    uint32_t side;
    struct sim_link *link = link_of(world, slot, &side);
    link->sides[side].state = SIM_SIDE_CLOSING;
}

static bool accept_resume(apns_reactor *r, struct reactor_slot *slot) {
    (void)r;
    (void)slot;
    return true;
}

static void wake(apns_reactor *r) {
    (void)r; /* the world checks the state of the wake */
}

/* ---------------------------------------------------------------- waiting */

/* Sends the last bytes of an abandoned send in some cases, and closes the side. */
static void join(apns_reactor *r, struct sim_link *link, uint32_t side) {
    apns_reactor_world *world = sim_state_of(r)->world;
    struct sim_side *own = &link->sides[side];
    struct reactor_slot *slot = &r->slots.all[own->slot];
    if (slot->send_done < slot->send_length && own->error == 0 && sim_chance(world, 500000))
        apns_sim_link_take(world, link, side);
    apns_sim_link_leave(world, link, side);
    apns_reactor_slots_close(&r->slots, slot);
}

static uint8_t *buffer_next(struct sim_state *s) {
    uint32_t half = s->buffer_count / 2;
    if (s->buffer_used == half) return NULL;
    uint32_t number = (s->upper_half ? half : 0) + s->buffer_used++;
    return s->buffers + (size_t)number * s->buffer_bytes;
}

/* Overwrites the beginning of the buffers that the last wait returned, so that later reads of them are detected. */
static void buffers_turn(struct sim_state *s) {
    uint32_t half = s->buffer_count / 2;
    uint8_t *old = s->buffers + (s->upper_half ? (size_t)half * s->buffer_bytes : 0);
    for (uint32_t i = 0; i < s->buffer_used; i++)
        memset(old + (size_t)i * s->buffer_bytes, 0xDD, 64);
    s->upper_half = !s->upper_half;
    s->buffer_used = 0;
}

static uint32_t tell(apns_reactor *r, struct sim_side *own, uint32_t kind, apns_reactor_event *event) {
    *event = reactor_event_make(&r->slots.all[own->slot], own->slot, kind);
    return 1;
}

static uint32_t tell_connected(apns_reactor *r, struct sim_side *own, apns_reactor_event *event) {
    struct reactor_slot *slot = &r->slots.all[own->slot];
    own->state = SIM_SIDE_OPEN;
    tell(r, own, APNS_REACTOR_CONNECTED, event);
    event->error = own->error;
    slot->state = own->error == 0 ? REACTOR_SLOT_OPEN : REACTOR_SLOT_FAILED;
    if (own->error != 0) own->ended = true;
    return 1;
}

static uint32_t tell_sent(apns_reactor *r, struct sim_side *own, int error, apns_reactor_event *event) {
    struct reactor_slot *slot = &r->slots.all[own->slot];
    slot->sending = false;
    tell(r, own, APNS_REACTOR_SENT, event);
    event->length = slot->send_done;
    event->error = error;
    return 1;
}

static uint32_t serve_sending(apns_reactor *r, struct sim_link *link, uint32_t side, apns_reactor_event *event) {
    struct sim_side *own = &link->sides[side];
    struct reactor_slot *slot = &r->slots.all[own->slot];
    apns_reactor_world *world = sim_state_of(r)->world;
    if (!slot->sending) return 0;
    if (own->error != 0 && own->event_ns <= world->now_ns) return tell_sent(r, own, own->error, event);
    apns_sim_link_take(world, link, side);
    return slot->send_done == slot->send_length ? tell_sent(r, own, 0, event) : 0;
}

/* Returns received bytes first, and then the end or the error. */
static uint32_t serve_receiving(apns_reactor *r, struct sim_link *link, uint32_t side, apns_reactor_event *event) {
    struct sim_state *s = sim_state_of(r);
    struct sim_side *own = &link->sides[side];
    struct sim_flow *flow = &link->flows[!side];
    apns_sim_flow_arrive(flow, s->world->now_ns);
    if (flow->arrived > 0) {
        uint8_t *buffer = buffer_next(s);
        if (buffer == NULL) return 0;
        tell(r, own, APNS_REACTOR_RECEIVED, event);
        event->bytes = buffer;
        event->length = apns_sim_link_read(s->world, link, side, buffer, s->buffer_bytes);
        return 1;
    }
    bool failed = own->error != 0 && own->event_ns <= s->world->now_ns;
    bool ended = !flow->silent && flow->segments_count == 0 && flow->end_ns <= s->world->now_ns;
    if (own->ended || (!failed && !ended)) return 0;
    own->ended = true;
    tell(r, own, APNS_REACTOR_RECEIVED, event);
    event->error = failed ? own->error : 0;
    return 1;
}

/* Returns at most two events. */
static uint32_t serve(apns_reactor *r, struct sim_link *link, uint32_t side, apns_reactor_event *events,
                      uint32_t capacity) {
    struct sim_side *own = &link->sides[side];
    uint64_t now = sim_state_of(r)->world->now_ns;
    if (own->state == SIM_SIDE_CONNECTING)
        return own->event_ns <= now && capacity > 0 ? tell_connected(r, own, events) : 0;
    if (own->state != SIM_SIDE_OPEN || r->slots.all[own->slot].state != REACTOR_SLOT_OPEN) return 0;
    uint32_t n = capacity > 0 ? serve_sending(r, link, side, events) : 0;
    return n + (n < capacity ? serve_receiving(r, link, side, events + n) : 0);
}

/* ---------------------------------------------------------------- accepting */

static bool adopt(apns_reactor *r, const struct sim_listener *listener, uint32_t number, apns_reactor_event *event) {
    apns_reactor_world *world = sim_state_of(r)->world;
    struct sim_link *link = world->links[number];
    const uint64_t context = r->slots.all[listener->slot].context;
    struct reactor_slot *slot = apns_reactor_slots_take(&r->slots, REACTOR_SLOT_OPEN, context);
    if (slot == NULL) return false;
    slot->descriptor = (int32_t)(number << 1 | SIM_SERVER);
    struct sim_side *own = &link->sides[SIM_SERVER];
    own->reactor = r;
    own->slot = reactor_slot_index(&r->slots, slot);
    own->state = SIM_SIDE_OPEN;
    tell(r, own, APNS_REACTOR_ACCEPTED, event);
    return true;
}

static uint32_t accept_next(apns_reactor *r, struct sim_listener *listener, apns_reactor_event *events,
                            uint32_t capacity) {
    uint64_t now = sim_state_of(r)->world->now_ns;
    uint32_t n = 0;
    for (uint32_t i = 0; i < listener->backlog_count && n < capacity;) {
        if (listener->backlog[i].at_ns > now) {
            i++;
            continue;
        }
        if (!adopt(r, listener, listener->backlog[i].link, &events[n])) break;
        n++;
        memmove(&listener->backlog[i], &listener->backlog[i + 1],
                (listener->backlog_count - i - 1) * sizeof(listener->backlog[0]));
        listener->backlog_count--;
    }
    return n;
}

/* ---------------------------------------------------------------- one wait */

static void join_closing(apns_reactor *r) {
    apns_reactor_world *world = sim_state_of(r)->world;
    for (uint32_t i = 0; i < world->link_count; i++)
        for (uint32_t side = 0; world->links[i]->used && side < 2; side++) {
            const struct sim_side *own = &world->links[i]->sides[side];
            if (own->reactor == r && own->state == SIM_SIDE_CLOSING) join(r, world->links[i], side);
        }
}

static uint32_t serve_links(apns_reactor *r, apns_reactor_event *events, uint32_t capacity) {
    apns_reactor_world *world = sim_state_of(r)->world;
    uint32_t n = 0;
    uint32_t first = world->link_count > 0 ? (uint32_t)sim_random_below(world, world->link_count) : 0;
    for (uint32_t i = 0; i < world->link_count; i++) {
        struct sim_link *link = world->links[(first + i) % world->link_count];
        for (uint32_t side = 0; link->used && side < 2; side++)
            if (link->sides[side].reactor == r) n += serve(r, link, side, events + n, capacity - n);
    }
    return n;
}

static uint32_t serve_listeners(apns_reactor *r, apns_reactor_event *events, uint32_t capacity) {
    apns_reactor_world *world = sim_state_of(r)->world;
    uint32_t n = 0;
    for (uint32_t i = 0; i < world->listener_count; i++)
        if (world->listeners[i].reactor == r) n += accept_next(r, &world->listeners[i], events + n, capacity - n);
    return n;
}

/* Never sleeps. Stores the time until which it would. */
static int wait_for_events(apns_reactor *r, const struct reactor_plan *plan, apns_reactor_event *events,
                           uint32_t capacity) {
    struct sim_state *s = sim_state_of(r);
    buffers_turn(s);
    join_closing(r);
    uint32_t n = serve_listeners(r, events, capacity);
    n += serve_links(r, events + n, capacity - n);
    for (uint32_t i = 0; i < n; i++)
        apns_sim_note(r, &events[i]);
    s->world->members[s->number].due_ns = n > 0 ? plan->now_ns : plan->until_ns;
    return n > 0 || plan->until_ns <= plan->now_ns ? (int)n : -EINTR;
}

static const struct reactor_backend_table simulated_table = {
    .kind = APNS_REACTOR_BACKEND_OTHER,
    .create = create,
    .destroy = destroy,
    .now_ns = now_ns,
    .connect = connect_start,
    .listen = listen_start,
    .local_port = local_port,
    .send = send_start,
    .close = close_start,
    .accept_resume = accept_resume,
    .wake = wake,
    .wait = wait_for_events,
};

int apns_reactor_world_join(apns_reactor_world *world, const apns_reactor_options *options, apns_reactor **out) {
    return apns_reactor_open_with(&simulated_table, world, options, out);
}
