#include "h2_internal.h"

/* Header blocks of the peer. nghttp2 does not decode them: it is given blocks that it decodes at once, with the fields
 * on which it has an opinion (RFC 9113, sections 8.1.1, 8.2 and 8.3): pseudo-header fields, content-length and host,
 * and for any other offence a field that is one, too. So it stays the judge of what the peer sends. */

enum { OFFENCE_BYTES = 4, VALUE_BYTES_MAX = 19 };

/* Indices of the static table (RFC 7541, appendix A). */
enum { STATIC_CONTENT_LENGTH = 28 };

void apns_h2_replacement_offence(h2_replacement *block) {
    static const uint8_t offence[OFFENCE_BYTES] = {0, 1, ':', 0};
    if (block->offends) return;
    block->offends = true;
    memcpy(block->bytes + block->length, offence, sizeof(offence));
    block->length += OFFENCE_BYTES;
}

/* Returns whether there is room for so many bytes, and an offence. There is room for two fields of each kind: a third
 * one is an offence. */
static bool has_room(h2_replacement *block, uint32_t length) {
    if (block->offends) return false;
    if (block->length + length <= H2_REPLACEMENT_BYTES_MAX - OFFENCE_BYTES) return true;
    apns_h2_replacement_offence(block);
    return false;
}

void apns_h2_replacement_index(h2_replacement *block, uint8_t index) {
    if (has_room(block, 1)) block->bytes[block->length++] = 0x80 | index;
}

void apns_h2_replacement_literal(h2_replacement *block, uint32_t index, const uint8_t *value, uint32_t length) {
    if (length > VALUE_BYTES_MAX) {
        apns_h2_replacement_offence(block);
        return;
    }
    if (!has_room(block, 3 + length)) return;
    uint8_t *place = block->bytes + block->length;
    *place++ = (uint8_t)(index < 15 ? index : 15);
    if (index >= 15) *place++ = (uint8_t)(index - 15);
    *place++ = (uint8_t)length;
    if (length > 0) memcpy(place, value, length);
    block->length = (uint32_t)(place + length - block->bytes);
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
        return h2_name_is(field, "te", 2) && !(field->value_length == 8 && memcmp(field->value, "trailers", 8) == 0);
    case 7:
        return h2_name_is(field, "upgrade", 7);
    case 10:
        return h2_name_is(field, "connection", 10) || h2_name_is(field, "keep-alive", 10);
    case 16:
        return h2_name_is(field, "proxy-connection", 16);
    case 17:
        return h2_name_is(field, "transfer-encoding", 17);
    default:
        return false;
    }
}

/* Without zeros in front, so that there is room for every number that is not too large. */
static void content_length_add(h2_replacement *block, const apns_h2_field *field) {
    const uint8_t *digits = field->value;
    uint32_t count = field->value_length;
    for (; count > 1 && digits[0] == '0'; count--)
        digits++;
    apns_h2_replacement_literal(block, STATIC_CONTENT_LENGTH, digits, count);
}

static void regular_judge(h2_replacement *block, const apns_h2_field *field) {
    block->regular = true;
    if (!field_valid(field) || is_of_connection(field))
        apns_h2_replacement_offence(block);
    else if (h2_name_is(field, "content-length", 14))
        content_length_add(block, field);
    else if (h2_name_is(field, "host", 4))
        block->session->side->judge(block, field);
}

static bool field_visit(void *context, const apns_h2_field *field) {
    h2_replacement *block = context;
    block->list_bytes += field->name_length + field->value_length + H2_TABLE_ENTRY_OVERHEAD;
    if (block->list_bytes > APNS_H2_HEADER_LIST_BYTES_MAX) {
        apns_h2_receive_field_limit(block->session);
        return false;
    }
    if (field->name_length == 0 || field->name[0] != ':')
        regular_judge(block, field);
    else if (block->regular)
        apns_h2_replacement_offence(block);
    else
        block->session->side->judge(block, field);
    return block->offends || block->session->side->keep(block->session, field);
}

bool apns_h2_block_keep(apns_h2_session *session, const apns_h2_field *field) {
    if (session->kept == NULL) session->kept = apns_h2_message_take(session->pool);
    if (session->kept != NULL && apns_h2_message_field_add(session->pool, session->kept, field)) return true;
    apns_h2_receive_memory_limit(session);
    return false;
}

int apns_h2_block_replace(apns_h2_session *session, const uint8_t *bytes, size_t length, uint8_t *place,
                          size_t *replaced) {
    if (session->kept != NULL) apns_h2_message_fields_clear(session->kept);
    h2_replacement block = {.session = session, .bytes = place};
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
