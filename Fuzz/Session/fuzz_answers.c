#include "fuzz_hpack.h"
#include "h2_internal.h"
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 4, BODY_BYTES = 100, MEMORY_BYTES = 8 << 20, RECORD_BYTES = 16384, STREAMS_ANNOUNCED = 100 };

/* What became of a request. */
typedef struct fate {
    uint16_t status;
    bool closed;
    bool malformed; /* reset by us with PROTOCOL_ERROR */
    uint32_t error_code;
} fate;

typedef struct stage {
    apns_h2_memory *memory;
    apns_h2_pool *pool;
    apns_h2_session *ours;
    apns_h2_header_set *set;
    apns_h2_exchange *exchanges[REQUESTS];
    apns_h2_output output;
    uint8_t record[RECORD_BYTES];
    nghttp2_session *theirs;
    fate fates[REQUESTS]; /* by nghttp2 */
    uint32_t goaway_code;
    bool goaway;
    bool widened; /* the peer has sent WINDOW_UPDATE for a stream */
    bool left;    /* nghttp2 does something else from now on. Behind the peer's GOAWAY it reads until its streams have
                     ended, or    its call returns */
} stage;

static void expect(bool kept) {
    if (!kept) abort();
}

static int flush(void *context) {
    stage *s = context;
    s->output.length = 0;
    return 0;
}

static int on_header(nghttp2_session *ng, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
                     const uint8_t *value, size_t value_length, uint8_t flags, void *user) {
    (void)ng, (void)flags;
    stage *s = user;
    uint32_t request = (uint32_t)(frame->hd.stream_id - 1) / 2;
    if (name_length != 7 || memcmp(name, ":status", 7) != 0 || value_length != 3 || request >= REQUESTS) return 0;
    s->fates[request].status = (uint16_t)((value[0] - '0') * 100 + (value[1] - '0') * 10 + (value[2] - '0'));
    /* Ours refuses a status below 100, which nghttp2 takes. */
    if (s->fates[request].status < 100) s->left = true;
    return 0;
}

static int on_close(nghttp2_session *ng, int32_t stream, uint32_t error_code, void *user) {
    (void)ng;
    stage *s = user;
    uint32_t request = (uint32_t)(stream - 1) / 2;
    if (request < REQUESTS) {
        s->fates[request].closed = true;
        s->fates[request].error_code = error_code;
    }
    return 0;
}

static int on_sent(nghttp2_session *ng, const nghttp2_frame *frame, void *user) {
    (void)ng;
    stage *s = user;
    uint32_t request = (uint32_t)(frame->hd.stream_id - 1) / 2;
    if (frame->hd.type == NGHTTP2_RST_STREAM && request < REQUESTS)
        s->fates[request].malformed |= frame->rst_stream.error_code == NGHTTP2_PROTOCOL_ERROR;
    if (frame->hd.type != NGHTTP2_GOAWAY) return 0;
    s->goaway = true;
    s->goaway_code = frame->goaway.error_code;
    return 0;
}

static int on_received(nghttp2_session *ng, const nghttp2_frame *frame, void *user) {
    (void)ng;
    stage *s = user;
    s->left = s->left || frame->hd.type == NGHTTP2_GOAWAY;
    if (frame->hd.type == NGHTTP2_WINDOW_UPDATE && frame->hd.stream_id != 0) s->widened = true;
    /* Ours does not look for a window that becomes too large by SETTINGS; it only notices the next WINDOW_UPDATE. */
    bool settings = frame->hd.type == NGHTTP2_SETTINGS && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0;
    for (size_t i = 0; settings && s->widened && i < frame->settings.niv; i++)
        s->left = s->left || frame->settings.iv[i].settings_id == NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE;
    return 0;
}

static ssize_t on_read(nghttp2_session *ng, int32_t stream, uint8_t *buffer, size_t length, uint32_t *flags,
                       nghttp2_data_source *source, void *user) {
    (void)ng, (void)stream, (void)source, (void)user;
    expect(length >= BODY_BYTES);
    memset(buffer, 'b', BODY_BYTES);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    return BODY_BYTES;
}

static void library_make(stage *s) {
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    expect(nghttp2_session_callbacks_new(&callbacks) == 0);
    expect(nghttp2_option_new(&option) == 0);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_received);
    nghttp2_option_set_peer_max_concurrent_streams(option, STREAMS_ANNOUNCED);
    nghttp2_option_set_no_closed_streams(option, 1);
    expect(nghttp2_session_client_new2(&s->theirs, callbacks, s, option) == 0);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(option);
    /* As apns_h2_session_create. */
    const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
                                               {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, APNS_H2_HEADER_LIST_BYTES_MAX},
                                               {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20},
                                               {NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
    expect(nghttp2_submit_settings(s->theirs, NGHTTP2_FLAG_NONE, settings, 4) == 0);
    nghttp2_session_set_local_window_size(s->theirs, NGHTTP2_FLAG_NONE, 0, 1 << 30);
}

static void ours_make(stage *s) {
    const apns_h2_field method = {
        .name = (const uint8_t *)":method", .value = (const uint8_t *)"POST", .name_length = 7, .value_length = 4};
    s->output = (apns_h2_output){.bytes = s->record, .capacity = RECORD_BYTES, .flush = flush, .context = s};
    s->memory = apns_h2_memory_create(MEMORY_BYTES);
    s->pool = apns_h2_pool_create(s->memory, REQUESTS, 0);
    s->set = apns_h2_header_set_create(&method, 1);
    const apns_h2_session_options options = {
        .memory = s->memory, .pool = s->pool, .output = &s->output, .body_received_max = 4096};
    s->ours = apns_h2_session_create(&options);
    expect(s->ours != NULL);
}

