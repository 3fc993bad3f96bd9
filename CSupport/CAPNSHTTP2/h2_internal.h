/*
 * Shared by the files of CAPNSHTTP2.
 *
 * Ownership. Exchanges belong to the caller's pool. A session refers to an exchange from its submission (on a server:
 * from the beginning of the stream) until it has APNS_H2_CLOSED, is abandoned, or the session is destroyed. Memory,
 * pool and output must outlive the session.
 *
 * Order. A request is written when it is submitted, if nghttp2 has nothing else to send (session->drained) and the
 * output is not paused; otherwise it is deferred until a pump. The functions of h2_receive.c, which callbacks of
 * nghttp2 call, record facts and do not call nghttp2, except to submit RST_STREAM.
 *
 * Failure. The first failure is kept (apns_h2_session_fail). A failed session takes nothing more: each function of
 * apns_h2.h that could change it returns the status at once, and after each step that can fail, the caller looks at the
 * result before it takes the next one. nghttp2 is not called again, except to be freed. The only thing that is still
 * written is GOAWAY (apns_h2_session_farewell).
 */
#pragma once

#include "apns_check.h"
#include "apns_h2.h"
#include "h2_frame.h"
#include "h2_hpack.h"
#include "h2_library.h"
#include <string.h>

struct apns_h2_pool {
    apns_h2_memory *memory;
    apns_h2_exchange *free; /* returned exchanges; those from fresh on were never in use */
    uint8_t *fresh;
    uint8_t *end;
    size_t stride;
    apns_h2_message *messages; /* free messages, with their field arrays */
    uint8_t *slab;
    uint32_t free_count;
};

/* A request that waits because the output is paused. */
typedef struct h2_deferred {
    struct h2_deferred *next;
    apns_h2_exchange *exchange;
    apns_h2_request request; /* holds references to its header sets */
    apns_h2_field fields[APNS_H2_REQUEST_FIELDS_MAX];
} h2_deferred;

/* A frame received after all streams have ended: its header, and the part of a GOAWAY that is kept. */
typedef struct h2_late {
    uint8_t frame[H2_FRAME_HEADER_BYTES + H2_GOAWAY_FIXED_BYTES + APNS_H2_DEBUG_BYTES_MAX];
    uint32_t length; /* bytes of the frame received so far */
    bool lost;       /* something was received that is not a frame */
} h2_late;

/* The frame that is being received (h2_inbound.c). */
typedef struct h2_inbound {
    uint32_t passing;     /* bytes of it that are still to be passed on as they are */
    uint32_t head_length; /* bytes of head that have arrived, fewer than all */
    uint8_t head[H2_FRAME_HEADER_BYTES];
    bool late;             /* nghttp2 no longer reads, since the end of a frame */
    bool refused;          /* nghttp2 has been given something for which it ends the connection */
    uint32_t frame_length; /* bytes of frame that have arrived */
    uint8_t *frame;        /* with its header: a frame with a fragment of a block; NULL for none */
    uint8_t *block;        /* the fragments of a block of several frames */
    uint32_t block_length;
    int32_t block_stream; /* the stream whose CONTINUATION must follow, or 0 */
} h2_inbound;

/* The content of a header block for its message (h2_block.c). */
typedef struct h2_head {
    int64_t content_length; /* -1 for none */
    uint32_t list_bytes;    /* size of the header list so far */
    uint32_t pseudo;        /* pseudo-header fields that were read, and their content: bits of the side */
    uint16_t status;        /* client: :status, or 0 */
    bool regular;           /* a field that is not a pseudo-header field has been read */
    bool malformed;         /* fields after the one that made it so have not been looked at */
} h2_head;

typedef struct h2_body h2_body;
typedef struct h2_reset h2_reset;

/* Client: the peer's flow control of the requests' bodies (h2_body.c). */
typedef struct h2_flow {
    int64_t window;        /* bytes that may still be sent on the connection */
    int64_t stream_window; /* bytes that may be sent on each stream without a WINDOW_UPDATE for it */
    h2_body *first;        /* the bodies that wait, in order of submission */
    h2_body **last;
} h2_flow;

