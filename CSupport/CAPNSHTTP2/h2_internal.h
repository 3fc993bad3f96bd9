/*
 * Shared by the files of CAPNSHTTP2.
 *
 * Ownership. A session holds no exchange: the caller's pool does. It knows one from submit (a server: from the
 * beginning of a stream) until it shows APNS_H2_CLOSED, is abandoned, or the session is destroyed. Memory, pool and
 * output must outlive the session.
 *
 * Order. Requests are written as they are submitted, and only while the library holds nothing else (session->drained)
 * and the output is not paused; else they are deferred, and a pump begins them in order. Callbacks of the library
 * record facts and never call the library back, but for the submission of RST_STREAM. The first failure counts
 * (apns_h2_session_fail), and after it only apns_h2_session_destroy and the functions that look are called.
 */
#ifndef APNS_BATCH_H2_INTERNAL_H
#define APNS_BATCH_H2_INTERNAL_H

#include "apns_check.h"
#include "apns_h2.h"
#include "h2_hpack.h"
#include <nghttp2/nghttp2.h>
#include <string.h>

struct apns_h2_pool {
    apns_h2_memory *memory;
    apns_h2_exchange *free; /* given back; those from `fresh` on were never taken, nor their memory touched */
    uint8_t *fresh;
    uint8_t *end;
    size_t stride;
    apns_h2_message *messages; /* free ones, with their field arrays */
    uint8_t *slab;
    uint32_t free_count;
};

/* A frame's header, and the payload that every peer takes (RFC 9113, section 4.2). */
enum { H2_FRAME_HEADER_BYTES = 9, H2_FRAME_BYTES_MAX = 16384 };

/* A request that waits because the output is paused. */
typedef struct h2_deferred {
    struct h2_deferred *next;
    apns_h2_exchange *exchange;
    apns_h2_request request; /* its sets are held */
    apns_h2_field fields[APNS_H2_REQUEST_FIELDS_MAX];
} h2_deferred;

/* A frame that came after the end of all streams: header, and the part of a GOAWAY that is kept. */
typedef struct h2_late {
    uint8_t frame[H2_FRAME_HEADER_BYTES + 8 + APNS_H2_DEBUG_BYTES_MAX];
    uint32_t length; /* bytes of it that have come */
    bool lost;       /* what came was no frame */
} h2_late;

/* A header field received. */
typedef struct h2_received_field {
    nghttp2_rcbuf *name_buffer;
    nghttp2_rcbuf *value_buffer;
    nghttp2_vec name;
    nghttp2_vec value;
} h2_received_field;

/* What clients and servers do differently. Servers are in CAPNSTransportServer. */
typedef struct h2_side {
    size_t session_bytes; /* of a session, which begins with struct apns_h2_session */
    int (*library_new)(nghttp2_session **out, const nghttp2_session_callbacks *callbacks, void *user,
                       const nghttp2_option *options, nghttp2_mem *memory);

    /* Takes what comes behind the end of the last stream, where the library reads no more; NULL: the library does. */
    void (*late_receive)(apns_h2_session *session, const uint8_t *bytes, size_t length);

    /* The next four are called by the library's callbacks, and return what those do. A client has no stream_begin (push
     * is disabled) and no fields_end. body_begin returns NULL when there is no memory, or the body is not kept. */
    int (*stream_begin)(apns_h2_session *session, int32_t stream);
    int (*field)(apns_h2_session *session, apns_h2_exchange *exchange, const h2_received_field *field);
    void (*fields_end)(apns_h2_session *session, apns_h2_exchange *exchange);
    apns_h2_message *(*body_begin)(apns_h2_session *session, apns_h2_exchange *exchange);

    /* Adds a frame of the library's to the output; not 0 when that failed. */
    int (*frame_append)(apns_h2_session *session, const uint8_t *frame, size_t length);

    /* Writes what the library holds, and what waits here: session->waiting counts that. */
    int (*pump)(apns_h2_session *session);

    /* Frees what waits here. */
    void (*waiting_clear)(apns_h2_session *session);
} h2_side;

extern const h2_side apns_h2_client_side;

struct apns_h2_session {
    const h2_side *side;
    nghttp2_session *ng;
    apns_h2_memory *memory;
    apns_h2_pool *pool;
    apns_h2_output *output;
    apns_h2_exchange *current; /* whose header block is being received; NULL for one of no interest */
    apns_h2_exchange *changed_first;
    apns_h2_exchange **changed_last;
    const apns_h2_field *captures;
    uint32_t capture_count;
    uint64_t capture_lengths; /* a bit for the length of each name: most fields are none of them */
    uint32_t body_received_max;
    uint32_t header_bytes; /* of the header block being received */
    uint32_t open_count;
    int32_t written_stream;
    bool drained;         /* the last pump ended because there was nothing more, and nothing has come since */
    bool goaway_own;      /* the caller asked for a GOAWAY with an error code */
    int32_t invalid_code; /* error of the last frame that made no sense */
    char invalid_text[128];
    h2_encoder encoder;
    const apns_h2_request *request; /* whose HEADERS frame the library writes next */
    uint32_t request_body_length;
    uint32_t waiting;            /* client: deferred requests; server: pieces of apns_h2_fault_bytes */
    h2_deferred *deferred_first; /* in the order of submission */
    h2_deferred **deferred_last;
    apns_error failure;
    apns_h2_facts facts;
    h2_late late;
};

