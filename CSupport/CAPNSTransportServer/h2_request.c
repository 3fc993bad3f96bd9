#include "h2_request.h"

/* Indices of the static table (RFC 7541, appendix A). */
enum {
    STATIC_AUTHORITY = 1,
    STATIC_METHOD = 2,
    STATIC_METHOD_POST = 3,
    STATIC_PATH = 4,
    STATIC_SCHEME = 6,
    STATIC_SCHEME_HTTPS = 7,
    STATIC_HOST = 38
};

static bool value_is(const apns_h2_field *field, const char *value, size_t length) {
    return field->value_length == length && memcmp(field->value, value, length) == 0;
}

/* nghttp2 distinguishes some methods; any other is as good as POST. */
static void method_judge(h2_replacement *block, const apns_h2_field *field) {
    if (nghttp2_check_method(field->value, field->value_length) == 0)
        apns_h2_replacement_offence(block);
    else if (value_is(field, "CONNECT", 7) || value_is(field, "OPTIONS", 7) || value_is(field, "HEAD", 4))
        apns_h2_replacement_literal(block, STATIC_METHOD, field->value, field->value_length);
    else
        apns_h2_replacement_index(block, STATIC_METHOD_POST);
}

/* A path is one that begins with a slash, an asterisk, or neither. */
static void path_judge(h2_replacement *block, const apns_h2_field *field) {
    if (field->value_length == 0 || nghttp2_check_path(field->value, field->value_length) == 0)
        apns_h2_replacement_offence(block);
    else if (field->value[0] == '/')
        apns_h2_replacement_index(block, STATIC_PATH);
    else
        apns_h2_replacement_literal(block, STATIC_PATH, field->value,
                                    field->value_length < 2 ? field->value_length : 2);
}

static void scheme_judge(h2_replacement *block, const apns_h2_field *field) {
    if (value_is(field, "https", 5))
        apns_h2_replacement_index(block, STATIC_SCHEME_HTTPS);
    else
        apns_h2_replacement_literal(block, STATIC_SCHEME, field->value, field->value_length);
}

static void authority_judge(h2_replacement *block, const apns_h2_field *field, uint32_t index) {
    if (nghttp2_check_authority(field->value, field->value_length) == 0)
        apns_h2_replacement_offence(block);
    else
        apns_h2_replacement_literal(block, index, field->value, field->value_length == 0 ? 0 : 1);
}

void apns_h2_request_judge(h2_replacement *block, const apns_h2_field *field) {
    if (h2_name_is(field, ":method", 7))
        method_judge(block, field);
    else if (h2_name_is(field, ":path", 5))
        path_judge(block, field);
    else if (h2_name_is(field, ":scheme", 7))
        scheme_judge(block, field);
    else if (h2_name_is(field, ":authority", 10))
        authority_judge(block, field, STATIC_AUTHORITY);
    else if (h2_name_is(field, "host", 4))
        authority_judge(block, field, STATIC_HOST);
    else
        apns_h2_replacement_offence(block);
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
