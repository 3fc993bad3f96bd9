#include "apns_process.h"
#include "process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* open returns the lowest free descriptor, and those below are open by then. */
void apns_process_descriptors_open(void) {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
        if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
        /* Writing to standard output fails, so that missing output is not mistaken for a success. */
        if (open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR) == descriptor) continue;
        const char *const parts[] = {"a standard descriptor is closed and /dev/null cannot be opened", NULL};
        apns_process_complain(parts);
        _exit(APNS_PROCESS_EXIT_SYSTEM);
    }
}

bool apns_process_output_failed(void) {
    return ferror(stdout) != 0;
}