/* The functions that differ between clients and servers (CAPNSTransportServer). */
typedef struct h2_side {
    size_t session_bytes; /* size of a session, which begins with struct apns_h2_session */
    bool serves;

    /* Processes bytes received after the end of the last stream, which nghttp2 no longer reads; NULL if nghttp2
     * does. */
    void (*late_receive)(apns_h2_session *session, const uint8_t *bytes, size_t length);

    /* Handles a whole WINDOW_UPDATE frame with a payload of four bytes; NULL if nghttp2 does. Returns 0 or a negative
     * status. */
    int (*window_update)(apns_h2_session *session, const uint8_t *frame);

    /* Read a pseudo-header field, or the field host, into session->head; return whether it may stand there. host_read
     * is NULL on a client, to which the field means nothing. */
    bool (*pseudo_read)(h2_head *head, const apns_h2_field *field);
    bool (*host_read)(h2_head *head, const apns_h2_field *field);

    /* Keeps a requested field until the block has been accepted, by apns_h2_block_keep. Returns false if the
     * session fails. */
    bool (*keep)(apns_h2_session *session, const apns_h2_field *field);

    /* The others are called while nghttp2 is fed or frames are taken. A client has no stream_begin, as push is
     * disabled. head_take applies session->head to a message without APNS_H2_HEAD and returns whether it is
     * well-formed; fields_end takes the kept fields of a well-formed block, also those of trailers. body_begin returns
     * NULL if there is no memory or the body is not kept. stream_end, which a server has not, is called when nghttp2
     * has closed a stream; exchange: NULL if it was abandoned. */
    void (*stream_begin)(apns_h2_session *session, int32_t stream);
    bool (*head_take)(const h2_head *head, apns_h2_exchange *exchange);
    void (*fields_end)(apns_h2_session *session, apns_h2_exchange *exchange);
    apns_h2_message *(*body_begin)(apns_h2_session *session, apns_h2_exchange *exchange);
    void (*stream_end)(apns_h2_session *session, int32_t stream, const apns_h2_exchange *exchange, uint32_t code);

    /* Appends a frame of nghttp2 to the output; returns nonzero if that failed. */
    int (*frame_append)(apns_h2_session *session, const uint8_t *frame, size_t length);

    /* Writes what nghttp2 has to send, and the session->waiting items that are queued here. Returns 0 or a negative
     * status. */
    int (*pump)(apns_h2_session *session);

    /* Likewise, at the end: without what must not be sent any more, such as requests. */
    int (*finish)(apns_h2_session *session);

    /* Frees the items that are queued here. */
    void (*waiting_clear)(apns_h2_session *session);
} h2_side;

extern const h2_side apns_h2_client_side;

struct apns_h2_session {
    const h2_side *side;
    h2_library *library;
    apns_h2_memory *memory;
    apns_h2_pool *pool;
    apns_h2_output *output;
    apns_h2_exchange *current; /* exchange whose header block is being received; NULL to ignore the block */
    apns_h2_exchange *changed_first;
    apns_h2_exchange **changed_last;
    const apns_h2_field *captures;
    uint32_t capture_count;
    uint64_t capture_lengths; /* bit n is set if a name has n bytes; excludes most fields */
    uint32_t body_received_max;
    uint32_t streams; /* streams of nghttp2: begun, and not closed by it */
    int32_t written_stream;
    int32_t last_reset;     /* the stream of the RST_STREAM that was received or written last */
    bool drained;           /* nghttp2 had nothing more to send, and nothing has happened since */
    bool preface_due;       /* the client's preface has not been taken from nghttp2 */
    uint32_t goaway_code;   /* of the GOAWAY that the caller has submitted last */
    bool goaway_written;    /* a GOAWAY has been written */
    char invalid_text[128]; /* the error of nghttp2 for the last invalid frame */
    h2_encoder encoder;
    const apns_h2_request *request; /* the request whose HEADERS frame nghttp2 writes next */
    uint32_t request_body_length;
    uint32_t waiting;            /* client: deferred requests; server: pieces of apns_h2_fault_bytes */
    h2_deferred *deferred_first; /* in order of submission */
    h2_deferred **deferred_last;
    h2_flow flow;
    h2_reset *resets; /* streams that are still to be reset by frames of our own */
    h2_decoder decoder;
    h2_head head;          /* of the block received last */
    apns_h2_message *kept; /* the fields that are kept of it; may be NULL */
    h2_inbound inbound;
    apns_error failure;
    apns_h2_facts facts;
    h2_late late;
};

/* Whether a session has failed, so that nothing more may be done with it. */
static inline bool h2_failed(const apns_h2_session *session) {
    return session->failure.scope != APNS_H2_FAILURE_NONE;
}

