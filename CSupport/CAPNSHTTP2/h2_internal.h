/*
 * Shared by the files of CAPNSHTTP2.
 *
 * Ownership. Exchanges belong to the caller's pool. A session refers to an exchange from its submission (on a server:
 * from the beginning of the stream) until it has APNS_H2_CLOSED, is abandoned, or the session is destroyed. Memory,
 * pool and output must outlive the session.
 *
 * Order. A request is written when it is submitted, if nghttp2 has nothing else to send (session->drained) and the
 * output is not paused; otherwise it is deferred until a pump. Callbacks of nghttp2 record facts and do not call
 * nghttp2, except to submit RST_STREAM. The first failure is kept (apns_h2_session_fail); after it, only
 * apns_h2_session_destroy and functions that return state may be called.
 */
#pragma once

#include "apns_check.h"
#include "apns_h2.h"
#include "h2_hpack.h"
#include <arpa/inet.h>
#include <nghttp2/nghttp2.h>
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

/* Size of a frame header, and the payload that every peer accepts (RFC 9113, section 4.2). */
enum { H2_FRAME_HEADER_BYTES = 9, H2_FRAME_BYTES_MAX = 16384 };

/* Size of a WINDOW_UPDATE frame, and of a flow-control window at first (RFC 9113, sections 6.9 and 6.9.2). */
enum { H2_WINDOW_UPDATE_BYTES = 13, H2_WINDOW_INITIAL = 65535 };

/* A request that waits because the output is paused. */
typedef struct h2_deferred {
    struct h2_deferred *next;
    apns_h2_exchange *exchange;
    apns_h2_request request; /* holds references to its header sets */
    apns_h2_field fields[APNS_H2_REQUEST_FIELDS_MAX];
} h2_deferred;

/* A frame received after all streams have ended: its header, and the part of a GOAWAY that is kept. */
typedef struct h2_late {
    uint8_t frame[H2_FRAME_HEADER_BYTES + 8 + APNS_H2_DEBUG_BYTES_MAX];
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

/* What a header block says of its message (h2_block.c). */
typedef struct h2_head {
    int64_t content_length; /* -1 for none */
    uint32_t list_bytes;    /* size of the header list so far */
    uint32_t pseudo;        /* pseudo-header fields that were read, and what they say: bits of the side */
    uint16_t status;        /* client: :status, or 0 */
    bool regular;           /* a field that is not a pseudo-header field has been read */
    bool malformed;         /* fields after the one that made it so have not been looked at */
} h2_head;

typedef struct h2_body h2_body;

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
    int (*library_new)(nghttp2_session **out, const nghttp2_session_callbacks *callbacks, void *user,
                       const nghttp2_option *options, nghttp2_mem *memory);

    /* Writes a DATA frame of nghttp2, which writes none for a client. */
    nghttp2_send_data_callback data_send;

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

    /* Keeps a field that is wanted until the block has been accepted, by apns_h2_block_keep. Returns false if the
     * session fails. */
    bool (*keep)(apns_h2_session *session, const apns_h2_field *field);

    /* The others are called by callbacks of nghttp2. A client has no stream_begin, as push is disabled, which returns
     * what the callback does. head_take applies session->head to a message without APNS_H2_HEAD and returns whether it
     * is well-formed; fields_end takes the kept fields of a well-formed block, also those of trailers. body_begin
     * returns NULL if there is no memory or the body is not kept. A server has no body_end. */
    int (*stream_begin)(apns_h2_session *session, int32_t stream);
    bool (*head_take)(const h2_head *head, apns_h2_exchange *exchange);
    void (*fields_end)(apns_h2_session *session, apns_h2_exchange *exchange);
    apns_h2_message *(*body_begin)(apns_h2_session *session, apns_h2_exchange *exchange);
    void (*body_end)(apns_h2_session *session, const apns_h2_exchange *exchange);

    /* Appends a frame of nghttp2 to the output; returns nonzero if that failed. */
    int (*frame_append)(apns_h2_session *session, const uint8_t *frame, size_t length);

    /* Writes what nghttp2 has to send, and the session->waiting items that are queued here. */
    int (*pump)(apns_h2_session *session);

    /* Frees the items that are queued here. */
    void (*waiting_clear)(apns_h2_session *session);
} h2_side;

extern const h2_side apns_h2_client_side;

struct apns_h2_session {
    const h2_side *side;
    nghttp2_session *ng;
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
    uint32_t open_count;
    int32_t written_stream;
    bool drained;    /* nghttp2 had nothing more to send, and nothing has happened since */
    bool goaway_own; /* the caller has submitted a GOAWAY with goaway_own_code */
    uint32_t goaway_own_code;
    int32_t invalid_code; /* error code of the last invalid frame */
    char invalid_text[128];
    h2_encoder encoder;
    const apns_h2_request *request; /* the request whose HEADERS frame nghttp2 writes next */
    uint32_t request_body_length;
    uint32_t waiting;            /* client: deferred requests; server: pieces of apns_h2_fault_bytes */
    h2_deferred *deferred_first; /* in order of submission */
    h2_deferred **deferred_last;
    h2_flow flow;
    h2_decoder decoder;
    h2_head head;          /* of the block received last */
    apns_h2_message *kept; /* the fields that are kept of it; may be NULL */
    h2_inbound inbound;
    apns_error failure;
    apns_h2_facts facts;
    h2_late late;
};

/* h2_memory.c: returns an nghttp2 allocator that uses ours, which must outlive everything created with it. */
nghttp2_mem apns_h2_memory_library(apns_h2_memory *memory);

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

/* h2_receive.c: record that the peer exceeded a limit, or that there is no memory; return
 * NGHTTP2_ERR_CALLBACK_FAILURE. */
