#include "reactor_platform.h"

#include "reactor_buffers.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

int apns_reactor_buffers_create(struct reactor_buffers *buffers, uint32_t bytes, uint32_t count) {
    *buffers = (struct reactor_buffers){.bytes = bytes, .count = count};
    void *memory =
        mmap(NULL, (size_t)bytes * count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return -ENOMEM;
    buffers->memory = memory;
    buffers->held = calloc(count, sizeof(*buffers->held));
    if (buffers->held == NULL) {
        apns_reactor_buffers_destroy(buffers);
        return -ENOMEM;
    }
    return 0;
}

void apns_reactor_buffers_destroy(struct reactor_buffers *buffers) {
    if (buffers->memory != NULL) munmap(buffers->memory, (size_t)buffers->bytes * buffers->count);
    free(buffers->held);
    *buffers = (struct reactor_buffers){0};
}