/* h2_memory.c: the functions through which nghttp2 gets its memory from an apns_h2_memory. */
extern const h2_allocator apns_h2_memory_allocator;

/* h2_message.c: add to a message, which gets a copy; return false if a limit is reached or there is no memory. */
bool apns_h2_message_field_add(apns_h2_pool *pool, apns_h2_message *message, const apns_h2_field *field);
bool apns_h2_message_body_add(apns_h2_pool *pool, apns_h2_message *message, const uint8_t *bytes, size_t length);

/* h2_message.c: returns an empty message, owned by the caller until apns_h2_pool_message_give, or NULL if there is no
 * memory. */
apns_h2_message *apns_h2_message_take(apns_h2_pool *pool);

/* h2_message.c: removes all fields, such as those of an interim response. */
void apns_h2_message_fields_clear(apns_h2_message *message);

/* h2_late.c: client: looks for GOAWAY in bytes that nghttp2 no longer reads. */
void apns_h2_late_receive(apns_h2_session *session, const uint8_t *bytes, size_t length);

/* h2_receive.c: record that the peer exceeded a limit, or that there is no memory; return the status. */
int apns_h2_receive_field_limit(apns_h2_session *session);
int apns_h2_receive_memory_limit(apns_h2_session *session);

/* h2_receive.c: what nghttp2 has found in what it was fed, or closed while frames were taken. They record facts and
 * failures. exchange: NULL allowed. */
void apns_h2_receive_headers_begin(apns_h2_session *session, int32_t stream, bool is_request);
void apns_h2_receive_headers_end(apns_h2_session *session, bool last);
void apns_h2_receive_data(apns_h2_session *session, apns_h2_exchange *exchange, const uint8_t *bytes, size_t length);
void apns_h2_receive_data_end(apns_h2_session *session, apns_h2_exchange *exchange);
void apns_h2_receive_reset(apns_h2_session *session, int32_t stream);
void apns_h2_receive_settings(apns_h2_session *session, const h2_setting *settings, size_t count);
void apns_h2_receive_pong(apns_h2_session *session, const uint8_t *opaque);
void apns_h2_receive_close(apns_h2_session *session, int32_t stream, apns_h2_exchange *exchange, uint32_t code);

/* h2_receive.c: body_begin of apns_h2_client_side. */
apns_h2_message *apns_h2_receive_response_body(apns_h2_session *session, apns_h2_exchange *exchange);

/* h2_block.c: decodes a header block of the peer into session->head and session->kept. Returns 0, 1 if it cannot be
 * decoded, or a negative status. */
int apns_h2_block_read(apns_h2_session *session, const uint8_t *bytes, size_t length);

/* h2_block.c: adds a field to session->kept. Returns false if there is no memory, which it has recorded. */
bool apns_h2_block_keep(apns_h2_session *session, const apns_h2_field *field);

/* h2_block.c: returns the number that a field's value is, or -1 if it has no digits, other bytes, or more than fit. */
int64_t apns_h2_number_read(const apns_h2_field *field);

static inline bool h2_name_is(const apns_h2_field *field, const char *name, size_t length) {
    return field->name_length == length && memcmp(field->name, name, length) == 0;
}

static inline bool h2_value_is(const apns_h2_field *field, const char *value, size_t length) {
    return field->value_length == length && memcmp(field->value, value, length) == 0;
}

/* h2_answer.c: pseudo_read, keep, head_take and fields_end of apns_h2_client_side. */
bool apns_h2_answer_pseudo_read(h2_head *head, const apns_h2_field *field);
bool apns_h2_answer_head_take(const h2_head *head, apns_h2_exchange *exchange);
bool apns_h2_answer_keep(apns_h2_session *session, const apns_h2_field *field);
void apns_h2_answer_fields_end(apns_h2_session *session, apns_h2_exchange *exchange);

/* h2_inbound.c: processes received bytes; returns 0 or a negative status. */
int apns_h2_inbound_receive(apns_h2_session *session, const uint8_t *bytes, size_t length);

/* h2_inbound.c: releases what has arrived of a frame. */
void apns_h2_inbound_clear(apns_h2_session *session);

/* h2_receive.c: adds an enum apns_h2_exchange_fact to an exchange (NULL allowed) and lists it as changed. */
void apns_h2_receive_fact_add(apns_h2_session *session, apns_h2_exchange *exchange, uint8_t fact);

