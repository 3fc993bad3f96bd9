#include "process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number of files, sockets, pipes and loops that a run with one lane has open. */
enum { DESCRIPTORS = 32 };

/* Swift's executor has some threads; signals, campaign, reader, writer and lane have one each. A thread pool that
 * cannot start a thread waits forever. */
enum { THREADS = 10, THREAD_STACK_BYTES = 256 * 1024 };

/* Address space for stacks, receive buffers and requests. Mapped memory takes no RAM until it is touched. */
#define ROOM_BYTES ((size_t)320 << 20)

/* Larger than any single allocation. */
#define PIECE_BYTES ((size_t)64 << 20)

static void end(const char *what, int error, const char *remedy) {
    const char *const parts[] = {what, ": ", strerror(error), "; ", remedy, NULL};
    apns_process_complain(parts);
    _exit(APNS_PROCESS_EXIT_SYSTEM);
}

/* Without them, the command would take itself for one that was called without arguments: it would print its overview,
 * and end with 0. */
static void arguments_try(void) {
    if (access("/proc/self/cmdline", R_OK) != 0) end("cannot read the arguments in /proc", errno, "mount /proc");
}

static void descriptors_try(void) {
    int taken[DESCRIPTORS];
    int count = 0;
    while (count < DESCRIPTORS && (taken[count] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
        count++;
    if (count < DESCRIPTORS) end("no descriptors to start", errno, "raise the limit of open files (ulimit -n)");
    while (count > 0)
        close(taken[--count]);
}

/* Swift's executor has an event loop of its own, and traps without eventfd or epoll. */
static void loop_try(void) {
    int event = eventfd(0, EFD_CLOEXEC);
    int poll = event < 0 ? -1 : epoll_create1(EPOLL_CLOEXEC);
    if (poll < 0)
        end("no event loop to start", errno,
            "allow eventfd and epoll_create1 (the container's filter of system calls)");
    close(poll);
    close(event);
}

/* Without a limit of address space, which is the usual case, there is nothing to check. */
static bool room_limited(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

static bool room_lacks(size_t bytes) {
    if (!room_limited()) return false;
    void *room = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return true;
    munmap(room, bytes);
    return false;
}

/* Under a limit, glibc uses one arena: it would otherwise map one for each thread that allocates, in total about 0.75
 * GB. */
static void room_try(void) {
    if (room_limited()) mallopt(M_ARENA_MAX, 1);
    if (room_lacks(ROOM_BYTES)) end("no memory to start", ENOMEM, "raise the limit of address space (ulimit -v)");
}

bool apns_process_memory_lacks(void) {
    return room_lacks(PIECE_BYTES);
}

static pthread_barrier_t all_there;

static void *be_there(void *nothing) {
    pthread_barrier_wait(&all_there);
    return nothing;
}

/* Starts all threads at the same time, because it is their number that is limited. */
static void threads_try(void) {
    pthread_t threads[THREADS];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
    pthread_barrier_init(&all_there, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        int error = pthread_create(&threads[i], &attributes, be_there, NULL);
        if (error != 0)
            end("no thread to start", error, "raise the limit of processes (ulimit -u, or pids.max of the container)");
    }
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all_there);
    pthread_attr_destroy(&attributes);
}

void apns_process_means_try(void) {
    arguments_try();
    descriptors_try();
    loop_try();
    room_try();
    threads_try();
}