/* h2_memory.c: an allocator for the library over ours, which must outlive what is made with it. */
nghttp2_mem apns_h2_memory_library(apns_h2_memory *memory);

/* h2_message.c: add to a message; false at a limit of memory or of fields. A field's buffers are held, a body is
 * copied. */
bool apns_h2_message_field_add(apns_h2_pool *pool, apns_h2_message *message, const h2_received_field *field);
bool apns_h2_message_body_add(apns_h2_pool *pool, apns_h2_message *message, const uint8_t *bytes, size_t length);

/* h2_message.c: an empty message, owned by the caller until apns_h2_pool_message_give; NULL when memory is short. */
apns_h2_message *apns_h2_message_take(apns_h2_pool *pool);

/* h2_message.c: forgets the fields, for those that follow an interim response. */
void apns_h2_message_fields_clear(apns_h2_message *message);

/* h2_late.c: client: looks for GOAWAY in what the library does not look at any more. */
void apns_h2_late_receive(apns_h2_session *session, const uint8_t *bytes, size_t length);

/* h2_receive.c: record a limit that the peer went past, or a lack of memory; return NGHTTP2_ERR_CALLBACK_FAILURE. */
int apns_h2_receive_field_limit(apns_h2_session *session);
int apns_h2_receive_memory_limit(apns_h2_session *session);

/* h2_receive.c: response fields and bodies, for apns_h2_client_side. */
int apns_h2_receive_response_field(apns_h2_session *session, apns_h2_exchange *exchange,
                                   const h2_received_field *field);
apns_h2_message *apns_h2_receive_response_body(apns_h2_session *session, apns_h2_exchange *exchange);

/* h2_receive.c: adds an enum h2_exchange_fact (exchange: NULL allowed) and lists the exchange as changed. */
void apns_h2_receive_fact_add(apns_h2_session *session, apns_h2_exchange *exchange, uint8_t fact);

/* h2_receive.c: keeps a GOAWAY received. */
void apns_h2_goaway_note(apns_h2_facts *facts, int32_t last_stream, uint32_t code, const uint8_t *debug, size_t length);

/* h2_receive.c: sets all callbacks but those of h2_send.c. They only record facts. */
void apns_h2_receive_callbacks_set(nghttp2_session_callbacks *callbacks);

/* Four bytes of a frame. */
static inline uint32_t h2_big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* h2_send.c: notes which frame of the library's goes out. */
void apns_h2_send_note(apns_h2_session *session, const uint8_t *frame, size_t length);

/* h2_send.c: client: a frame of the library's, for apns_h2_client_side. */
int apns_h2_send_client_frame(apns_h2_session *session, const uint8_t *frame, size_t length);

/* h2_send.c: callbacks of the library: write a DATA frame to the output, and say how much of a body may go. */
int apns_h2_send_data(nghttp2_session *ng, nghttp2_frame *frame, const uint8_t *header, size_t length,
                      nghttp2_data_source *source, void *user);
ssize_t apns_h2_send_read(nghttp2_session *ng, int32_t stream, uint8_t *buffer, size_t length, uint32_t *flags,
                          nghttp2_data_source *source, void *user);

/* h2_send.c: adds bytes that the output has no room for, flushing as often as needed; not 0 when the output failed. */
int apns_h2_send_append_flushing(apns_h2_output *output, const uint8_t *bytes, size_t length);

/* Adds bytes; not 0 when the output failed. */
static inline int h2_send_append(apns_h2_output *output, const uint8_t *bytes, size_t length) {
    if (length > output->capacity - output->length) return apns_h2_send_append_flushing(output, bytes, length);
    if (length > 0) memcpy(output->bytes + output->length, bytes, length);
    output->length += (uint32_t)length;
    return 0;
}

/* h2_send.c: pumps what the library holds, but begins no deferred request. */
int apns_h2_send_library(apns_h2_session *session);

/* h2_session.c: adds an exchange to the list of changed ones. */
void apns_h2_session_changed_add(apns_h2_session *session, apns_h2_exchange *exchange);

/* h2_session.c: records why the session ends, unless something has been recorded already; returns
 * its status. */
int apns_h2_session_fail(apns_h2_session *session, int32_t kind, int32_t code, const char *text);

/* h2_session.c: the same for an error of the library. */
int apns_h2_session_fail_library(apns_h2_session *session, int code);

/* h2_session.c: after a call that gave the library something to write: 0, or what a result < 0 means. */
int apns_h2_session_submitted(apns_h2_session *session, int result);

/* h2_session.c: makes a session without SETTINGS; NULL when memory is short. */
apns_h2_session *apns_h2_session_open(const h2_side *side, const apns_h2_session_options *options);

/* h2_session.c: submits the SETTINGS that both sides have, and one more; frees the session and returns NULL when memory
 * is short. */
apns_h2_session *apns_h2_session_settle(apns_h2_session *session, uint32_t window, nghttp2_settings_entry own);

#endif
