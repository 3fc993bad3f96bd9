#include "h2_internal.h"
#include <string.h>

/* What the peer sends, on its way to nghttp2: frames with a header block are given to it with a block without fields
 * (h2_block.c). It has only the updates of the table's size, because nghttp2 requires one after settings that made the
 * table smaller (RFC 7541, section 4.2). A client's WINDOW_UPDATE is handled in h2_body.c, and all other frames are
 * given as they are. A frame that breaks the rules of frames is passed on as it is, too: nghttp2 ends the connection,
 * and what follows no longer matters. The exception is a CONTINUATION that is too large, which nghttp2 would read. */

enum { BLOCK_BYTES_MAX = 2 * APNS_H2_HEADER_LIST_BYTES_MAX, PRIORITY_BYTES = 5, PROMISED_STREAM_BYTES = 4 };

/* The part of a frame that precedes the fragment of a block, and the fragment. */
typedef struct fragment {
    const uint8_t *prefix;
    const uint8_t *bytes;
    uint32_t prefix_length;
    uint32_t length;
} fragment;

/* What nghttp2 is given in place of a fragment. */
enum replacement {
    REPLACED_EMPTY,   /* of a block that continues */
    REPLACED_UPDATES, /* of a block that was decoded: the updates of the table's size */
    REPLACED_BROKEN,  /* of a block that cannot be decoded: a byte that cannot */
};

static int give_replaced(apns_h2_session *session, const uint8_t *head, const fragment *part,
                         enum replacement replacement) {
    uint8_t frame[H2_FRAME_HEADER_BYTES + PRIORITY_BYTES + H2_SIZE_UPDATES_BYTES_MAX];
    memcpy(frame, head, H2_FRAME_HEADER_BYTES);
    uint8_t *place = frame + H2_FRAME_HEADER_BYTES;
    if (part->prefix_length > 0) memcpy(place, part->prefix, part->prefix_length);
    place += part->prefix_length;
    const h2_decoder *decoder = &session->decoder;
    if (replacement == REPLACED_UPDATES && decoder->resized)
        place = apns_h2_size_updates_write(place, decoder->resize_least, decoder->table.bytes_max);
    if (replacement == REPLACED_BROKEN) *place++ = 0x80; /* the index 0, which no entry has */
    frame[0] = frame[1] = 0;
    frame[2] = (uint8_t)(place - frame - H2_FRAME_HEADER_BYTES);
    frame[4] &= (uint8_t)~H2_FLAG_PADDED;
    return apns_h2_library_feed(session, frame, (size_t)(place - frame));
}

/* Finds the fragment of a frame (RFC 9113, sections 6.2, 6.6 and 6.10). Returns false if it cannot have one. */
static bool fragment_find(const uint8_t *head, const uint8_t *payload, uint32_t length, fragment *part) {
    uint8_t type = head[3], flags = head[4];
    uint32_t padding = 0, begin = 0;
    *part = (fragment){.bytes = payload, .length = length};
    if (type == H2_CONTINUATION) return true;
    if ((flags & H2_FLAG_PADDED) != 0) {
        if (length == 0) return false;
        padding = payload[0];
        begin = 1;
    }
    if (type == H2_PUSH_PROMISE)
        part->prefix_length = PROMISED_STREAM_BYTES;
    else if ((flags & H2_FLAG_PRIORITY) != 0)
        part->prefix_length = PRIORITY_BYTES;
    if (begin + part->prefix_length + padding > length) return false;
    part->prefix = payload + begin;
    part->bytes = part->prefix + part->prefix_length;
    part->length = length - begin - part->prefix_length - padding;
    return true;
}

