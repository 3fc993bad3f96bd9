#include "reactor_io_uring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Missing in the header of liburing 2.3: a minimum wait time in the argument of io_uring_enter (Linux 6.12). */
#define FEATURE_MIN_TIMEOUT (1U << 15)

#define SUBMISSIONS_MIN 32U
#define SUBMISSIONS_MAX 512U /* 32 KiB of entries, small enough for the cache */
#define COMPLETIONS_MAX 65536U
#define BUFFER_GROUP 0
#define NS_PER_S 1000000000U

/* struct io_uring_getevents_arg of Linux 6.12. */
struct enter_argument {
    uint64_t signal_mask;
    uint32_t signal_mask_bytes;
    uint32_t min_wait_us;
    uint64_t timeout;
};
_Static_assert(sizeof(struct enter_argument) == sizeof(struct io_uring_getevents_arg), "fixed by the kernel");

static uint32_t power_of_two(uint32_t least, uint32_t want, uint32_t most) {
    uint32_t size = least;
    while (size < want && size < most)
        size *= 2;
    return size;
}

/* ---------------------------------------------------------------- the thread sanitizer */

/* liburing maps and unmaps rings with system calls that ThreadSanitizer does not see, so that a ring mapped at the
 * former address of another thread's ring looks like a data race. These macros declare that the unmapping came
 * first. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TELLS_THREAD_SANITIZER 1
#endif
#endif

#ifdef TELLS_THREAD_SANITIZER
void __tsan_acquire(void *address);
void __tsan_release(void *address);
static char mappings;
#define WAS_MAPPED() __tsan_acquire(&mappings)
#define WILL_BE_UNMAPPED() __tsan_release(&mappings)
#else
#define WAS_MAPPED()
#define WILL_BE_UNMAPPED()
#endif

/* ---------------------------------------------------------------- set-up */

static int setup(struct uring *u, const apns_reactor_options *options, unsigned flags, struct io_uring_params *out) {
    uint32_t submissions = power_of_two(SUBMISSIONS_MIN, 2 * options->sockets_max, SUBMISSIONS_MAX);
    /* One completion per receive buffer, and for each socket one send and one connect, accept or cancel. Further ones
     * are not lost: the kernel keeps them. */
    uint32_t completions = options->receive_buffer_count + 2 * options->sockets_max + 16;
    *out = (struct io_uring_params){
        .flags = flags | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP,
        .cq_entries = power_of_two(2 * submissions, completions, COMPLETIONS_MAX),
    };
    int status = io_uring_queue_init_params(submissions, &u->ring, out);
    WAS_MAPPED();
    return status;
}

static void unmap(struct uring *u) {
    WILL_BE_UNMAPPED();
    io_uring_queue_exit(&u->ring);
}

/* Tries the best flags first; a kernel returns EINVAL for unknown flags. */
static int setup_best(struct uring *u, const apns_reactor_options *options, bool plain, struct io_uring_params *out) {
    static const unsigned ladder[] = {
        IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, /* Linux 6.1 */
        IORING_SETUP_SUBMIT_ALL | IORING_SETUP_COOP_TASKRUN,                               /* Linux 5.19 */
        0,
    };
    const size_t steps = sizeof(ladder) / sizeof(ladder[0]);
    int status = -EINVAL;
    for (size_t i = plain ? steps - 1 : 0; i < steps && status == -EINVAL; i++)
        status = setup(u, options, ladder[i], out);
    return status;
}

/* Maps entry i of the ring to submission i once and for all, so that submitting is one store to the tail. */
static void map_submissions(struct io_uring *ring) {
    if (ring->sq.array == NULL) return;
    for (uint32_t i = 0; i < ring->sq.ring_entries; i++)
        ring->sq.array[i] = i;
}

static int buffer_ring_create(struct uring *u, uint32_t count) {
    size_t bytes = count * sizeof(struct io_uring_buf);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -ENOMEM;
    struct io_uring_buf_reg registration = {
        .ring_addr = (uint64_t)(uintptr_t)memory, .ring_entries = count, .bgid = BUFFER_GROUP};
    int status = io_uring_register_buf_ring(&u->ring, &registration, 0);
    if (status < 0) {
        munmap(memory, bytes);
        return status;
    }
    u->buffer_ring = memory;
    io_uring_buf_ring_init(u->buffer_ring);
    for (uint32_t i = 0; i < count; i++)
        apns_uring_buffers_give(u, i, i);
    apns_uring_buffers_publish(u, count);
    return 0;
}

static int buffers_create(struct uring *u, const apns_reactor_options *options) {
    int status = apns_reactor_buffers_create(&u->buffers, options->receive_buffer_bytes, options->receive_buffer_count);
    if (status < 0) return status;
    status = buffer_ring_create(u, options->receive_buffer_count);
    if (status < 0) apns_reactor_buffers_destroy(&u->buffers);
    return status;
}

