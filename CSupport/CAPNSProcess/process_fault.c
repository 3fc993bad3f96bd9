#include "process_internal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* The first thread handles signals on a stack of its own, because its normal stack may have overflowed. */
enum { STACK_BYTES = 64 * 1024, DIRECTORY_BYTES = 4096 };

static const struct fatal {
    int number;
    const char *name;
} fatals[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGILL, "SIGILL"},
    {SIGABRT, "SIGABRT"}, {SIGFPE, "SIGFPE"}, {SIGTRAP, "SIGTRAP"},
};
enum { FATALS = sizeof(fatals) / sizeof(fatals[0]) };

static char run_directory[DIRECTORY_BYTES];
static atomic_bool has_run;

void apns_process_run_set(const char *directory) {
    atomic_store(&has_run, false);
    if (directory == NULL || strlen(directory) >= DIRECTORY_BYTES) return;
    strcpy(run_directory, directory);
    atomic_store(&has_run, true);
}

static const char *name_of(int number) {
    for (size_t i = 0; i < FATALS; i++)
        if (fatals[i].number == number) return fatals[i].name;
    return "a signal";
}

/* Ends the process if memory is exhausted: Swift's runtime and its libraries trap when an allocation fails, which is
 * not a fault of the program. */
static void end_if_starved(const char *resume) {
    if (!apns_process_memory_lacks()) return;
    const char *const parts[] = {"no memory to go on; raise the limit of address space (ulimit -v)", resume,
                                 resume[0] != 0 ? run_directory : NULL, NULL};
    apns_process_complain(parts);
    _exit(APNS_PROCESS_EXIT_SYSTEM);
}

/* Prints the line. SA_RESETHAND has restored the default action, which ends the process: a faulting instruction is
 * executed again, and other signals are raised again here. */
static void handle(int number, siginfo_t *info, void *context) {
    (void)context;
    const char *resume = atomic_load(&has_run) ? "; the run can be resumed: apns-batch resume " : "";
    end_if_starved(resume);
    const char *const parts[] = {
        "ended by a fault of its own (", name_of(number), ")", resume, resume[0] != 0 ? run_directory : NULL, NULL};
    apns_process_complain(parts);
    if (info->si_code <= 0) raise(number);
}

void apns_process_faults_handle(void) {
    static char stack[STACK_BYTES];
    const stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
    (void)sigaltstack(&own, NULL);
    struct sigaction action = {.sa_flags = (int)(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER)};
    action.sa_sigaction = handle;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < FATALS; i++)
        (void)sigaction(fatals[i].number, &action, NULL);
    /* Swift's crash reporter handles SIGQUIT too. */
    struct sigaction quit;
    if (sigaction(SIGQUIT, NULL, &quit) == 0 && quit.sa_handler != SIG_IGN) (void)signal(SIGQUIT, SIG_DFL);
}