/* Adds a fragment to a block of several frames. */
static int block_add(apns_h2_session *session, const fragment *part) {
    h2_inbound *inbound = &session->inbound;
    if (part->length > BLOCK_BYTES_MAX - inbound->block_length) return apns_h2_receive_field_limit(session);
    if (part->length == 0) return 0;
    uint8_t *block = apns_h2_memory_grow(session->memory, inbound->block, inbound->block_length + part->length);
    if (block == NULL) return apns_h2_receive_memory_limit(session);
    memcpy(block + inbound->block_length, part->bytes, part->length);
    inbound->block = block;
    inbound->block_length += part->length;
    return 0;
}

static void block_drop(apns_h2_session *session) {
    apns_h2_memory_give(session->memory, session->inbound.block);
    session->inbound.block = NULL;
    session->inbound.block_length = 0;
}

static int block_replace(apns_h2_session *session, const uint8_t *head, const fragment *part, const uint8_t *block,
                         uint32_t block_length) {
    int result = apns_h2_block_read(session, block, block_length);
    return result < 0 ? result : give_replaced(session, head, part, result == 0 ? REPLACED_UPDATES : REPLACED_BROKEN);
}

/* Handles a whole frame with a fragment of a block. */
static int frame_take(apns_h2_session *session, const uint8_t *head, const uint8_t *payload) {
    h2_inbound *inbound = &session->inbound;
    if (head[3] == H2_WINDOW_UPDATE) return session->side->window_update(session, head);
    fragment part;
    if (!fragment_find(head, payload, h2_frame_length(head), &part)) {
        inbound->refused = true;
        return apns_h2_library_feed(session, head, H2_FRAME_HEADER_BYTES) != 0
                   ? session->failure.status
                   : apns_h2_library_feed(session, payload, h2_frame_length(head));
    }
    bool last = (head[4] & H2_FLAG_END_HEADERS) != 0;
    if (last && inbound->block_stream == 0) return block_replace(session, head, &part, part.bytes, part.length);
    if (block_add(session, &part) != 0) return session->failure.status;
    inbound->block_stream = last ? 0 : h2_frame_stream(head);
    if (!last) return give_replaced(session, head, &part, REPLACED_EMPTY);
    int result = block_replace(session, head, &part, inbound->block, inbound->block_length);
    block_drop(session);
    return result;
}

/* Returns whether a frame continues the block that has begun. */
static bool continues_block(const h2_inbound *inbound, const uint8_t *head) {
    return head[3] == H2_CONTINUATION && inbound->block_stream != 0 && h2_frame_stream(head) == inbound->block_stream;
}

/* Returns whether a frame has a fragment of a block; where it may not, or one must come and does not, nghttp2 ends the
 * connection. */
static bool carries_fragment(h2_inbound *inbound, const uint8_t *head) {
    uint8_t type = head[3];
    if (inbound->refused) return false;
    bool continues = continues_block(inbound, head);
    inbound->refused = h2_frame_length(head) > H2_FRAME_BYTES_MAX || continues != (inbound->block_stream != 0);
    return !inbound->refused && (continues || type == H2_HEADERS || type == H2_PUSH_PROMISE);
}

static bool is_window_update(const apns_h2_session *session, const uint8_t *head) {
    return !session->inbound.refused && session->side->window_update != NULL && head[3] == H2_WINDOW_UPDATE &&
           h2_frame_length(head) == H2_WINDOW_UPDATE_BYTES - H2_FRAME_HEADER_BYTES;
}

/* Returns whether nghttp2 has stopped reading: after a GOAWAY, when no stream is open. */
static bool reads_no_more(apns_h2_session *session) {
    return session->streams == 0 && session->side->late_receive != NULL && !apns_h2_library_reads(session);
}

