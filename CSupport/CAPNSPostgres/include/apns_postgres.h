/*
 * postgres: libpq, the client library of PostgreSQL, which is loaded when it is first needed. A program that uses no
 * database neither needs the library nor waits for the many libraries that it brings.
 *
 * Threads. Every function may be called from any thread. libpq's documentation of threads applies to its functions: one
 * thread at a time uses a connection.
 */
#pragma once

#include <postgresql/libpq-fe.h>

#include "apns_error.h"

/* The functions of libpq that are used, by their names without PQ. The header of libpq documents what they do and who
 * owns what they return. */
struct apns_postgres {
    __typeof__(PQconninfoParse) *conninfo_parse;
    __typeof__(PQconninfoFree) *conninfo_free;
    __typeof__(PQfreemem) *free_memory;
    __typeof__(PQconnectdbParams) *connect;
    __typeof__(PQfinish) *finish;
    __typeof__(PQstatus) *status;
    __typeof__(PQerrorMessage) *error_message;
    __typeof__(PQexecParams) *execute;
    __typeof__(PQgetResult) *next_result;
    __typeof__(PQresultStatus) *result_status;
    __typeof__(PQresultErrorField) *result_error_field;
    __typeof__(PQntuples) *row_count;
    __typeof__(PQnfields) *column_count;
    __typeof__(PQfname) *column_name;
    __typeof__(PQftype) *column_type;
    __typeof__(PQgetvalue) *value;
    __typeof__(PQgetisnull) *is_null;
    __typeof__(PQclear) *clear;
    __typeof__(PQputCopyData) *put_copy_data;
    __typeof__(PQputCopyEnd) *put_copy_end;
    __typeof__(PQgetCopyData) *get_copy_data;
    __typeof__(PQsocket) *socket;
};

/* Returns the functions, which are valid until the end of the process. Returns NULL and fills the record if the library
 * is missing or lacks one of them: APNS_RESOURCE, with the cause as text. A later call tries again. */
const struct apns_postgres *apns_postgres_load(apns_error *error);

/* Discards the notices that libpq would write to standard error. connection: borrowed until return. */
void apns_postgres_silence(PGconn *connection);
