#include "apns_start.h"
#include "process_internal.h"

/* Runs after the constructors of the libraries, among them Swift's, which installs its crash reporter. */
__attribute__((constructor)) static void start(void) {
    apns_process_parent_note();
    apns_process_descriptors_open();
    apns_process_faults_handle();
    apns_process_means_try();
}