/* Begins a frame whose first bytes have arrived, including its header. Returns how many of them it takes. */
static size_t frame_begin(apns_h2_session *session, const uint8_t *bytes, size_t length) {
    h2_inbound *inbound = &session->inbound;
    if (reads_no_more(session)) {
        inbound->late = true;
        session->side->late_receive(session, bytes, length);
        return length;
    }
    uint32_t whole = H2_FRAME_HEADER_BYTES + h2_frame_length(bytes);
    if (!carries_fragment(inbound, bytes) && !is_window_update(session, bytes)) {
        /* nghttp2 looks at the length of every frame but this one (RFC 9113, section 4.2). */
        if (inbound->refused && continues_block(inbound, bytes)) {
            apns_h2_session_fail(session, APNS_H2_FAILURE_PROTOCOL, APNS_H2_FRAME_SIZE_ERROR,
                                 "CONTINUATION: too large frame size");
            return length;
        }
        inbound->passing = whole;
        return 0;
    }
    if (length >= whole) {
        frame_take(session, bytes, bytes + H2_FRAME_HEADER_BYTES);
        return whole;
    }
    inbound->frame = apns_h2_memory_take(session->memory, whole);
    if (inbound->frame == NULL) {
        apns_h2_receive_memory_limit(session);
        return length;
    }
    memcpy(inbound->frame, bytes, length);
    inbound->frame_length = (uint32_t)length;
    return length;
}

/* Continues a frame with a fragment. */
static size_t frame_continue(apns_h2_session *session, const uint8_t *bytes, size_t length) {
    h2_inbound *inbound = &session->inbound;
    uint32_t whole = H2_FRAME_HEADER_BYTES + h2_frame_length(inbound->frame);
    APNS_ASSERT(inbound->frame_length < whole);
    size_t left = whole - inbound->frame_length;
    size_t now = length < left ? length : left;
    memcpy(inbound->frame + inbound->frame_length, bytes, now);
    inbound->frame_length += (uint32_t)now;
    if (now < left) return now;
    frame_take(session, inbound->frame, inbound->frame + H2_FRAME_HEADER_BYTES);
    apns_h2_memory_give(session->memory, inbound->frame);
    inbound->frame = NULL;
    return now;
}

/* Completes the header of a frame that arrives in pieces. */
static size_t head_continue(apns_h2_session *session, const uint8_t *bytes, size_t length) {
    h2_inbound *inbound = &session->inbound;
    size_t left = H2_FRAME_HEADER_BYTES - inbound->head_length;
    size_t now = length < left ? length : left;
    memcpy(inbound->head + inbound->head_length, bytes, now);
    inbound->head_length += (uint32_t)now;
    if (now < left) return now;
    inbound->head_length = 0;
    if (frame_begin(session, inbound->head, H2_FRAME_HEADER_BYTES) > 0) return now;
    inbound->passing -= H2_FRAME_HEADER_BYTES;
    apns_h2_library_feed(session, inbound->head, H2_FRAME_HEADER_BYTES);
    return now;
}

static size_t pass(apns_h2_session *session, const uint8_t *bytes, size_t length) {
    h2_inbound *inbound = &session->inbound;
    size_t now = length < inbound->passing ? length : inbound->passing;
    inbound->passing -= (uint32_t)now;
    apns_h2_library_feed(session, bytes, now);
    return now;
}

int apns_h2_inbound_receive(apns_h2_session *session, const uint8_t *bytes, size_t length) {
    h2_inbound *inbound = &session->inbound;
    while (length > 0 && session->failure.scope == APNS_H2_FAILURE_NONE) {
        size_t taken;
        if (inbound->late) {
            session->side->late_receive(session, bytes, length);
            break;
        }
        if (inbound->passing > 0)
            taken = pass(session, bytes, length);
        else if (inbound->frame != NULL)
            taken = frame_continue(session, bytes, length);
        else if (inbound->head_length > 0 || length < H2_FRAME_HEADER_BYTES)
            taken = head_continue(session, bytes, length);
        else
            taken = frame_begin(session, bytes, length);
        APNS_ASSERT(taken <= length);
        bytes += taken;
        length -= taken;
    }
    return session->failure.status;
}

void apns_h2_inbound_clear(apns_h2_session *session) {
    apns_h2_memory_give(session->memory, session->inbound.frame);
    session->inbound.frame = NULL;
    block_drop(session);
}