int apns_uring_ring_create(struct uring *u, const apns_reactor_options *options, bool plain) {
    struct io_uring_params params;
    int status = setup_best(u, options, plain, &params);
    if (status < 0) return status;
    map_submissions(&u->ring);
    u->enter_flags = IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG;
    u->features = (struct uring_features){.multishot = !plain,
                                          .min_timeout = !plain && (params.features & FEATURE_MIN_TIMEOUT) != 0};
    const unsigned needed = IORING_FEAT_EXT_ARG | IORING_FEAT_NODROP | IORING_FEAT_FAST_POLL;
    status = (params.features & needed) == needed ? buffers_create(u, options) : -EOPNOTSUPP;
    if (status < 0) {
        unmap(u);
        return status;
    }
    if (!plain && io_uring_register_ring_fd(&u->ring) == 1) u->enter_flags |= IORING_ENTER_REGISTERED_RING;
    return 0;
}

void apns_uring_ring_destroy(struct uring *u) {
    io_uring_unregister_buf_ring(&u->ring, BUFFER_GROUP);
    unmap(u);
    munmap(u->buffer_ring, u->buffers.count * sizeof(struct io_uring_buf));
    apns_reactor_buffers_destroy(&u->buffers);
}

/* ---------------------------------------------------------------- buffers */

void apns_uring_buffers_give(struct uring *u, uint32_t number, uint32_t position) {
    io_uring_buf_ring_add(u->buffer_ring, reactor_buffers_at(&u->buffers, number), u->buffers.bytes,
                          (unsigned short)number, (int)(u->buffers.count - 1), (int)position);
}

void apns_uring_buffers_publish(struct uring *u, uint32_t count) {
    io_uring_buf_ring_advance(u->buffer_ring, (int)count);
}

/* ---------------------------------------------------------------- entering the kernel */

/* Publishes the queued entries; returns how many the kernel has not yet consumed. */
static unsigned publish(struct io_uring *ring) {
    struct io_uring_sq *sq = &ring->sq;
    sq->sqe_head = sq->sqe_tail;
    io_uring_smp_store_release(sq->ktail, sq->sqe_tail);
    return sq->sqe_tail - io_uring_smp_load_acquire(sq->khead);
}

static int enter(struct uring *u, unsigned wait_count, struct enter_argument *argument) {
    unsigned submit = publish(&u->ring);
    int status = io_uring_enter2((unsigned)u->ring.enter_ring_fd, submit, wait_count, u->enter_flags,
                                 (sigset_t *)(void *)argument, sizeof(*argument));
    switch (status) {
    case -ETIME:
        return 0;
    case -EBUSY: /* completions must be taken first */
    case -EAGAIN:
        return io_uring_cq_ready(&u->ring) > 0 ? 0 : status;
    default:
        return status < 0 ? status : 0;
    }
}

/* Waits for wait_count completions for at most span_ns (REACTOR_NEVER: no limit); after min_ns one completion is
 * enough. */
static int enter_for(struct uring *u, unsigned wait_count, uint64_t span_ns, uint64_t min_ns) {
    uint64_t seconds = span_ns / NS_PER_S;
    struct __kernel_timespec limit = {
        .tv_sec = seconds > INT32_MAX ? INT32_MAX : (long long)seconds,
        .tv_nsec = (long long)(span_ns % NS_PER_S),
    };
    struct enter_argument argument = {
        .min_wait_us = min_ns / 1000 > UINT32_MAX ? UINT32_MAX : (uint32_t)(min_ns / 1000),
        .timeout = (uint64_t)(uintptr_t)&limit,
    };
    return enter(u, wait_count, &argument);
}

int apns_uring_ring_flush(struct uring *u) {
    struct enter_argument argument = {0};
    return enter(u, 0, &argument);
}

int apns_uring_ring_enter(struct uring *u, const struct reactor_plan *plan) {
    if (plan->until_ns <= plan->now_ns) return apns_uring_ring_flush(u);
    const uint64_t limit = plan->until_ns == REACTOR_NEVER ? REACTOR_NEVER : plan->until_ns - plan->now_ns;
    if (plan->linger_ns <= plan->now_ns) return enter_for(u, 1, limit, 0);
    const uint64_t linger = plan->linger_ns - plan->now_ns;
    /* The kernel reads this as a signed number. */
    const unsigned batch = plan->batch_min < u->ring.cq.ring_entries ? plan->batch_min : u->ring.cq.ring_entries;
    if (u->features.min_timeout) return enter_for(u, batch, limit, linger);
    int status = enter_for(u, batch, linger, 0);
    if (status < 0 || io_uring_cq_ready(&u->ring) > 0 || limit <= linger) return status;
    return enter_for(u, 1, limit == REACTOR_NEVER ? limit : limit - linger, 0);
}
