/*
 * test_support: functions of the kernel that tests need and Swift cannot call.
 */
#pragma once

#include <stdint.h>

enum test_support_call {
    TEST_SUPPORT_IO_URING_SETUP = 1,
    TEST_SUPPORT_EPOLL_PWAIT2 = 2,
};

/* Makes the kernel return error (an errno value) for the call (an enum test_support_call), on the calling thread and on
 * threads that it creates. It uses seccomp(2), as containers do. This cannot be undone, so call it on a separate
 * thread. Returns 0 or a negative errno value. */
int test_support_refuse(uint32_t call, int error);

/* Returns whether the kernel would write core files of this process and let others inspect it (PR_GET_DUMPABLE). */
int test_support_is_dumpable(void);
