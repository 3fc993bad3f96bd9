/*
 * process: start-up checks and signal handlers of the command, and what else it does for its own process. CAPNSStart
 * runs the former before main, and so before Swift's runtime starts threads or opens files. A library must not link it.
 *
 * 1. Closed standard descriptors are opened on /dev/null, so that no other file becomes standard output. Writing to a
 *    standard output that was closed fails (EBADF).
 * 2. The process tries to get what every command needs: its arguments, which Swift's runtime reads from /proc, some
 *    descriptors, an event loop, some threads, and address space. If it fails, it ends with a message and
 *    APNS_PROCESS_EXIT_SYSTEM, because the runtime would hang or trap later.
 * 3. A fatal signal prints one line and ends the process, with APNS_PROCESS_EXIT_SYSTEM if memory is exhausted. This
 *    replaces Swift's crash reporter, which prints registers and memory, possibly containing keys, and then lets the
 *    process continue.
 */
#pragma once

#include <stdbool.h>

/* EX_OSERR of sysexits.h. */
enum { APNS_PROCESS_EXIT_SYSTEM = 71 };

/* Sets the run directory that is named in the line after a fatal signal, as a run that can be resumed. directory: as in
 * a shell, copied; NULL for none. A text of 4,096 bytes or more counts as none. Must be called from one thread only. */
void apns_process_run_set(const char *directory);

/* Asks for SIGTERM when the thread of another process that started this process ends (PR_SET_PDEATHSIG), and sends it
 * now if the parent is no longer the one before main. The calling thread must not end, because the request ends with
 * it. Returns false if the system refuses. */
bool apns_process_die_with_parent(void);

/* Returns a descriptor of an empty file in memory that no directory names; -1 with errno if there is none. Programs
 * that this process starts do not inherit it. The caller closes it. */
int apns_process_memory_file(void);

/* Whether anything that was printed to standard output could not be written. It stays true, even if a part that was
 * printed later could be. */
bool apns_process_output_failed(void);

/* Returns the commit that the command was built from, if the build was given one; otherwise NULL. scripts/package gives
 * it.
 */
const char *apns_process_commit(void);
