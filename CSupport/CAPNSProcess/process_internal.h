/* Shared by the files of CAPNSProcess. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "apns_process.h"

#include <stdbool.h>

/* Writes the strings, up to a NULL, as one line to standard error. Async-signal-safe. */
void apns_process_complain(const char *const *parts);

/* Notes the parent, so that its end is noticed later. */
void apns_process_parent_note(void);

/* Opens closed standard descriptors on /dev/null. */
void apns_process_descriptors_open(void);

/* Ends the process with a message if it lacks descriptors, an event loop, threads or address space. */
void apns_process_means_try(void);

/* Whether the limit of address space leaves so little that an allocation may have failed. Async-signal-safe. */
bool apns_process_memory_lacks(void);

/* Installs the handlers of fatal signals. */
void apns_process_faults_handle(void);
