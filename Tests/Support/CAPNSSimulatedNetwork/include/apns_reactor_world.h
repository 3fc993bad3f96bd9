/*
 * apns_reactor_world: the network and the clock of simulated reactors and transports (APNS_REACTOR_BACKEND_OTHER). Some
 * reactors, clients and servers, live in one process and one thread; time is a number that moves when nothing is left
 * to do; every choice comes from the seed, so that a seed reproduces a run byte for byte. No kernel is involved.
 *
 * Model. A reactor of a world never sleeps: apns_reactor_wait returns 0 where another would wait, and the world
 * remembers until when. apns_reactor_world_next moves the time to the next thing that happens and says whose turn it
 * is:
 *
 *     while ((number = apns_reactor_world_next(world)) >= 0) run a turn of the reactor with this number;
 *
 * Network. Connections are made to the port of a listener in the same world, whatever the address. Bytes of one
 * direction arrive in order, after a delay, in pieces of any size; a direction holds so many bytes and then takes no
 * more. Faults are drawn for a connection when it is begun.
 *
 * Threads. A world and its reactors belong to one thread, but for apns_reactor_wake.
 */
#pragma once

#include "apns_reactor.h"
#include "apns_transport.h"

typedef struct apns_reactor_world apns_reactor_world;

/* How often what goes wrong; each in parts of a million. */
typedef struct apns_reactor_world_faults {
    uint32_t refused;     /* of connections: ECONNREFUSED */
    uint32_t unanswered;  /* of connections: no word ever about the attempt */
    uint32_t reset;       /* of connections: ECONNRESET for both ends at some byte; what was on its way may be lost */
    uint32_t cut;         /* of connections: an end of stream for both at some byte */
    uint32_t silent;      /* of connections: from some byte on nothing arrives, in one direction or in both, and nobody
                             says so */
    uint32_t stalled;     /* of pieces sent: that piece and all behind it come later */
    uint32_t stall_us;    /* at most so much later */
    uint32_t fault_bytes; /* the byte of a fault is one of so many */
} apns_reactor_world_faults;
_Static_assert(sizeof(apns_reactor_world_faults) == 32, "fixed layout");

typedef struct apns_reactor_world_options {
    uint64_t seed;
    uint64_t start_ns;         /* the first time */
    uint32_t delay_us_max;     /* one way */
    uint32_t slow;             /* of connections, in parts of a million: a link of some ten to hundred KB a second */
    uint32_t buffer_bytes_min; /* that a direction holds; drawn for each connection */
    uint32_t buffer_bytes_max;
    uint32_t pieces; /* of reads and writes, in parts of a million: shorter than they could be */
    int32_t trace;   /* a descriptor that gets a line for every event, or -1 */
    apns_reactor_world_faults faults;
} apns_reactor_world_options;
_Static_assert(sizeof(apns_reactor_world_options) == 72, "fixed layout");

/* How often what happened so far. */
typedef struct apns_reactor_world_strikes {
    uint64_t connections; /* attempts */
    uint64_t slow;
    uint64_t refused;
    uint64_t unanswered;
    uint64_t reset;
    uint64_t cut;
    uint64_t silent;
    uint64_t stalled;
} apns_reactor_world_strikes;
_Static_assert(sizeof(apns_reactor_world_strikes) == 64, "fixed layout");

/* options: borrowed until return. NULL when memory is short. */
apns_reactor_world *apns_reactor_world_create(const apns_reactor_world_options *options);

/* After all its reactors. NULL is allowed. */
void apns_reactor_world_destroy(apns_reactor_world *world);

uint64_t apns_reactor_world_now_ns(const apns_reactor_world *world);

/* Makes a reactor of this world, which must outlive it: as apns_reactor_create, whatever options->backend is. Reactors
 * are numbered from 0 in the order in which they are made. */
int apns_reactor_world_join(apns_reactor_world *world, const apns_reactor_options *options, apns_reactor **out);

/* Makes a transport over a reactor of this world: as apns_transport_create, whatever options->loop is. *number: that of
 * its reactor. apns_transport_poll returns there when nothing is left to do, also with nothing to report. Its
 * connections, and what servers make with apns_transport_server_tls_create, carry plain bytes in frames that stand for
 * TLS's records. */
int apns_reactor_world_transport(apns_reactor_world *world, const apns_transport_options *options, apns_transport **out,
                                 uint32_t *number, apns_error *error);

/* Moves the time and returns the number of the reactor whose turn it is; -1 when nothing would ever happen. */
int64_t apns_reactor_world_next(apns_reactor_world *world);

/* From now on. Connections that are open keep the faults drawn for them; with calm, those that have not struck yet are
 * forgotten, and stalled pieces arrive. faults: borrowed until return; NULL for none, and calm. */
void apns_reactor_world_faults_set(apns_reactor_world *world, const apns_reactor_world_faults *faults);

/* All reactors but one stand still for so long, as in a process that is stopped: none of them gets a turn, and the
 * network goes on. */
void apns_reactor_world_stand_still(apns_reactor_world *world, uint32_t but, uint64_t span_ns);

/* Of every event handed out so far, with its time and its bytes. */
uint64_t apns_reactor_world_digest(const apns_reactor_world *world);

apns_reactor_world_strikes apns_reactor_world_struck(const apns_reactor_world *world);
