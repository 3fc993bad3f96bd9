/*
 * process: what the command does for its own process before main, so before Swift's runtime has started a thread or
 * opened a file. It happens by itself when a program is linked with this module; a library must not do it.
 *
 * 1. Standard descriptors that are closed are opened on /dev/null: no file of ours can become standard output.
 * 2. What no command can do without is tried: some descriptors, an event loop, some threads, and room to map. Without
 * them the process ends with a sentence and APNS_PROCESS_EXIT_SYSTEM; the runtime would hang or trap later.
 * 3. A fatal signal prints one line and ends the process, with APNS_PROCESS_EXIT_SYSTEM where memory is all used up.
 * Swift's own crash reporter, which would print registers and memory, perhaps of keys, and then let the process go on,
 * is replaced.
 */
#ifndef APNS_BATCH_PROCESS_H
#define APNS_BATCH_PROCESS_H

/* EX_OSERR of sysexits.h. */
enum { APNS_PROCESS_EXIT_SYSTEM = 71 };

/* What the line after a fatal signal says besides: the run in this directory can be resumed. directory: copied, as far
 * as there is room; NULL: nothing any more. From one thread only. */
void apns_process_run_set(const char *directory);

#endif
