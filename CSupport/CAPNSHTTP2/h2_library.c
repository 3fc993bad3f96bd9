#include "h2_internal.h"
#include <nghttp2/nghttp2.h>

/* What this file needs of nghttp2 is tested here by name, because the number of a version is not enough:
 * Debian's 1.52 has what upstream has since 1.57 and 1.61. An "undeclared identifier" below means that the library is
 * too old. */
_Static_assert(NGHTTP2_VERSION_NUM >= 0x013400, "nghttp2 1.52 or later is needed");
_Static_assert(_Generic(&nghttp2_option_set_stream_reset_rate_limit, void (*)(nghttp2_option *, uint64_t, uint64_t) : 1,
                        default : 0) == 1,
               "nghttp2 with a limit of stream resets is needed (CVE-2023-44487): 1.57, or a patched 1.52");
_Static_assert((int)NGHTTP2_ERR_TOO_MANY_CONTINUATIONS < 0,
               "nghttp2 with a limit of CONTINUATION frames is needed (CVE-2024-28182): 1.61, or a patched 1.52");

_Static_assert(sizeof(h2_setting) == sizeof(nghttp2_settings_entry) &&
                   offsetof(h2_setting, id) == offsetof(nghttp2_settings_entry, settings_id) &&
                   offsetof(h2_setting, value) == offsetof(nghttp2_settings_entry, value),
               "entries of SETTINGS pass as they are");

/* Later versions end a connection whose peer has sent many frames that have no effect, such as those of an unknown
 * type, of which a server may send one with each answer (RFC 9113, section 5.5). They cost us nothing but the reading.
 * The symbol is that of the library with which the program runs, and NULL in one that has no such limit. */
extern void nghttp2_option_set_glitch_rate_limit(nghttp2_option *option, uint64_t burst, uint64_t rate)
    __attribute__((weak));

enum { GLITCHES = 1 << 30 };

/* Streams that a client may reset in a burst, and per second afterwards, before our server closes the connection. */
enum { RESET_BURST = 10000, RESET_RATE = 1000 };

/* nghttp2's limit of streams before the peer's SETTINGS; of no effect, as no request is submitted until then. */
enum { PEER_STREAMS_BEFORE_SETTINGS = 100 };

/* ---------------------------------------------------------------- errors */

/* Records that nghttp2 did not do what nghttp2.h promises. */
static int broken(apns_h2_session *session, const char *text) {
    return apns_h2_session_fail(session, APNS_H2_FAILURE_LIBRARY, APNS_H2_INTERNAL_ERROR, text);
}

static int fail(apns_h2_session *session, int error) {
    switch (error) {
    case NGHTTP2_ERR_NOMEM:
        return apns_h2_session_fail(session, APNS_H2_FAILURE_MEMORY, APNS_H2_INTERNAL_ERROR, nghttp2_strerror(error));
    case NGHTTP2_ERR_FLOODED:
    case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS:
        return apns_h2_session_fail(session, APNS_H2_FAILURE_LIMIT, APNS_H2_ENHANCE_YOUR_CALM, nghttp2_strerror(error));
    case NGHTTP2_ERR_CALLBACK_FAILURE: /* the callback has recorded why */
        return apns_h2_session_fail_output(session);
    default:
        return apns_h2_session_fail(session, APNS_H2_FAILURE_PROTOCOL, APNS_H2_PROTOCOL_ERROR, nghttp2_strerror(error));
    }
}

static int result_of(apns_h2_session *session, int error) {
    return error < 0 ? fail(session, error) : 0;
}

