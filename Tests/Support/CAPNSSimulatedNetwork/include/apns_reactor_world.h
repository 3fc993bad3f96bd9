/*
 * apns_reactor_world: the network and the clock of simulated reactors and transports (APNS_REACTOR_BACKEND_OTHER).
 * Reactors of clients and servers run in one process and one thread. Time is a number that advances when no work is
 * left. Every choice is determined by the seed, so that a seed reproduces a run byte for byte. No kernel is involved.
 *
 * Model. A reactor of a world never sleeps. apns_reactor_wait returns 0 where another back end would wait, and the
 * world stores the time until which it would. apns_reactor_world_next advances the time to the next event and returns
 * which reactor must run:
 *
 *     while ((number = apns_reactor_world_next(world)) >= 0) run a turn of the reactor with this number;
 *
 * Network. Connections are made to the port of a listener in the same world, and the address is ignored. The bytes of
 * one direction arrive in order, after a delay, in pieces of any size. A direction holds a limited number of bytes. The
 * faults of a connection are chosen when it is begun.
 *
 * Threads. A world and its reactors belong to one thread, except for apns_reactor_wake.
 */
#pragma once

#include "apns_reactor.h"
#include "apns_transport.h"

typedef struct apns_reactor_world apns_reactor_world;

/* The probabilities of faults, in millionths. */
typedef struct apns_reactor_world_faults {
    uint32_t refused;     /* of connections: they end with ECONNREFUSED */
    uint32_t unanswered;  /* of connections: the attempt is never answered */
    uint32_t reset;       /* of connections: ECONNRESET for both ends at some byte; bytes on the way may be lost */
    uint32_t cut;         /* of connections: end of stream for both ends at some byte */
    uint32_t silent;      /* of connections: no byte after some byte arrives in one direction or in both, and no error
                             is reported */
    uint32_t stalled;     /* of pieces sent: the piece and all behind it are delayed */
    uint32_t stall_us;    /* maximum delay of a stalled piece */
    uint32_t fault_bytes; /* the byte at which a fault occurs is below this */
} apns_reactor_world_faults;
_Static_assert(sizeof(apns_reactor_world_faults) == 32, "fixed layout");

typedef struct apns_reactor_world_options {
    uint64_t seed;
    uint64_t start_ns;         /* initial time */
    uint32_t delay_us_max;     /* maximum delay in one direction */
    uint32_t slow;             /* of connections, in millionths: the link transfers about 10 to 100 KB per second */
    uint32_t buffer_bytes_min; /* capacity of a direction, chosen for each connection */
    uint32_t buffer_bytes_max;
    uint32_t pieces; /* of reads and writes, in millionths: they are shorter than possible */
    int32_t trace;   /* descriptor that receives a line for every event, or -1 */
    apns_reactor_world_faults faults;
} apns_reactor_world_options;
_Static_assert(sizeof(apns_reactor_world_options) == 72, "fixed layout");

/* The number of times that each fault has occurred so far. */
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

/* Creates a world. options is borrowed until return. Returns NULL if memory is short. */
apns_reactor_world *apns_reactor_world_create(const apns_reactor_world_options *options);

/* Destroys a world. Its reactors must be destroyed before. NULL is allowed. */
void apns_reactor_world_destroy(apns_reactor_world *world);

uint64_t apns_reactor_world_now_ns(const apns_reactor_world *world);

/* Makes a reactor of this world, which must outlive it. The parameters are those of apns_reactor_create, except that
 * options->backend is ignored. Reactors are numbered from 0 in the order in which they are made. */
int apns_reactor_world_join(apns_reactor_world *world, const apns_reactor_options *options, apns_reactor **out);

/* Makes a transport over a reactor of this world. The parameters are those of apns_transport_create, except that
 * options->loop is ignored. *number is the number of its reactor. apns_transport_poll returns when no work is left,
 * even without anything to report. Connections of the transport, and those of servers made with
 * apns_transport_server_tls_create, carry plain bytes in frames that replace TLS records. */
int apns_reactor_world_transport(apns_reactor_world *world, const apns_transport_options *options, apns_transport **out,
                                 uint32_t *number, apns_error *error);

/* Advances the time and returns the number of the reactor that must run next, or -1 if no event would ever happen. */
int64_t apns_reactor_world_next(apns_reactor_world *world);

/* Sets the faults of connections that are begun from now on. faults is borrowed until return. Open connections keep
 * their faults. If faults is NULL, no more faults occur: those of open connections that have not occurred are removed,
 * and stalled pieces arrive. */
void apns_reactor_world_faults_set(apns_reactor_world *world, const apns_reactor_world_faults *faults);

/* Stops all reactors except one for a time, like a process that is stopped. None of them runs, and the network
 * continues. */
void apns_reactor_world_stand_still(apns_reactor_world *world, uint32_t but, uint64_t span_ns);

/* Returns a digest of all events so far, with their times and bytes. */
uint64_t apns_reactor_world_digest(const apns_reactor_world *world);

apns_reactor_world_strikes apns_reactor_world_struck(const apns_reactor_world *world);
