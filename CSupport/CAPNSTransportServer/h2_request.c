#include "h2_request.h"

/* The pseudo-header fields of a request, and host. */
enum request_pseudo {
    HAS_METHOD = 1,
    HAS_SCHEME = 2,
    HAS_PATH = 4,
    HAS_AUTHORITY = 8,
    IS_CONNECT = 16,
    IS_OPTIONS = 32,
    IS_HTTP = 64,      /* the scheme is http or https */
    IS_ABSOLUTE = 128, /* the path begins with a slash */
    IS_ASTERISK = 256,
    HAS_HOST = 512
};

/* Records a pseudo-header field; returns whether it has a value and is the first of its kind. */
static bool note(h2_head *head, uint32_t kind, const apns_h2_field *field) {
    bool first = (head->pseudo & kind) == 0;
    head->pseudo |= kind;
    return first && field->value_length > 0;
}

static bool method_read(h2_head *head, const apns_h2_field *field) {
    if (h2_value_is(field, "CONNECT", 7)) head->pseudo |= IS_CONNECT;
    if (h2_value_is(field, "OPTIONS", 7)) head->pseudo |= IS_OPTIONS;
    return note(head, HAS_METHOD, field) && apns_h2_library_method_valid(field);
}

static bool path_read(h2_head *head, const apns_h2_field *field) {
    if (field->value_length > 0 && field->value[0] == '/') head->pseudo |= IS_ABSOLUTE;
    if (h2_value_is(field, "*", 1)) head->pseudo |= IS_ASTERISK;
    return note(head, HAS_PATH, field) && apns_h2_library_path_valid(field);
}

static bool is_alpha(uint8_t byte) {
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

/* A scheme according to RFC 3986, section 3.1. */
static bool scheme_read(h2_head *head, const apns_h2_field *field) {
    if (h2_value_is(field, "http", 4) || h2_value_is(field, "https", 5)) head->pseudo |= IS_HTTP;
    if (!note(head, HAS_SCHEME, field) || !is_alpha(field->value[0])) return false;
    for (uint32_t i = 1; i < field->value_length; i++) {
        uint8_t byte = field->value[i];
        bool fits = is_alpha(byte) || (byte >= '0' && byte <= '9') || byte == '+' || byte == '-' || byte == '.';
        if (!fits) return false;
    }
    return true;
}

static bool authority_read(h2_head *head, uint32_t kind, const apns_h2_field *field) {
    return note(head, kind, field) && apns_h2_library_authority_valid(field);
}

bool apns_h2_request_host_read(h2_head *head, const apns_h2_field *field) {
    return authority_read(head, HAS_HOST, field);
}

bool apns_h2_request_pseudo_read(h2_head *head, const apns_h2_field *field) {
    if (h2_name_is(field, ":method", 7)) return method_read(head, field);
    if (h2_name_is(field, ":path", 5)) return path_read(head, field);
    if (h2_name_is(field, ":scheme", 7)) return scheme_read(head, field);
    if (h2_name_is(field, ":authority", 10)) return authority_read(head, HAS_AUTHORITY, field);
    return false;
}

/* Whether the fields that a request must have are there (RFC 9113, sections 8.3.1 and 8.5). */
static bool is_whole(const h2_head *head) {
    const uint32_t all = HAS_METHOD | HAS_SCHEME | HAS_PATH;
    uint32_t pseudo = head->pseudo;
    if ((pseudo & IS_CONNECT) != 0) return (pseudo & (HAS_SCHEME | HAS_PATH | HAS_AUTHORITY)) == HAS_AUTHORITY;
    if ((pseudo & all) != all || (pseudo & (HAS_AUTHORITY | HAS_HOST)) == 0) return false;
    bool options = (pseudo & IS_OPTIONS) != 0 && (pseudo & IS_ASTERISK) != 0;
    return (pseudo & IS_HTTP) == 0 || (pseudo & IS_ABSOLUTE) != 0 || options;
}

bool apns_h2_request_head_take(const h2_head *head, apns_h2_exchange *exchange) {
    if (head->malformed || !is_whole(head)) return false;
    exchange->content_length = (head->pseudo & IS_CONNECT) != 0 ? -1 : head->content_length;
    exchange->facts |= APNS_H2_HEAD;
    return true;
}

bool apns_h2_request_keep(apns_h2_session *session, const apns_h2_field *field) {
    if (session->kept == NULL || session->kept->field_count < APNS_H2_FIELDS_RECEIVED_MAX)
        return apns_h2_block_keep(session, field);
    apns_h2_receive_field_limit(session);
    return false;
}

static void fields_add(apns_h2_session *session, apns_h2_message *message) {
    const apns_h2_message *kept = session->kept;
    for (uint32_t i = 0; i < kept->field_count; i++) {
        if (message->field_count == APNS_H2_FIELDS_RECEIVED_MAX) {
            apns_h2_receive_field_limit(session);
            return;
        }
        if (!apns_h2_message_field_add(session->pool, message, &kept->fields[i])) {
            apns_h2_receive_memory_limit(session);
            return;
        }
    }
}

void apns_h2_request_fields_end(apns_h2_session *session, apns_h2_exchange *exchange) {
    if (session->kept == NULL || exchange == NULL || exchange->message == NULL) return;
    if (exchange->message->field_count > 0 || exchange->message->body_length > 0) {
        fields_add(session, exchange->message);
        return;
    }
    apns_h2_message *empty = exchange->message;
    exchange->message = session->kept;
    session->kept = empty;
}