/* What a callback returns. */
static int go_on(const apns_h2_session *session) {
    return h2_failed(session) ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

/* ---------------------------------------------------------------- callbacks */

static int on_begin_headers(nghttp2_session *ng, const nghttp2_frame *frame, void *user) {
    (void)ng;
    apns_h2_receive_headers_begin(user, frame->hd.stream_id, frame->headers.cat == NGHTTP2_HCAT_REQUEST);
    return go_on(user);
}

static int on_data(nghttp2_session *ng, uint8_t flags, int32_t stream, const uint8_t *bytes, size_t length,
                   void *user) {
    (void)flags;
    apns_h2_exchange *exchange = nghttp2_session_get_stream_user_data(ng, stream);
    if (exchange != NULL) apns_h2_receive_data(user, exchange, bytes, length);
    return go_on(user);
}

static int on_frame(nghttp2_session *ng, const nghttp2_frame *frame, void *user) {
    apns_h2_session *session = user;
    const nghttp2_frame_hd *head = &frame->hd;
    bool last = (head->flags & H2_FLAG_END_STREAM) != 0;
    switch (head->type) {
    case NGHTTP2_HEADERS:
        /* Its block was not read here, so that the last head is that of another answer. */
        if (session->inbound.refused)
            apns_h2_session_fail(session, APNS_H2_FAILURE_LIBRARY, APNS_H2_INTERNAL_ERROR,
                                 "a header block was not read");
        else
            apns_h2_receive_headers_end(session, last);
        break;
    case NGHTTP2_DATA:
        if (last) apns_h2_receive_data_end(session, nghttp2_session_get_stream_user_data(ng, head->stream_id));
        break;
    case NGHTTP2_RST_STREAM:
        apns_h2_receive_reset(session, head->stream_id);
        break;
    case NGHTTP2_SETTINGS:
        if ((head->flags & H2_FLAG_ACK) == 0)
            apns_h2_receive_settings(session, (const h2_setting *)(const void *)frame->settings.iv,
                                     frame->settings.niv);
        break;
    case NGHTTP2_PING:
        if ((head->flags & H2_FLAG_ACK) != 0) apns_h2_receive_pong(session, frame->ping.opaque_data);
        break;
    case NGHTTP2_GOAWAY:
        apns_h2_goaway_note(&session->facts, frame->goaway.last_stream_id, frame->goaway.error_code,
                            frame->goaway.opaque_data, frame->goaway.opaque_data_len);
        break;
    default:
        break;
    }
    return go_on(session);
}

static int on_close(nghttp2_session *ng, int32_t stream, uint32_t error_code, void *user) {
    apns_h2_session *session = user;
    /* Most streams close at the end of the header block just received. */
    apns_h2_exchange *exchange = session->current;
    if (exchange == NULL || exchange->stream != stream) exchange = nghttp2_session_get_stream_user_data(ng, stream);
    apns_h2_receive_close(session, stream, exchange, error_code);
    return go_on(session);
}

/* Keeps nghttp2's words for the failure that follows. */
static int on_error(nghttp2_session *ng, int code, const char *text, size_t length, void *user) {
    (void)ng, (void)code;
    apns_h2_session *session = user;
    size_t kept = length < sizeof(session->invalid_text) - 1 ? length : sizeof(session->invalid_text) - 1;
    memcpy(session->invalid_text, text, kept);
    session->invalid_text[kept] = '\0';
    return 0;
}

/* Tells nghttp2 how much of an answer's body may be sent, without copying it; data_send writes it. */
static ssize_t data_read(nghttp2_session *ng, int32_t stream, uint8_t *buffer, size_t length, uint32_t *flags,
                         nghttp2_data_source *source, void *user) {
    (void)ng, (void)stream, (void)buffer, (void)user;
    const apns_h2_exchange *exchange = source->ptr;
    APNS_REQUIRE(exchange->body_sent <= exchange->body_length);
    size_t left = exchange->body_length - exchange->body_sent;
    size_t now = left < length ? left : length;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (now == left) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)now;
}

/* Writes a DATA frame. It never returns WOULDBLOCK, because a frame held back inside nghttp2 would outlive its
 * exchange; the output has room for the frame that makes it pause. */
static int data_send(nghttp2_session *ng, nghttp2_frame *frame, const uint8_t *header, size_t length,
                     nghttp2_data_source *source, void *user) {
    (void)ng, (void)frame;
    apns_h2_session *session = user;
    apns_h2_exchange *exchange = source->ptr;
    if (h2_send_append(session->output, header, H2_FRAME_HEADER_BYTES) != 0 ||
        h2_send_append(session->output, exchange->body + exchange->body_sent, length) != 0)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    exchange->body_sent += (uint32_t)length;
    APNS_REQUIRE(exchange->body_sent <= exchange->body_length);
    return session->output->paused ? NGHTTP2_ERR_PAUSE : 0;
}

