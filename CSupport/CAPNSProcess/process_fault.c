#include "process_internal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* The handler of the first thread has a stack of its own, for the first thread's may be used up. */
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

/* Swift's runtime and its libraries trap where an allocation fails. That is no fault of the program. */
static void end_if_starved(const char *resume) {
    if (!apns_process_memory_lacks()) return;
    const char *const parts[] = {"no memory to go on; raise the limit of address space (ulimit -v)", resume,
                                 resume[0] != 0 ? run_directory : NULL, NULL};
    apns_process_complain(parts);
    _exit(APNS_PROCESS_EXIT_SYSTEM);
}

/* By now the signal's action is the default one again (SA_RESETHAND), so it ends the process: where it came of an
 * instruction, as soon as that is run again, and otherwise as it is raised here. */
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
    /* Swift's crash reporter has this one too. */
    struct sigaction quit;
    if (sigaction(SIGQUIT, NULL, &quit) == 0 && quit.sa_handler != SIG_IGN) (void)signal(SIGQUIT, SIG_DFL);
}