int apns_h2_receive_field_limit(apns_h2_session *session);
int apns_h2_receive_memory_limit(apns_h2_session *session);

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

/* h2_inbound.c: gives nghttp2 bytes of the peer, or bytes in their place; returns 0 or a negative status. */
int apns_h2_inbound_give(apns_h2_session *session, const uint8_t *bytes, size_t length);

/* h2_inbound.c: releases what has arrived of a frame. */
void apns_h2_inbound_clear(apns_h2_session *session);

/* h2_receive.c: adds an enum apns_h2_exchange_fact to an exchange (NULL allowed) and lists it as changed. */
void apns_h2_receive_fact_add(apns_h2_session *session, apns_h2_exchange *exchange, uint8_t fact);

/* h2_receive.c: keeps a received GOAWAY. */
void apns_h2_goaway_note(apns_h2_facts *facts, int32_t last_stream, uint32_t code, const uint8_t *debug, size_t length);

/* h2_receive.c: sets all callbacks except those of h2_send.c. */
void apns_h2_receive_callbacks_set(nghttp2_session_callbacks *callbacks);

/* Reads four bytes of a frame as a big-endian number. */
static inline uint32_t h2_big_endian(const uint8_t *bytes) {
    uint32_t number;
    memcpy(&number, bytes, sizeof(number));
    return ntohl(number);
}

/* The length of a frame's payload, and its stream (RFC 9113, section 4.1). */
static inline uint32_t h2_frame_length(const uint8_t *frame) {
    return h2_big_endian(frame) >> 8;
}

static inline int32_t h2_frame_stream(const uint8_t *frame) {
    return (int32_t)(h2_big_endian(frame + 5) & 0x7fffffff);
}

/* Writes the header of a frame (RFC 9113, section 4.1). */
static inline void h2_frame_header_write(uint8_t *place, uint32_t length, uint8_t type, uint8_t flags,
                                         uint32_t stream) {
    const uint32_t head = htonl(length << 8 | type);
    stream = htonl(stream);
    memcpy(place, &head, sizeof(head));
    place[4] = flags;
    memcpy(place + 5, &stream, sizeof(stream));
}

/* h2_send.c: records facts about a frame of nghttp2 that is being sent. */
void apns_h2_send_note(apns_h2_session *session, const uint8_t *frame, size_t length);

/* h2_send.c: frame_append of apns_h2_client_side. */
int apns_h2_send_client_frame(apns_h2_session *session, const uint8_t *frame, size_t length);

/* h2_body.c: sends the body of a request whose HEADERS have been written, as far as windows and output allow; the rest
 * waits. Returns 0 or a negative status. */
int apns_h2_body_begin(apns_h2_session *session, apns_h2_exchange *exchange);

/* h2_body.c: continues the bodies that wait; returns 0 or a negative status. */
int apns_h2_bodies_continue(apns_h2_session *session);

/* h2_body.c: called when a stream has been closed before its body was sent. If the answer is complete, the stream is
 * closed as far as nghttp2 knows, and for the peer it has to be reset, unless it does so itself (RFC 9113,
 * section 8.1): apns_h2_bodies_reset submits RST_STREAM, and returns 0 or a negative status. */
void apns_h2_body_end(apns_h2_session *session, const apns_h2_exchange *exchange);
int apns_h2_bodies_reset(apns_h2_session *session);

/* h2_body.c: forget a stream, if its body waits or it has to be reset, or all streams. */
void apns_h2_body_drop(apns_h2_session *session, int32_t stream);
void apns_h2_bodies_clear(apns_h2_session *session);

/* h2_body.c: window_update of apns_h2_client_side. */
int apns_h2_window_update(apns_h2_session *session, const uint8_t *frame);

void apns_h2_flow_init(h2_flow *flow);

/* h2_send.c: appends bytes that exceed the room in the output, flushing as needed; returns nonzero if a flush
 * failed. */
int apns_h2_send_append_flushing(apns_h2_output *output, const uint8_t *bytes, size_t length);

/* Appends bytes to the output; returns nonzero if a flush failed. */
static inline int h2_send_append(apns_h2_output *output, const uint8_t *bytes, size_t length) {
    if (length > output->capacity - output->length) return apns_h2_send_append_flushing(output, bytes, length);
    if (length > 0) memcpy(output->bytes + output->length, bytes, length);
    output->length += (uint32_t)length;
    return 0;
}

/* h2_send.c: write what nghttp2 has to send, without submitting deferred requests: all of it, or until the HEADERS of a
 * stream have been written, behind which nghttp2 has nothing. */
int apns_h2_send_library(apns_h2_session *session);
int apns_h2_send_library_until(apns_h2_session *session, int32_t stream);

/* h2_session.c: adds an exchange to the list of changed exchanges, unless it is listed. */
void apns_h2_session_changed_add(apns_h2_session *session, apns_h2_exchange *exchange);

/* h2_session.c: records why the session fails, unless a reason is already recorded; returns the status. */
int apns_h2_session_fail(apns_h2_session *session, int32_t kind, int32_t code, const char *text);

/* h2_session.c: likewise, for an error of nghttp2. */
int apns_h2_session_fail_library(apns_h2_session *session, int code);

/* h2_session.c: called after submitting something to nghttp2, with its result; returns 0 or a negative status. */
int apns_h2_session_submitted(apns_h2_session *session, int result);

/* h2_session.c: creates a session without submitting SETTINGS; returns NULL if there is no memory. */
apns_h2_session *apns_h2_session_open(const h2_side *side, const apns_h2_session_options *options);

/* h2_session.c: submits the SETTINGS that both sides use, and one more; frees the session and returns NULL if there is
 * no memory. */
apns_h2_session *apns_h2_session_settle(apns_h2_session *session, uint32_t window, nghttp2_settings_entry own);
