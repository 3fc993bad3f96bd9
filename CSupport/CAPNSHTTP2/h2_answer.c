#include "h2_internal.h"

/* Header blocks of answers: their status, whether the answer is well-formed, and the fields that are captured. */

/* Reads :status, the only pseudo-header field of an answer (RFC 9113, section 8.3.2; RFC 9110, section 15). 101 does
 * not exist in HTTP/2 (section 8.6). */
bool apns_h2_answer_pseudo_read(h2_head *head, const apns_h2_field *field) {
    if (head->pseudo != 0 || !h2_name_is(field, ":status", 7) || field->value_length != 3) return false;
    int64_t status = apns_h2_number_read(field);
    if (status < 100 || status == 101) return false;
    head->pseudo = 1;
    head->status = (uint16_t)status;
    return true;
}

/* Applies the header section of an interim or a final answer (RFC 9113, section 8.1). */
bool apns_h2_answer_head_take(const h2_head *head, apns_h2_exchange *exchange) {
    if (head->pseudo == 0) return false;
    exchange->status = head->status;
    if (exchange->message != NULL) apns_h2_message_fields_clear(exchange->message); /* those of an interim answer */
    if (head->malformed) return false;
    if (head->status / 100 == 1) return true;
    bool empty = head->status == 204 || head->status == 304;
    exchange->content_length = empty ? 0 : head->content_length;
    exchange->facts |= APNS_H2_HEAD;
    return true;
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
