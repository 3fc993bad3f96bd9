#include "transport_internal.h"

/* A look at the clock that comes so much later than it was meant to says that this process stood still meanwhile: it
 * was stopped, its container was paused, its machine slept, or it got no processor. Answers lay there and nobody read
 * them, so that time is nobody's delay and no deadline's; it counts a little, so that time goes on in a process that
 * gets hardly any processor. */
#define STANDSTILL_NS 1000000000U
#define STANDSTILL_COUNTS_NS 100000000U

void apns_transport_look(apns_transport *t) {
    uint64_t now_ns = apns_reactor_now_ns(t->reactor);
    uint64_t since_ns = now_ns - t->looked_ns;
    uint64_t asleep_ns = t->asleep_ns;
    t->looked_ns = now_ns;
    t->asleep_ns = 0;
    if (since_ns > STANDSTILL_NS && since_ns - STANDSTILL_NS > asleep_ns)
        t->stood_ns += since_ns - asleep_ns - STANDSTILL_COUNTS_NS;
    t->now_ns = now_ns - t->stood_ns;
}
