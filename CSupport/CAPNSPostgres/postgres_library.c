#include "apns_postgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct apns_postgres functions;
static __typeof__(PQsetNoticeProcessor) *set_notice_processor;
static bool is_loaded;

/* ISO C has no cast from an object pointer to a function pointer, but POSIX has these two of the same size. */
static bool find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

#define FIND(member, name) find(library, name, &functions.member)

static bool find_all(void *library) {
    return FIND(conninfo_parse, "PQconninfoParse") && FIND(conninfo_free, "PQconninfoFree") &&
           FIND(free_memory, "PQfreemem") && FIND(connect, "PQconnectdbParams") && FIND(finish, "PQfinish") &&
           FIND(status, "PQstatus") && FIND(error_message, "PQerrorMessage") && FIND(execute, "PQexecParams") &&
           FIND(next_result, "PQgetResult") && FIND(result_status, "PQresultStatus") &&
           FIND(result_error_field, "PQresultErrorField") && FIND(row_count, "PQntuples") &&
           FIND(column_count, "PQnfields") && FIND(column_name, "PQfname") && FIND(column_type, "PQftype") &&
           FIND(value, "PQgetvalue") && FIND(is_null, "PQgetisnull") && FIND(clear, "PQclear") &&
           FIND(put_copy_data, "PQputCopyData") && FIND(put_copy_end, "PQputCopyEnd") &&
           FIND(get_copy_data, "PQgetCopyData") && FIND(socket, "PQsocket") &&
           find(library, "PQsetNoticeProcessor", &set_notice_processor);
}

/* The library stays loaded: others that it brings do not all survive being unloaded. */
static bool load(void) {
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    return library != NULL && find_all(library);
}

const struct apns_postgres *apns_postgres_load(apns_error *error) {
    pthread_mutex_lock(&lock);
    if (!is_loaded) is_loaded = load();
    bool is_there = is_loaded;
    if (!is_there) {
        const char *cause = dlerror();
        apns_error_set(error, APNS_RESOURCE, 0, 0, cause != NULL ? cause : "libpq.so.5 cannot be loaded");
    }
    pthread_mutex_unlock(&lock);
    return is_there ? &functions : NULL;
}

static void discard(void *argument, const char *message) {
    (void)argument;
    (void)message;
}

void apns_postgres_silence(PGconn *connection) {
    set_notice_processor(connection, discard, NULL);
}
