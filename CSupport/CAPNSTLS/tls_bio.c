#include "tls_internal.h"
#include <openssl/bio.h>
#include <pthread.h>
#include <string.h>

enum { RECORD_HEADER_BYTES = 5 };

/* Returns how many of the next bytes belong to the current record, or to the next one if none has begun. */
static size_t record_take(apns_tls_session *session, size_t most) {
    const uint8_t *bytes = session->input.bytes;
    size_t taken = 0;
    APNS_REQUIRE(session->header_count < RECORD_HEADER_BYTES);
    if (session->record_left == 0) {
        while (session->header_count < RECORD_HEADER_BYTES && taken < most)
            session->header[session->header_count++] = bytes[taken++];
        if (session->header_count < RECORD_HEADER_BYTES) return taken;
        session->record_left = (size_t)session->header[3] << 8 | session->header[4];
        session->header_count = 0;
    }
    size_t body = most - taken < session->record_left ? most - taken : session->record_left;
    session->record_left -= body;
    APNS_ASSERT(taken + body <= most && (session->record_left == 0 || session->header_count == 0));
    return taken + body;
}

/* Passes one record at a time to OpenSSL. With read-ahead OpenSSL asks for all available bytes, so that header and body
 * take one call; but given several records, it would move the remaining bytes to the front of its buffer after each. */
static int bio_read(BIO *bio, char *bytes, size_t capacity, size_t *length) {
    apns_tls_session *session = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    size_t n = record_take(session, session->input.length < capacity ? session->input.length : capacity);
    *length = n;
    if (n == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    APNS_REQUIRE(n <= capacity && n <= session->input.length);
    memcpy(bytes, session->input.bytes, n);
    session->input.bytes += n;
    session->input.length -= n;
    return 1;
}

static int bio_write(BIO *bio, const char *bytes, size_t n, size_t *length) {
    apns_tls_session *session = BIO_get_data(bio);
    apns_tls_output *output = session->output;
    BIO_clear_retry_flags(bio);
    APNS_REQUIRE(output->length <= output->capacity);
    if (n > output->capacity - output->length) {
        session->output_full = true;
        *length = 0;
        return 0;
    }
    memcpy(output->bytes + output->length, bytes, n);
    output->length += n;
    *length = n;
    return 1;
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer) {
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

/* Created once per process, on first use, because OpenSSL supports only some hundred BIO types. A failed attempt is
 * repeated. */
static BIO_METHOD *method;
static pthread_mutex_t method_lock = PTHREAD_MUTEX_INITIALIZER;

static BIO_METHOD *method_make(void) {
    BIO_METHOD *made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "borrowed memory");
    if (made == NULL) return NULL;
    BIO_meth_set_read_ex(made, bio_read);
    BIO_meth_set_write_ex(made, bio_write);
    BIO_meth_set_ctrl(made, bio_ctrl);
    return made;
}

static BIO_METHOD *method_get(void) {
    pthread_mutex_lock(&method_lock);
    if (method == NULL) method = method_make();
    BIO_METHOD *found = method;
    pthread_mutex_unlock(&method_lock);
    return found;
}

BIO *apns_tls_bio_create(apns_tls_session *session) {
    const BIO_METHOD *made = method_get();
    if (made == NULL) return NULL;
    BIO *bio = BIO_new(made);
    if (bio == NULL) return NULL;
    BIO_set_data(bio, session);
    BIO_set_init(bio, 1);
    return bio;
}