/* h2_receive.c: keeps a received GOAWAY. */
void apns_h2_goaway_note(apns_h2_facts *facts, int32_t last_stream, uint32_t code, const uint8_t *debug, size_t length);

/* h2_send.c: records facts about a frame of nghttp2 that is being sent. */
void apns_h2_send_note(apns_h2_session *session, const uint8_t *frame, size_t length);

/* h2_send.c: frame_append of apns_h2_client_side. */
int apns_h2_send_client_frame(apns_h2_session *session, const uint8_t *frame, size_t length);

/* h2_body.c: sends the body of a request whose HEADERS have been written, as far as windows and output allow; the rest
 * waits. Returns 0 or a negative status. */
int apns_h2_body_begin(apns_h2_session *session, apns_h2_exchange *exchange);

/* h2_body.c: continues the bodies that wait; returns 0 or a negative status. */
int apns_h2_bodies_continue(apns_h2_session *session);

/* h2_body.c: stream_end of apns_h2_client_side. If nghttp2 closed the stream at the end of its answer, but the body was
 * not sent or the stream was to be reset, it is not closed for the peer: it is reset by a frame of our own (RFC 9113,
 * section 8.1). */
void apns_h2_body_end(apns_h2_session *session, int32_t stream, const apns_h2_exchange *exchange, uint32_t code);

/* h2_body.c: forget the body of a stream, if it waits, or all bodies. */
void apns_h2_body_drop(apns_h2_session *session, int32_t stream);
void apns_h2_bodies_clear(apns_h2_session *session);

/* h2_body.c: window_update of apns_h2_client_side. */
int apns_h2_window_update(apns_h2_session *session, const uint8_t *frame);

void apns_h2_flow_init(h2_flow *flow);

/* h2_reset.c: has a stream reset that nghttp2 no longer has, once the frames of nghttp2 have been written. Returns 0 or
 * a negative status. */
int apns_h2_reset_add(apns_h2_session *session, int32_t stream, uint32_t code);

/* h2_reset.c: forget the reset of a stream, because the peer or nghttp2 has reset it, or all of them. */
void apns_h2_reset_drop(apns_h2_session *session, int32_t stream);
void apns_h2_resets_clear(apns_h2_session *session);

/* h2_reset.c: writes the resets, until the output is paused; returns 0 or a negative status. */
int apns_h2_resets_write(apns_h2_session *session);

/* h2_send.c: appends bytes that exceed the room in the output, flushing as needed; returns nonzero if a flush
 * failed. */
int apns_h2_send_append_flushing(apns_h2_output *output, const uint8_t *bytes, size_t length);

/* Appends bytes to the output; returns nonzero if a flush failed. */
static inline int h2_send_append(apns_h2_output *output, const uint8_t *bytes, size_t length) {
    APNS_ASSERT(output->length <= output->capacity);
    if (length > output->capacity - output->length) return apns_h2_send_append_flushing(output, bytes, length);
    if (length > 0) memcpy(output->bytes + output->length, bytes, length);
    output->length += (uint32_t)length;
    return 0;
}

/* h2_send.c: write what nghttp2 has to send, without submitting deferred requests: all of it, or until the HEADERS of a
 * stream have been written, after which nghttp2 has nothing. */
int apns_h2_send_library(apns_h2_session *session);
int apns_h2_send_library_until(apns_h2_session *session, int32_t stream);

/* h2_session.c: adds an exchange to the list of changed exchanges, unless it is listed. */
void apns_h2_session_changed_add(apns_h2_session *session, apns_h2_exchange *exchange);

/* h2_session.c: records why the session fails, unless a reason is already recorded; returns the status. code: that of
 * the GOAWAY (RFC 9113, section 7). */
int apns_h2_session_fail(apns_h2_session *session, int32_t kind, uint32_t code, const char *text);

/* h2_session.c: likewise, because flush failed. */
int apns_h2_session_fail_output(apns_h2_session *session);

/* h2_session.c: called after submitting something to nghttp2, with the result, which it returns. */
int apns_h2_session_submitted(apns_h2_session *session, int result);

/* h2_session.c: creates a session without submitting SETTINGS; returns NULL if there is no memory. */
apns_h2_session *apns_h2_session_open(const h2_side *side, const apns_h2_session_options *options);

/* h2_session.c: submits the SETTINGS that both sides use, and one more; frees the session and returns NULL if there is
 * no memory. */
apns_h2_session *apns_h2_session_settle(apns_h2_session *session, uint32_t window, h2_setting own);
