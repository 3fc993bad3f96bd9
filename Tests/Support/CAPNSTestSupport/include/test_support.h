/*
 * test_support: what tests need from the kernel and Swift cannot call.
 */
#pragma once

#include <stdint.h>

enum test_support_call {
    TEST_SUPPORT_IO_URING_SETUP = 1,
    TEST_SUPPORT_EPOLL_PWAIT2 = 2,
};

/* From now on the kernel answers the call (enum test_support_call) with error (an errno value), on the calling thread
 * and on those it makes: the filter that containers use, seccomp(2). It cannot be taken back; call it on a thread of
 * its own. 0 or a negative errno. */
int test_support_refuse(uint32_t call, int error);

/* Whether the kernel would write core files of this process and let others look into it: prctl(PR_GET_DUMPABLE). */
int test_support_is_dumpable(void);
