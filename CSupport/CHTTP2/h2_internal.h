/* Shared by the files of CHTTP2. */
#ifndef APNS_BATCH_H2_INTERNAL_H
#define APNS_BATCH_H2_INTERNAL_H

#include "h2.h"
#include "h2_hpack.h"
#include <nghttp2/nghttp2.h>
#include <string.h>

struct h2_pool {
    h2_memory *memory;
    h2_exchange *free; /* given back; those from `fresh` on were never taken, nor their memory touched */
    uint8_t *fresh;
    uint8_t *end;
    size_t stride;
    h2_message *messages; /* free ones, with their field arrays */
    uint8_t *slab;
    uint32_t free_count;
};

/* A request that waits because the output is paused. */
typedef struct h2_deferred {
    struct h2_deferred *next;
    h2_exchange *exchange;
    h2_request request; /* its sets are held */
    h2_field fields[H2_REQUEST_FIELDS_MAX];
} h2_deferred;

/* A frame that came after the end of all streams: header, and the part of a GOAWAY that is kept. */
typedef struct h2_late {
    uint8_t frame[9 + 8 + H2_DEBUG_BYTES_MAX];
    uint32_t length; /* bytes of it that have come */
    bool lost;       /* what came was no frame */
} h2_late;

/* Bytes of h2_fault_bytes that wait. */
typedef struct h2_raw {
    struct h2_raw *next;
    size_t length;
    size_t begun; /* bytes of it that are out */
    int32_t stream;
    bool started;
    uint8_t bytes[];
} h2_raw;

struct h2_session {
    nghttp2_session *ng;
    h2_memory *memory;
    h2_pool *pool;
    h2_output *output;
    h2_exchange *current; /* whose header block is being received; NULL for one of no interest */
    h2_exchange *changed_first;
    h2_exchange **changed_last;
    const h2_field *captures;
    uint32_t capture_count;
    uint64_t capture_lengths; /* a bit for the length of each name: most fields are none of them */
    uint32_t body_received_max;
    uint32_t header_bytes; /* of the header block being received */
    uint32_t open_count;
    int32_t written_stream;
    bool server;
    bool drained;         /* the last pump ended because there was nothing more, and nothing has come since */
    bool goaway_own;      /* the caller asked for a GOAWAY with an error code */
    int32_t invalid_code; /* error of the last frame that made no sense */
    char invalid_text[128];
    h2_encoder encoder;
    const h2_request *request; /* whose HEADERS frame the library writes next */
    uint32_t request_body_length;
    uint32_t deferred_count;
    h2_deferred *deferred_first; /* in the order of submission */
    h2_deferred **deferred_last;
    h2_failure failure;
    h2_facts facts;
    h2_late late;
    h2_raw *raw_first;
    h2_raw **raw_last;
    size_t raw_bytes;
    bool pings_muted;
    bool early;
};

/* h2_memory_library.h: the library's allocator. */
nghttp2_mem h2_memory_library(h2_memory *memory);

/* h2_message.c: false at a limit of memory or of fields. */
bool h2_message_field_add(h2_pool *pool, h2_message *message, nghttp2_rcbuf *name, nghttp2_rcbuf *value);
bool h2_message_body_add(h2_pool *pool, h2_message *message, const uint8_t *bytes, size_t length);
h2_message *h2_message_take(h2_pool *pool);
void h2_message_fields_clear(h2_message *message);

/* h2_late.c: client: what the library does not look at any more. */
void h2_late_receive(h2_session *session, const uint8_t *bytes, size_t length);

/* h2_receive.c */
void h2_goaway_note(h2_facts *facts, int32_t last_stream, uint32_t code, const uint8_t *debug, size_t length);
void h2_receive_callbacks_set(nghttp2_session_callbacks *callbacks);

/* h2_send.c */
int h2_send_data(nghttp2_session *ng, nghttp2_frame *frame, const uint8_t *header, size_t length,
                 nghttp2_data_source *source, void *user);
ssize_t h2_send_read(nghttp2_session *ng, int32_t stream, uint8_t *buffer, size_t length, uint32_t *flags,
                     nghttp2_data_source *source, void *user);

/* h2_fault.c: server: true for a frame that must not leave. */
bool h2_fault_withholds(const h2_session *session, const uint8_t *frame, size_t length);
int h2_fault_flush(h2_session *session);
void h2_fault_clear(h2_session *session);

/* h2_send.c: adds bytes that the output has no room for, flushing as often as needed; not 0 when the output failed. */
int h2_send_append_flushing(h2_output *output, const uint8_t *bytes, size_t length);

/* Adds bytes; not 0 when the output failed. */
static inline int h2_send_append(h2_output *output, const uint8_t *bytes, size_t length) {
    if (length > output->capacity - output->length) return h2_send_append_flushing(output, bytes, length);
    if (length > 0) memcpy(output->bytes + output->length, bytes, length);
    output->length += (uint32_t)length;
    return 0;
}

/* h2_send.c: pumps what the library holds, but begins no deferred request. */
int h2_send_library(h2_session *session);

/* h2_client.c */
int h2_client_deferred_submit(h2_session *session);
void h2_client_deferred_clear(h2_session *session);

/* h2_session.c: adds an exchange to the list of changed ones. */
void h2_session_changed_add(h2_session *session, h2_exchange *exchange);

/* h2_session.c: records why the session ends, unless something has been recorded already; returns -1. */
int h2_session_fail(h2_session *session, int32_t kind, int32_t code, const char *text);

/* h2_session.c: the same for an error of the library. */
int h2_session_fail_library(h2_session *session, int code);

#endif
