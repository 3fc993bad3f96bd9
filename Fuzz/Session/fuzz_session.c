#include "fuzz_session.h"
#include "apns_h2_server.h"
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 32, MEMORY_BYTES = 8 << 20, BODY_BYTES = 4096, RECORD_BYTES = 16384 };

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

typedef struct stage {
    apns_h2_memory *memory;
    apns_h2_pool *pool;
    apns_h2_session *session;
    apns_h2_header_set *set;
    apns_h2_header_set *shared;
    apns_h2_output output;
    uint8_t record[RECORD_BYTES];
    uint32_t live; /* exchanges that the session knows */
    bool server;
    bool pauses;
    uint32_t submitted;
} stage;

/* A broken promise: the fuzzer sees the trap. */
static void expect(bool kept) {
    if (!kept) abort();
}

static apns_h2_field field(const char *name, const char *value, uint32_t indexing) {
    return (apns_h2_field){.name = (const uint8_t *)name,
                           .value = (const uint8_t *)value,
                           .name_length = (uint32_t)strlen(name),
                           .value_length = (uint32_t)strlen(value),
                           .indexing = indexing};
}

static int flush(void *context) {
    stage *s = context;
    s->output.length = 0;
    return 0;
}

static void sets_make(stage *s) {
    const apns_h2_field fields[] = {field(":method", "POST", APNS_H2_INDEXED),
                                    field(":scheme", "https", APNS_H2_INDEXED),
                                    field(":authority", "api.push.apple.com", APNS_H2_INDEXED),
                                    field("apns-topic", "com.example.app", APNS_H2_INDEXED)};
    const apns_h2_field token = field("authorization", "bearer not.a.token", APNS_H2_LITERAL);
    s->set = apns_h2_header_set_create(fields, 4);
    s->shared = apns_h2_header_set_create(&token, 1);
}

static void stage_make(stage *s, uint8_t choice) {
    static apns_h2_field captures[2];
    captures[0] = field("apns-id", "", 0);
    captures[1] = field("retry-after", "", 0);
    memset(s, 0, sizeof(*s));
    s->server = (choice & 1) != 0;
    s->pauses = (choice & 0x80) != 0;
    s->output = (apns_h2_output){.bytes = s->record, .capacity = RECORD_BYTES, .flush = flush, .context = s};
    s->memory = apns_h2_memory_create(MEMORY_BYTES);
    s->pool = apns_h2_pool_create(s->memory, STREAMS, 0);
    const apns_h2_session_options options = {.memory = s->memory,
                                             .pool = s->pool,
                                             .output = &s->output,
                                             .captures = captures,
                                             .capture_count = s->server ? 0 : 2,
                                             .body_received_max = BODY_BYTES};
    s->session = s->server ? apns_h2_server_create(&options, STREAMS / 2, 0) : apns_h2_session_create(&options);
    expect(s->session != NULL);
    sets_make(s);
}

static void submit(stage *s) {
    static const uint8_t path[] = "/3/device/0123";
    static const uint8_t body[] = "{\"aps\":{}}";
    if (apns_h2_session_open_count(s->session) >= apns_h2_session_peer_streams_max(s->session)) return;
    apns_h2_exchange *exchange = apns_h2_pool_take(s->pool);
    if (exchange == NULL) return;
    const apns_h2_field fields[] = {field("apns-id", "8f8b4b1e", APNS_H2_NAME_ONCE),
                                    field("x-row", s->submitted % 2 == 0 ? "even" : "odd", APNS_H2_INDEXED)};
    exchange->body = body;
    exchange->body_length = sizeof(body) - 1;
    const apns_h2_request request = {.set = s->set,
                                     .shared = s->shared,
                                     .path = path,
                                     .fields = fields,
                                     .path_length = sizeof(path) - 1,
                                     .field_count = 2};
    s->submitted++;
    s->output.paused = s->pauses && s->submitted % 3 == 0;
    int result = apns_h2_client_submit(s->session, exchange, &request);
    expect(result >= 0 || apns_h2_session_failure(s->session)->scope != APNS_H2_FAILURE_NONE);
    if (result == 1)
        apns_h2_pool_give(s->pool, exchange);
    else
        s->live++;
    s->output.paused = false;
}

static void respond(stage *s, apns_h2_exchange *exchange) {
    static const uint8_t reason[] = "{\"reason\":\"BadDeviceToken\"}";
    const apns_h2_field id = field("apns-id", "8f8b4b1e", APNS_H2_INDEXED);
    exchange->body = reason;
    exchange->body_length = sizeof(reason) - 1;
    apns_h2_server_respond(s->session, exchange, 400, &id, 1);
}

