/* Shared by the files of CAPNSProcess. */
#ifndef APNS_BATCH_PROCESS_INTERNAL_H
#define APNS_BATCH_PROCESS_INTERNAL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "apns_process.h"

#include <stdbool.h>

/* Writes the strings up to a NULL to standard error as one line. Safe in a signal handler. */
void apns_process_complain(const char *const *parts);

/* Opens standard descriptors that are closed. */
void apns_process_descriptors_open(void);

/* Ends the process with a sentence if it has too few threads or too little room to start. */
void apns_process_means_try(void);

/* Whether the limit of address space leaves so little that an allocation may just have failed. Safe in a signal
 * handler. */
bool apns_process_memory_lacks(void);

/* Installs the handlers of fatal signals. */
void apns_process_faults_handle(void);

#endif
