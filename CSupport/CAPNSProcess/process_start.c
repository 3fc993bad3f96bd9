#include "process_internal.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 8 * 1024 };

static size_t append(char *line, size_t length, const char *text) {
    size_t room = LINE_BYTES - 1 - length; /* one for the end of the line */
    size_t count = strnlen(text, room);
    memcpy(line + length, text, count);
    return length + count;
}

void apns_process_complain(const char *const *parts) {
    char line[LINE_BYTES];
    size_t length = append(line, 0, "apns-batch: ");
    while (*parts != NULL)
        length = append(line, length, *parts++);
    line[length++] = '\n';
    /* A pipe that is full and that nobody reads must not keep the process from its end. */
    int flags = fcntl(STDERR_FILENO, F_GETFL);
    (void)fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK);
    (void)!write(STDERR_FILENO, line, length);
    (void)fcntl(STDERR_FILENO, F_SETFL, flags);
}

/* The libraries' own constructors have run by now, Swift's among them, which installs its crash reporter. */
__attribute__((constructor)) static void start(void) {
    apns_process_descriptors_open();
    apns_process_faults_handle();
    apns_process_means_try();
}
