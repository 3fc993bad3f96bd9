#include "process_internal.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 8 * 1024 };

static size_t append(char *line, size_t length, const char *text) {
    size_t room = LINE_BYTES - 1 - length; /* leaves room for the line feed */
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
    /* Non-blocking, so that a full pipe that is not read cannot keep the process from ending. */
    int flags = fcntl(STDERR_FILENO, F_GETFL);
    (void)fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK);
    (void)!write(STDERR_FILENO, line, length);
    (void)fcntl(STDERR_FILENO, F_SETFL, flags);
}