static void library_pump(stage *s) {
    const uint8_t *bytes;
    while (nghttp2_session_mem_send(s->theirs, &bytes) > 0)
        continue;
}

/* Begins the requests in both, after SETTINGS of the server that say what it would say anyway. */
static void requests_begin(stage *s) {
    static const uint8_t settings[] = {0, 0, 6, NGHTTP2_SETTINGS, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, STREAMS_ANNOUNCED};
    const apns_h2_request request = {.set = s->set, .path = (const uint8_t *)"/", .path_length = 1};
    const nghttp2_nv fields[] = {{(uint8_t *)(uintptr_t) ":method", (uint8_t *)(uintptr_t) "POST", 7, 4, 0},
                                 {(uint8_t *)(uintptr_t) ":path", (uint8_t *)(uintptr_t) "/", 5, 1, 0}};
    static const uint8_t bytes[BODY_BYTES];
    const nghttp2_data_provider body = {.read_callback = on_read};
    expect(apns_h2_session_pump(s->ours) == 0);
    expect(apns_h2_session_receive(s->ours, settings, sizeof(settings)) == 0);
    library_pump(s);
    expect(nghttp2_session_mem_recv(s->theirs, settings, sizeof(settings)) == (ssize_t)sizeof(settings));
    for (uint32_t i = 0; i < REQUESTS; i++) {
        bool with_body = i < REQUESTS / 2;
        s->exchanges[i] = apns_h2_pool_take(s->pool);
        s->exchanges[i]->body = with_body ? bytes : NULL;
        s->exchanges[i]->body_length = with_body ? BODY_BYTES : 0;
        expect(apns_h2_client_submit(s->ours, s->exchanges[i], &request) == 0);
        expect(nghttp2_submit_request(s->theirs, NULL, fields, 2, with_body ? &body : NULL, NULL) ==
               (int32_t)(2 * i + 1));
    }
    expect(apns_h2_session_pump(s->ours) == 0);
    library_pump(s);
}

/* A status that has arrived is known to nghttp2 before the end of its frame, and to ours then. */
static void compare(const stage *s) {
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const apns_h2_exchange *exchange = s->exchanges[i];
        bool closed = (exchange->facts & APNS_H2_CLOSED) != 0;
        const fate *theirs = &s->fates[i];
        bool malformed = (exchange->facts & APNS_H2_MALFORMED) != 0;
        expect(closed == theirs->closed && malformed == theirs->malformed);
        /* Until its reset is sent, nghttp2 reads what follows a malformed answer: a status, or a reset by the peer. */
        if (malformed && closed) expect(exchange->error_code == NGHTTP2_PROTOCOL_ERROR);
        if (malformed || !closed) continue;
        expect(exchange->status == theirs->status && exchange->error_code == theirs->error_code);
    }
}

static bool any_malformed(const stage *s) {
    bool any = false;
    for (uint32_t i = 0; i < REQUESTS; i++)
        any = any || (s->exchanges[i]->facts & APNS_H2_MALFORMED) != 0;
    return any;
}

/* Gives both a piece; returns whether both go on. Ours may end earlier: it has limits of its own. */
static bool turn(stage *s, const uint8_t *bytes, size_t length) {
    uint8_t *copy = malloc(length); /* of its own size, for the sanitizer */
    expect(copy != NULL);
    memcpy(copy, bytes, length);
    bool good = apns_h2_session_receive(s->ours, copy, length) == 0 && apns_h2_session_pump(s->ours) == 0;
    (void)apns_h2_session_changed_take(s->ours);
    for (uint32_t i = 0; i < REQUESTS; i++)
        s->exchanges[i]->facts &= (uint8_t)~APNS_H2_LISTED;
    const apns_error *failure = apns_h2_session_failure(s->ours);
    bool limited = failure->scope == APNS_H2_FAILURE_LIMIT;
    bool fine = nghttp2_session_mem_recv(s->theirs, copy, length) >= 0;
    library_pump(s);
    free(copy);
    if (limited || s->left) return false;
    bool ended = !fine || (s->goaway && s->goaway_code != NGHTTP2_NO_ERROR);
    /* Within a frame or a block nghttp2 judges what it has of it, and ours gives it whole ones. */
    if (s->ours->inbound.frame != NULL || s->ours->inbound.block_stream != 0) return !ended;
    /* A stream that ended with a malformed answer is closed in ours, and half-closed in nghttp2 until it is reset. */
    if (s->goaway && s->goaway_code == NGHTTP2_STREAM_CLOSED && any_malformed(s)) return false;
    expect(ended == (!good || failure->scope != APNS_H2_FAILURE_NONE));
    if (!ended) compare(s);
    return !ended && nghttp2_session_want_read(s->theirs) != 0;
}

void fuzz_answers(const uint8_t *bytes, size_t length) {
    static stage s;
    /* What nghttp2 says of messages differs between versions: later ones drop a field that is malformed. */
    if (length == 0 || nghttp2_version(0)->version_num != NGHTTP2_VERSION_NUM) return;
    memset(&s, 0, sizeof(s));
    ours_make(&s);
    library_make(&s);
    requests_begin(&s);
    size_t piece = bytes[0] == 0 ? length : bytes[0];
    for (size_t at = 1; at < length; at += piece)
        if (!turn(&s, bytes + at, length - at < piece ? length - at : piece)) break;
    nghttp2_session_del(s.theirs);
    apns_h2_session_destroy(s.ours);
    apns_h2_header_set_destroy(s.set);
    apns_h2_pool_destroy(s.pool);
    apns_h2_memory_destroy(s.memory);
}