static void callbacks_set(nghttp2_session_callbacks *callbacks) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_error_callback2(callbacks, on_error);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, data_send);
}

/* ---------------------------------------------------------------- open and close */

static nghttp2_option *options_make(void) {
    nghttp2_option *options;
    if (nghttp2_option_new(&options) != 0) return NULL;
    nghttp2_option_set_peer_max_concurrent_streams(options, PEER_STREAMS_BEFORE_SETTINGS);
    nghttp2_option_set_no_closed_streams(options, 1);
    nghttp2_option_set_no_http_messaging(options, 1);
    nghttp2_option_set_stream_reset_rate_limit(options, RESET_BURST, RESET_RATE);
    if (nghttp2_option_set_glitch_rate_limit != NULL) nghttp2_option_set_glitch_rate_limit(options, GLITCHES, GLITCHES);
    return options;
}

bool apns_h2_library_open(apns_h2_session *session, bool serves) {
    const h2_allocator *memory = &apns_h2_memory_allocator;
    nghttp2_mem mem = {session->memory, memory->take, memory->give, memory->take_cleared, memory->grow};
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *options = options_make();
    int result = NGHTTP2_ERR_NOMEM;
    if (options != NULL && nghttp2_session_callbacks_new(&callbacks) == 0) {
        callbacks_set(callbacks);
        result = serves ? nghttp2_session_server_new3(&session->library, callbacks, session, options, &mem)
                        : nghttp2_session_client_new3(&session->library, callbacks, session, options, &mem);
    }
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(options);
    session->preface_due = !serves;
    return result == 0;
}

void apns_h2_library_close(apns_h2_session *session) {
    nghttp2_session_del(session->library);
    session->library = NULL;
}

const char *apns_h2_library_code_text(uint32_t code) {
    return nghttp2_http2_strerror(code);
}

const char *apns_h2_library_version(void) {
    return nghttp2_version(0)->version_str;
}

/* ---------------------------------------------------------------- submit */

int apns_h2_library_settings(apns_h2_session *session, const h2_setting *settings, uint32_t count) {
    return result_of(session, nghttp2_submit_settings(session->library, NGHTTP2_FLAG_NONE,
                                                      (const nghttp2_settings_entry *)(const void *)settings, count));
}

int apns_h2_library_window(apns_h2_session *session, int32_t bytes) {
    return result_of(session, nghttp2_session_set_local_window_size(session->library, NGHTTP2_FLAG_NONE, 0, bytes));
}

int apns_h2_library_ping(apns_h2_session *session, const uint8_t *opaque) {
    return result_of(session, nghttp2_submit_ping(session->library, NGHTTP2_FLAG_NONE, opaque));
}

int apns_h2_library_goaway(apns_h2_session *session, int32_t last_stream, uint32_t code, const uint8_t *debug,
                           size_t length) {
    return result_of(session,
                     nghttp2_submit_goaway(session->library, NGHTTP2_FLAG_NONE, last_stream, code, debug, length));
}

int apns_h2_library_reset(apns_h2_session *session, int32_t stream, uint32_t code) {
    return result_of(session, nghttp2_submit_rst_stream(session->library, NGHTTP2_FLAG_NONE, stream, code));
}

int32_t apns_h2_library_request(apns_h2_session *session, apns_h2_exchange *exchange) {
    int32_t stream = nghttp2_submit_request(session->library, NULL, NULL, 0, NULL, exchange);
    if (stream == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE) return 0;
    return stream < 0 ? fail(session, stream) : stream;
}

static nghttp2_nv pair_of(const apns_h2_field *field) {
    return (nghttp2_nv){(uint8_t *)(uintptr_t)field->name, (uint8_t *)(uintptr_t)field->value, field->name_length,
                        field->value_length,
                        field->indexing == APNS_H2_LITERAL ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE};
}

