#include "h2_internal.h"

/* Header blocks of the peer: the content of a message, and whether it is valid (RFC 9113, sections 8.1.1, 8.2 and
 * 8.3). nghttp2 is given the frames with empty blocks (h2_inbound.c). */

/* Whether eight bytes may be control characters or DEL. */
static bool may_control(const uint8_t *bytes) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    uint64_t del = word ^ 0x7f * ones;
    return ((((word - 0x20 * ones) & ~word) | ((del - ones) & ~del)) & 0x80 * ones) != 0;
}

/* Whether a value is what RFC 9113, section 8.2.1, allows. */
static bool value_valid(const apns_h2_field *field) {
    const uint8_t *value = field->value;
    size_t length = field->value_length;
    bool doubtful = length < 8 || value[0] == ' ' || value[length - 1] == ' ';
    for (size_t i = 0; !doubtful && i + 8 <= length; i += 8)
        doubtful = may_control(value + i);
    doubtful = doubtful || may_control(value + length - 8);
    return !doubtful || apns_h2_library_value_valid(field);
}

static bool field_valid(const apns_h2_field *field) {
    return apns_h2_library_name_valid(field) && value_valid(field);
}

/* Fields that only HTTP/1 has (RFC 9113, section 8.2.2). */
static bool is_of_connection(const apns_h2_field *field) {
    switch (field->name_length) {
    case 2:
        return h2_name_is(field, "te", 2) && !h2_value_is(field, "trailers", 8);
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

int64_t apns_h2_number_read(const apns_h2_field *field) {
    int64_t number = field->value_length > 0 ? 0 : -1;
    for (uint32_t i = 0; i < field->value_length; i++) {
        uint8_t byte = field->value[i];
        if (byte < '0' || byte > '9' || number > (INT64_MAX - 9) / 10) return -1;
        number = number * 10 + (byte - '0');
    }
    return number;
}

/* Reads content-length, which answers without a body may not have (RFC 9110, section 8.6). Some servers send 0 with the
 * status 204 all the same. */
static bool content_length_read(h2_head *head, const apns_h2_field *field) {
    if (head->content_length != -1 || head->status / 100 == 1) return false;
    if (head->status == 204 && !h2_value_is(field, "0", 1)) return false;
    head->content_length = apns_h2_number_read(field);
    return head->content_length != -1;
}

static bool regular_read(const apns_h2_session *session, h2_head *head, const apns_h2_field *field) {
    head->regular = true;
    if (!field_valid(field) || is_of_connection(field)) return false;
    if (h2_name_is(field, "content-length", 14)) return content_length_read(head, field);
    if (session->side->host_read == NULL || !h2_name_is(field, "host", 4)) return true;
    return session->side->host_read(head, field);
}

static bool field_visit(void *context, const apns_h2_field *field) {
    apns_h2_session *session = context;
    h2_head *head = &session->head;
    head->list_bytes += field->name_length + field->value_length + H2_TABLE_ENTRY_OVERHEAD;
    if (head->list_bytes > APNS_H2_HEADER_LIST_BYTES_MAX) {
        apns_h2_receive_field_limit(session);
        return false;
    }
    if (head->malformed) return true;
    if (field->name_length == 0 || field->name[0] != ':')
        head->malformed = !regular_read(session, head, field);
    else
        head->malformed = head->regular || !session->side->pseudo_read(head, field);
    return head->malformed || session->side->keep(session, field);
}

bool apns_h2_block_keep(apns_h2_session *session, const apns_h2_field *field) {
    if (session->kept == NULL) session->kept = apns_h2_message_take(session->pool);
    if (session->kept != NULL && apns_h2_message_field_add(session->pool, session->kept, field)) return true;
    apns_h2_receive_memory_limit(session);
    return false;
}

int apns_h2_block_read(apns_h2_session *session, const uint8_t *bytes, size_t length) {
    if (session->kept != NULL) apns_h2_message_fields_clear(session->kept);
    session->head = (h2_head){.content_length = -1};
    switch (apns_h2_decoder_read(&session->decoder, bytes, length, field_visit, session)) {
    case H2_DECODED_INVALID:
        return 1;
    case H2_DECODED_LARGE:
        apns_h2_receive_field_limit(session);
        break;
    case H2_DECODED_NO_MEMORY:
        apns_h2_receive_memory_limit(session);
        break;
    default:
        break;
    }
    return session->failure.status;
}
