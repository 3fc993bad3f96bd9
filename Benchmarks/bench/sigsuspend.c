/* Loaded into the client under valgrind 3.19, which writes into the mask that libdispatch's waiting main thread gives
 * to sigsuspend, and that is read-only. The thread waits all the same. */
#include <signal.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    (void)mask;
    return pause();
}