int apns_h2_library_respond(apns_h2_session *session, apns_h2_exchange *exchange, uint16_t status,
                            const apns_h2_field *fields, uint32_t count) {
    uint8_t digits[3] = {(uint8_t)('0' + status / 100 % 10), (uint8_t)('0' + status / 10 % 10),
                         (uint8_t)('0' + status % 10)};
    nghttp2_nv pairs[1 + APNS_H2_REQUEST_FIELDS_MAX];
    APNS_REQUIRE(count <= APNS_H2_REQUEST_FIELDS_MAX);
    pairs[0] = (nghttp2_nv){(uint8_t *)(uintptr_t) ":status", digits, 7, 3, NGHTTP2_NV_FLAG_NO_COPY_NAME};
    for (uint32_t i = 0; i < count; i++)
        pairs[1 + i] = pair_of(&fields[i]);
    nghttp2_data_provider body = {.source.ptr = exchange, .read_callback = data_read};
    return result_of(session, nghttp2_submit_response(session->library, exchange->stream, pairs, 1 + count,
                                                      exchange->body_length > 0 ? &body : NULL));
}

/* ---------------------------------------------------------------- feed and take */

int apns_h2_library_feed(apns_h2_session *session, const uint8_t *bytes, size_t length) {
    ssize_t taken = nghttp2_session_mem_recv(session->library, bytes, length);
    if (taken < 0) return fail(session, (int)taken);
    if ((size_t)taken != length) return broken(session, "nghttp2 has not read all that it was given");
    return session->failure.status;
}

/* Whether bytes are one frame, or the preface of a client where that is due. */
static bool is_whole(apns_h2_session *session, const uint8_t *bytes, size_t length) {
    if (!session->preface_due)
        return length >= H2_FRAME_HEADER_BYTES && length == H2_FRAME_HEADER_BYTES + h2_frame_length(bytes);
    session->preface_due = false;
    return length == NGHTTP2_CLIENT_MAGIC_LEN && memcmp(bytes, NGHTTP2_CLIENT_MAGIC, length) == 0;
}

int apns_h2_library_take(apns_h2_session *session, const uint8_t **frame, size_t *length) {
    ssize_t taken = nghttp2_session_mem_send(session->library, frame);
    if (taken < 0) return fail(session, (int)taken);
    *length = (size_t)taken;
    if (taken == 0) return 0;
    return is_whole(session, *frame, *length) ? 1
                                              : broken(session, "nghttp2 has passed on something else than one frame");
}

/* ---------------------------------------------------------------- facts */

apns_h2_exchange *apns_h2_library_exchange(const apns_h2_session *session, int32_t stream) {
    return nghttp2_session_get_stream_user_data(session->library, stream);
}

bool apns_h2_library_exchange_set(apns_h2_session *session, int32_t stream, apns_h2_exchange *exchange) {
    return nghttp2_session_set_stream_user_data(session->library, stream, exchange) == 0;
}

uint32_t apns_h2_library_peer_streams_max(const apns_h2_session *session) {
    return nghttp2_session_get_remote_settings(session->library, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

int32_t apns_h2_library_last_stream(const apns_h2_session *session) {
    return nghttp2_session_get_last_proc_stream_id(session->library);
}

bool apns_h2_library_reads(const apns_h2_session *session) {
    return nghttp2_session_want_read(session->library) != 0;
}

/* ---------------------------------------------------------------- the grammar of fields */

bool apns_h2_library_name_valid(const apns_h2_field *field) {
    return nghttp2_check_header_name(field->name, field->name_length) != 0;
}

bool apns_h2_library_value_valid(const apns_h2_field *field) {
    return nghttp2_check_header_value_rfc9113(field->value, field->value_length) != 0;
}

bool apns_h2_library_method_valid(const apns_h2_field *field) {
    return nghttp2_check_method(field->value, field->value_length) != 0;
}

bool apns_h2_library_path_valid(const apns_h2_field *field) {
    return nghttp2_check_path(field->value, field->value_length) != 0;
}

bool apns_h2_library_authority_valid(const apns_h2_field *field) {
    return nghttp2_check_authority(field->value, field->value_length) != 0;
}
