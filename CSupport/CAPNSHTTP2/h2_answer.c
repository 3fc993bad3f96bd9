#include "h2_internal.h"

/* Header blocks of answers: their status, and the fields that are captured. */

enum { STATIC_STATUS_200 = 8 };

void apns_h2_answer_judge(h2_replacement *block, const apns_h2_field *field) {
    if (field->name[0] != ':') return; /* the field host, which means nothing in an answer */
    if (!h2_name_is(field, ":status", 7) || field->value_length != 3)
        apns_h2_replacement_offence(block);
    else if (memcmp(field->value, "200", 3) == 0)
        apns_h2_replacement_index(block, STATIC_STATUS_200);
    else
        apns_h2_replacement_literal(block, STATIC_STATUS_200, field->value, 3);
}

static bool is_wanted(const apns_h2_session *session, const apns_h2_field *field) {
    if (field->name_length > 63 || (session->capture_lengths >> field->name_length & 1) == 0) return false;
    for (uint32_t i = 0; i < session->capture_count; i++)
        if (session->captures[i].name_length == field->name_length &&
            memcmp(session->captures[i].name, field->name, field->name_length) == 0)
            return true;
    return false;
}

/* Fields with longer values, and more fields than are kept, are skipped. */
bool apns_h2_answer_keep(apns_h2_session *session, const apns_h2_field *field) {
    if (!is_wanted(session, field) || field->value_length > APNS_H2_CAPTURE_BYTES_MAX) return true;
    if (session->kept != NULL && session->kept->field_count == APNS_H2_CAPTURES_MAX) return true;
    return apns_h2_block_keep(session, field);
}

void apns_h2_answer_fields_end(apns_h2_session *session, apns_h2_exchange *exchange) {
    apns_h2_message *kept = session->kept;
    if (kept == NULL || kept->field_count == 0 || exchange == NULL) return;
    if (exchange->message == NULL) {
        exchange->message = kept;
        session->kept = NULL;
        return;
    }
    for (uint32_t i = 0; i < kept->field_count && exchange->message->field_count < APNS_H2_CAPTURES_MAX; i++)
        if (!apns_h2_message_field_add(session->pool, exchange->message, &kept->fields[i])) {
            apns_h2_receive_memory_limit(session);
            return;
        }
}
