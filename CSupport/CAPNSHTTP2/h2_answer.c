#include "h2_internal.h"
#include <string.h>

/* Header blocks of the peer. nghttp2 does not decode them: it is given blocks that it decodes at once, with the fields
 * on which it has an opinion (RFC 9113, sections 8.1.1, 8.2 and 8.3): pseudo-header fields and content-length, and for
 * any other offence a field that is one, too. So it stays the judge of what the peer sends. */

enum { FAULT_BYTES = 4, CONTENT_LENGTH_BYTES_MAX = 19 };

/* Indices of the static table (RFC 7541, appendix A). */
enum { STATIC_STATUS_200 = 8, STATIC_CONTENT_LENGTH = 28 };

typedef struct answer_block {
    apns_h2_session *session;
    uint32_t list_bytes; /* size of the header list so far */
    uint32_t length;
    bool regular; /* a field that is not a pseudo-header field has been read */
    bool faulty;  /* nghttp2 refuses what it is given, and needs no more */
    uint8_t *bytes;
} answer_block;

/* Adds a pseudo-header field that does not exist. */
static void fault_add(answer_block *block) {
    static const uint8_t fault[FAULT_BYTES] = {0, 1, ':', 0};
    if (block->faulty) return;
    block->faulty = true;
    memcpy(block->bytes + block->length, fault, sizeof(fault));
    block->length += FAULT_BYTES;
}

/* Adds a literal whose name is an entry of the static table. There is room for two of each: a third is an offence. */
static void literal_add(answer_block *block, uint32_t index, const uint8_t *value, uint32_t length) {
    if (block->faulty) return;
    if (length > CONTENT_LENGTH_BYTES_MAX || block->length + 3 + length > H2_ANSWER_BLOCK_BYTES_MAX - FAULT_BYTES) {
        fault_add(block);
        return;
    }
    uint8_t *place = block->bytes + block->length;
    if (index < 15) {
        *place++ = (uint8_t)index;
    } else {
        *place++ = 15;
        *place++ = (uint8_t)(index - 15);
    }
    *place++ = (uint8_t)length;
    if (length > 0) memcpy(place, value, length);
    block->length = (uint32_t)(place + length - block->bytes);
}

static bool name_is(const apns_h2_field *field, const char *name, size_t length) {
    return field->name_length == length && memcmp(field->name, name, length) == 0;
}

static void pseudo_add(answer_block *block, const apns_h2_field *field) {
    if (block->regular || !name_is(field, ":status", 7) || field->value_length != 3) {
        fault_add(block);
    } else if (memcmp(field->value, "200", 3) == 0 && block->length == 0) {
        block->bytes[block->length++] = 0x80 | STATIC_STATUS_200;
    } else {
        literal_add(block, STATIC_STATUS_200, field->value, 3);
    }
}

/* Whether eight bytes may be control characters or DEL. */
static bool may_control(const uint8_t *bytes) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    uint64_t del = word ^ 0x7f * ones;
    return ((((word - 0x20 * ones) & ~word) | ((del - ones) & ~del)) & 0x80 * ones) != 0;
}

/* Whether a value is what RFC 9113, section 8.2.1, allows. */
static bool value_valid(const uint8_t *value, size_t length) {
    bool doubtful = length < 8 || value[0] == ' ' || value[length - 1] == ' ';
    for (size_t i = 0; !doubtful && i + 8 <= length; i += 8)
        doubtful = may_control(value + i);
    doubtful = doubtful || may_control(value + length - 8);
    return !doubtful || nghttp2_check_header_value_rfc9113(value, length) != 0;
}

static bool field_valid(const apns_h2_field *field) {
    return nghttp2_check_header_name(field->name, field->name_length) != 0 &&
           value_valid(field->value, field->value_length);
}