static void message_check(const apns_h2_exchange *exchange) {
    const apns_h2_message *message = exchange->message;
    if (message == NULL) return;
    expect(message->body_length <= BODY_BYTES && message->body_length <= exchange->body_received);
    expect(message->field_count <= APNS_H2_FIELDS_RECEIVED_MAX);
    uint8_t sum = 0;
    for (uint32_t i = 0; i < message->field_count; i++)
        for (uint32_t b = 0; b < message->fields[i].value_length; b++)
            sum = (uint8_t)(sum + message->fields[i].value[b]);
    for (uint32_t b = 0; b < message->body_length; b++)
        sum = (uint8_t)(sum + message->body[b]);
    (void)*(volatile uint8_t *)&sum;
}

/* What the transport does with an exchange that has changed. */
static void look_at(stage *s, apns_h2_exchange *exchange) {
    message_check(exchange);
    bool closed = (exchange->facts & APNS_H2_CLOSED) != 0;
    bool complete = (exchange->facts & APNS_H2_COMPLETE) != 0;
    if (s->server && exchange->stream != 0 && exchange->reserved == 0) {
        exchange->reserved = 1; /* seen for the first time */
        s->live++;
    }
    if (complete && !closed && s->server && exchange->reserved == 1) {
        exchange->reserved = 2;
        respond(s, exchange);
    }
    if (complete && !closed && !s->server) apns_h2_client_abandon(s->session, exchange, 0);
    if (!closed && !(complete && !s->server)) return;
    s->live--;
    apns_h2_pool_give(s->pool, exchange);
}

static void collect(stage *s) {
    for (apns_h2_exchange *exchange = apns_h2_session_changed_take(s->session); exchange != NULL;) {
        apns_h2_exchange *next = exchange->next;
        exchange->facts = (uint8_t)(exchange->facts & ~APNS_H2_LISTED);
        look_at(s, exchange);
        exchange = next;
    }
    apns_h2_facts *facts = apns_h2_session_facts(s->session);
    expect(facts->goaway_count <= APNS_H2_GOAWAYS_KEPT);
    for (uint32_t i = 0; i < facts->goaway_count; i++)
        expect(facts->goaways[i].debug_length <= APNS_H2_DEBUG_BYTES_MAX);
    facts->goaway_count = 0;
    expect(s->live + apns_h2_pool_free_count(s->pool) == STREAMS);
}

/* Receives a piece, and begins requests before anything is sent, as the transport's caller may. */
static bool turn(stage *s, const uint8_t *bytes, size_t length, int requests) {
    uint8_t *copy = malloc(length == 0 ? 1 : length); /* of its own size, for the sanitizer */
    if (length > 0) memcpy(copy, bytes, length);
    bool good = apns_h2_session_receive(s->session, copy, length) == 0;
    free(copy);
    collect(s);
    for (int i = 0; i < requests && apns_h2_session_failure(s->session)->scope == APNS_H2_FAILURE_NONE; i++)
        submit(s);
    good = good && apns_h2_session_pump(s->session) == 0;
    collect(s);
    return good && apns_h2_session_failure(s->session)->scope == APNS_H2_FAILURE_NONE;
}

void fuzz_session(const uint8_t *bytes, size_t length) {
    if (length == 0) return;
    static stage s;
    uint8_t choice = bytes[0];
    stage_make(&s, choice);
    size_t piece = (size_t)1 << (2 * (choice >> 4 & 7));
    bool good = apns_h2_session_pump(s.session) == 0;
    if (s.server) good = good && turn(&s, (const uint8_t *)preface, sizeof(preface) - 1, 0);
    for (size_t at = 1; good && at < length; at += piece) {
        good = turn(&s, bytes + at, length - at < piece ? length - at : piece, s.server ? 0 : choice >> 1 & 7);
        good = good && apns_h2_session_pump(s.session) == 0;
        collect(&s);
    }
    if (!good) expect(apns_h2_session_failure(s.session)->scope != APNS_H2_FAILURE_NONE);
    apns_h2_session_destroy(s.session);
    apns_h2_header_set_destroy(s.set);
    apns_h2_header_set_destroy(s.shared);
    apns_h2_pool_destroy(s.pool);
    apns_h2_memory_destroy(s.memory);
}
