#include "process_internal.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static pid_t parent;

void apns_process_parent_note(void) {
    parent = getppid();
}

bool apns_process_die_with_parent(void) {
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return false;
    /* A parent that ended before the call sends no signal. */
    if (getppid() != parent) (void)kill(getpid(), SIGTERM);
    return true;
}
