/*
 * transport_world: transports without a kernel and without TLS, for simulations: several of them, clients and servers,
 * in one process and one thread, over a network and a clock in memory. One seed reproduces every byte and every moment.
 *
 * transport_poll never waits there: it returns when nothing is left to do, also with nothing to report. The world knows
 * until when it would have waited, and whose turn is next:
 *
 *     while ((number = transport_world_next(world)) >= 0) run a turn of the transport with this number;
 *
 * Connections carry plain bytes in frames that stand for TLS's records. There is no other way to have a connection
 * without TLS.
 */
#ifndef APNS_BATCH_TRANSPORT_WORLD_H
#define APNS_BATCH_TRANSPORT_WORLD_H

#include "transport.h"

typedef struct transport_world transport_world;

/* How often what goes wrong; each in parts of a million. */
typedef struct transport_world_faults {
    uint32_t refused;     /* of connections: ECONNREFUSED */
    uint32_t unanswered;  /* of connections: no word ever about the attempt */
    uint32_t reset;       /* of connections: ECONNRESET for both ends at some byte; what was on its way may be lost */
    uint32_t cut;         /* of connections: an end of stream for both at some byte */
    uint32_t silent;      /* of connections: from some byte on nothing arrives, in one direction or in both, and nobody
                             says so */
    uint32_t stalled;     /* of pieces sent: that piece and all behind it come later */
    uint32_t stall_us;    /* at most so much later */
    uint32_t fault_bytes; /* the byte of a fault is one of so many */
} transport_world_faults;
_Static_assert(sizeof(transport_world_faults) == 32, "fixed layout");

typedef struct transport_world_options {
    uint64_t seed;
    uint64_t start_ns;         /* the first time */
    uint32_t delay_us_max;     /* one way; at least 1 */
    uint32_t slow;             /* of connections, in parts of a million: a link of some ten to hundred KB a second */
    uint32_t buffer_bytes_min; /* that a direction holds; at least 1, drawn for each connection */
    uint32_t buffer_bytes_max;
    uint32_t pieces; /* of reads and writes, in parts of a million: shorter than they could be */
    int32_t trace;   /* a descriptor that gets a line for every event, or -1 */
    transport_world_faults faults;
} transport_world_options;
_Static_assert(sizeof(transport_world_options) == 72, "fixed layout");

/* How often what happened so far. */
typedef struct transport_world_strikes {
    uint64_t connections; /* attempts */
    uint64_t slow;
    uint64_t refused;
    uint64_t unanswered;
    uint64_t reset;
    uint64_t cut;
    uint64_t silent;
    uint64_t stalled;
} transport_world_strikes;
_Static_assert(sizeof(transport_world_strikes) == 64, "fixed layout");

/* options: borrowed until return. NULL when memory is short. */
transport_world *transport_world_create(const transport_world_options *options);

/* After all its transports. NULL is allowed. */
void transport_world_destroy(transport_world *world);

/* Makes a transport in a world, which must outlive it: as transport_create, whatever options->loop is. What
 * transport_tls_create makes there is plain. *number: for transport_world_next. */
int transport_world_join(transport_world *world, const transport_options *options, transport **out, uint32_t *number,
                         transport_error *error);

uint64_t transport_world_now_ns(const transport_world *world);

/* Moves the time and returns the number of the transport whose turn it is; -1 when nothing would ever happen. */
int64_t transport_world_next(transport_world *world);

/* From now on. Connections that are open keep the faults drawn for them; faults NULL: none any more, those that have
 * not struck yet are forgotten too, and what is late arrives. What has fallen silent stays so. faults: borrowed until
 * return.
 */
void transport_world_faults_set(transport_world *world, const transport_world_faults *faults);

/* All transports but one stand still for so long, as in a process that is stopped: none of them gets a turn, and the
 * network goes on. */
void transport_world_stand_still(transport_world *world, uint32_t but, uint64_t span_ns);

/* Of every event handed out so far, with its time and its bytes. */
uint64_t transport_world_digest(const transport_world *world);

transport_world_strikes transport_world_struck(const transport_world *world);

/* A number from the world's seed, for choices outside of it. */
uint64_t transport_world_random(transport_world *world);

#endif