/* Fields that only HTTP/1 has (RFC 9113, section 8.2.2). */
static bool is_of_connection(const apns_h2_field *field) {
    switch (field->name_length) {
    case 2:
        return name_is(field, "te", 2) && !(field->value_length == 8 && memcmp(field->value, "trailers", 8) == 0);
    case 7:
        return name_is(field, "upgrade", 7);
    case 10:
        return name_is(field, "connection", 10) || name_is(field, "keep-alive", 10);
    case 16:
        return name_is(field, "proxy-connection", 16);
    case 17:
        return name_is(field, "transfer-encoding", 17);
    default:
        return false;
    }
}

static bool is_wanted(const apns_h2_session *session, const apns_h2_field *field) {
    if (field->name_length > 63 || (session->capture_lengths >> field->name_length & 1) == 0) return false;
    for (uint32_t i = 0; i < session->capture_count; i++)
        if (session->captures[i].name_length == field->name_length &&
            memcmp(session->captures[i].name, field->name, field->name_length) == 0)
            return true;
    return false;
}

/* Keeps a field until nghttp2 has accepted the block. Returns false if there is no memory. */
static bool capture(apns_h2_session *session, const apns_h2_field *field) {
    if (field->value_length > APNS_H2_CAPTURE_BYTES_MAX) return true;
    if (session->captured == NULL) session->captured = apns_h2_message_take(session->pool);
    if (session->captured != NULL && session->captured->field_count == APNS_H2_CAPTURES_MAX) return true;
    if (session->captured != NULL && apns_h2_message_field_add(session->pool, session->captured, field)) return true;
    apns_h2_receive_memory_limit(session);
    return false;
}

/* Without zeros in front, so that there is room for every number that is not too large. */
static void content_length_add(answer_block *block, const apns_h2_field *field) {
    const uint8_t *digits = field->value;
    uint32_t count = field->value_length;
    for (; count > 1 && digits[0] == '0'; count--)
        digits++;
    literal_add(block, STATIC_CONTENT_LENGTH, digits, count);
}

static bool field_visit(void *context, const apns_h2_field *field) {
    answer_block *block = context;
    block->list_bytes += field->name_length + field->value_length + H2_TABLE_ENTRY_OVERHEAD;
    if (block->list_bytes > APNS_H2_HEADER_LIST_BYTES_MAX) {
        apns_h2_receive_field_limit(block->session);
        return false;
    }
    if (field->name_length > 0 && field->name[0] == ':') {
        pseudo_add(block, field);
        return true;
    }
    block->regular = true;
    if (!field_valid(field) || is_of_connection(field))
        fault_add(block);
    else if (name_is(field, "content-length", 14))
        content_length_add(block, field);
    return block->faulty || !is_wanted(block->session, field) || capture(block->session, field);
}

int apns_h2_answer_replace(apns_h2_session *session, const uint8_t *bytes, size_t length, uint8_t *place,
                           size_t *replaced) {
    if (session->captured != NULL) apns_h2_message_fields_clear(session->captured);
    answer_block block = {.session = session, .bytes = place};
    int result = apns_h2_decoder_read(&session->decoder, bytes, length, field_visit, &block);
    switch (result) {
    case H2_DECODED:
        break;
    case H2_DECODED_INVALID:
        place[0] = 0x80; /* the index 0, which no entry has */
        block.length = 1;
        break;
    case H2_DECODED_LARGE:
        apns_h2_receive_field_limit(session);
        break;
    case H2_DECODED_NO_MEMORY:
        apns_h2_receive_memory_limit(session);
        break;
    default:
        break;
    }
    *replaced = block.length;
    return session->failure.status;
}

void apns_h2_answer_fields_end(apns_h2_session *session, apns_h2_exchange *exchange) {
    if (session->captured == NULL || session->captured->field_count == 0) return;
    if (exchange != NULL && exchange->message == NULL) {
        exchange->message = session->captured;
        session->captured = NULL;
        return;
    }
    for (uint32_t i = 0; exchange != NULL && i < session->captured->field_count; i++) {
        if (exchange->message->field_count == APNS_H2_CAPTURES_MAX) break;
        if (!apns_h2_message_field_add(session->pool, exchange->message, &session->captured->fields[i])) {
            apns_h2_receive_memory_limit(session);
            break;
        }
    }
    apns_h2_message_fields_clear(session->captured);
}
