#define _GNU_SOURCE
#include "apns_process.h"

#include <sys/mman.h>

int apns_process_memory_file(void) {
    return memfd_create("apns-batch", MFD_CLOEXEC);
}
