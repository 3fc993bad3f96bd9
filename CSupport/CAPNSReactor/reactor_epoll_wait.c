#include "reactor_epoll.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000U
#define NS_PER_MS 1000000U

static struct timespec span(uint64_t ns) {
    uint64_t seconds = ns / NS_PER_S;
    return (struct timespec){.tv_sec = seconds > INT_MAX ? INT_MAX : (time_t)seconds, .tv_nsec = (long)(ns % NS_PER_S)};
}

/* Rounded up, so that the time has passed when the wait ends. */
static int span_ms(uint64_t ns) {
    if (ns == REACTOR_NEVER) return -1;
    uint64_t ms = ns / NS_PER_MS + (ns % NS_PER_MS != 0);
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

/* epoll_pwait2 without the C library, which has it from glibc 2.35 on: the command would not load where it is older. */
static int wait_ns(struct epoll *e, const struct timespec *limit) {
    return (int)syscall(SYS_epoll_pwait2, e->descriptor, e->ready, EPOLL_BATCH, limit, NULL, 0);
}

/* Old kernels and the seccomp filters of some containers refuse epoll_pwait2. */
static int wait_for_edges(struct epoll *e, uint64_t ns) {
    if (e->nanoseconds) {
        struct timespec limit = span(ns);
        int count = wait_ns(e, ns == REACTOR_NEVER ? NULL : &limit);
        if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count >= 0 ? count : -errno;
        e->nanoseconds = false;
    }
    int count = epoll_wait(e->descriptor, e->ready, EPOLL_BATCH, span_ms(ns));
    return count >= 0 ? count : -errno;
}

/* Sleeps while events gather. Only a wake-up ends it early. */
static void gather(const struct epoll *e, uint64_t ns) {
    struct pollfd wake = {.fd = e->wake_descriptor, .events = POLLIN};
    struct timespec limit = span(ns);
    (void)ppoll(&wake, 1, &limit, NULL);
}

static void wake_clear(const struct epoll *e) {
    uint64_t count;
    (void)!read(e->wake_descriptor, &count, sizeof(count));
}

static void note_all(apns_reactor *r, uint32_t count) {
    struct epoll *e = epoll_of(r);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t handle = e->ready[i].data.u64;
        struct reactor_slot *slot = reactor_slots_find(&r->slots, handle);
        if (handle == 0)
            wake_clear(e);
        else if (slot != NULL)
            apns_epoll_note(r, slot, e->ready[i].events);
    }
}

int apns_epoll_sleep(apns_reactor *r, const struct reactor_plan *plan, bool wait, bool linger) {
    uint64_t from_ns = plan->now_ns;
    if (linger) {
        gather(epoll_of(r), plan->linger_ns - plan->now_ns);
        from_ns = plan->linger_ns;
    }
    uint64_t ns = 0;
    if (wait && plan->until_ns > from_ns)
        ns = plan->until_ns == REACTOR_NEVER ? REACTOR_NEVER : plan->until_ns - from_ns;
    int count = wait_for_edges(epoll_of(r), ns);
    if (count < 0) return count;
    note_all(r, (uint32_t)count);
    return 0;
}
