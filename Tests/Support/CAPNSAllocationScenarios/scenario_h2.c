#include "apns_h2_server.h"
#include "scenario.h"

enum { STEP_MEMORY = 1, STEP_SESSION, STEP_SETTINGS, STEP_REQUEST, STEP_ANSWER, STEP_END };
enum { ROOM = 1 << 20, REQUESTS = 5 };

typedef struct side {
    apns_h2_memory *memory;
    apns_h2_pool *pool;
    apns_h2_session *session;
    apns_h2_output output;
    uint8_t record[16384];
    uint8_t *sent; /* bytes that were sent and that the other side has not processed */
    size_t sent_length;
} side;

typedef struct stage {
    side client;
    side server;
    apns_h2_header_set *set;
    apns_h2_header_set *shared;
    apns_h2_exchange *exchanges[REQUESTS];
    uint32_t answered;
    uint32_t served;
    uint8_t sent[2][ROOM];
    uint8_t body[40000];
} stage;

static apns_h2_field field(const char *name, const char *value, uint32_t indexing) {
    return (apns_h2_field){.name = (const uint8_t *)name,
                           .value = (const uint8_t *)value,
                           .name_length = (uint32_t)strlen(name),
                           .value_length = (uint32_t)strlen(value),
                           .indexing = indexing};
}

static int flush(void *context) {
    side *s = context;
    if (s->output.length > ROOM - s->sent_length) return -1;
    memcpy(s->sent + s->sent_length, s->record, s->output.length);
    s->sent_length += s->output.length;
    s->output.length = 0;
    return 0;
}

static bool side_make(side *s, bool server) {
    static apns_h2_field captures[2];
    captures[0] = field("apns-id", "", 0);
    captures[1] = field("retry-after", "", 0);
    s->output = (apns_h2_output){.bytes = s->record, .capacity = sizeof(s->record), .flush = flush, .context = s};
    s->memory = apns_h2_memory_create(4 << 20);
    if (s->memory == NULL) return false;
    s->pool = apns_h2_pool_create(s->memory, 16, 0);
    if (s->pool == NULL) return false;
    const apns_h2_session_options options = {.memory = s->memory,
                                             .pool = s->pool,
                                             .output = &s->output,
                                             .captures = captures,
                                             .capture_count = server ? 0 : 2,
                                             .body_received_max = 65536};
    s->session = server ? apns_h2_server_create(&options, 10, 0) : apns_h2_session_create(&options);
    return s->session != NULL;
}

static void side_free(side *s) {
    apns_h2_session_destroy(s->session);
    apns_h2_pool_destroy(s->pool);
    apns_h2_memory_destroy(s->memory);
}

static int failed(const side *s, uint32_t step, scenario_result *result) {
    return scenario_refused(result, step, apns_h2_session_failure(s->session)->text);
}

/* Sends the output of one side to the other side. */
static int pass(side *from, side *to, uint32_t step, scenario_result *result) {
    if (apns_h2_session_pump(from->session) != 0 ||
        apns_h2_session_failure(from->session)->scope != APNS_H2_FAILURE_NONE)
        return failed(from, step, result);
    flush(from);
    size_t length = from->sent_length;
    from->sent_length = 0;
    if (length > 0 && apns_h2_session_receive(to->session, from->sent, length) != 0) return failed(to, step, result);
    return SCENARIO_DONE;
}

static int respond(stage *s, apns_h2_exchange *exchange, scenario_result *result) {
    const apns_h2_field fields[] = {field("apns-id", "8f8b4b1e-3a5d-4f6f-9d53-0e3f7f0c1a2b", APNS_H2_LITERAL),
                                    field("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", APNS_H2_INDEXED)};
    exchange->body = s->body;
    exchange->body_length = s->served % 2 == 0 ? 0 : sizeof(s->body);
    s->served++;
    if (apns_h2_server_respond(s->server.session, exchange, 200, fields, 2) == 0) return SCENARIO_DONE;
    return failed(&s->server, STEP_ANSWER, result);
}

static int server_look(stage *s, scenario_result *result) {
    int end = SCENARIO_DONE;
    for (apns_h2_exchange *exchange = apns_h2_session_changed_take(s->server.session); exchange != NULL;) {
        apns_h2_exchange *next = exchange->next;
        bool complete = (exchange->facts & (APNS_H2_COMPLETE | APNS_H2_CLOSED)) == APNS_H2_COMPLETE;
        exchange->facts = (uint8_t)(exchange->facts & ~APNS_H2_LISTED);
        if ((exchange->facts & APNS_H2_CLOSED) != 0)
            apns_h2_pool_give(s->server.pool, exchange);
        else if (complete && end == SCENARIO_DONE)
            end = respond(s, exchange, result);
        exchange = next;
    }
    return end;
}

static void client_look(stage *s) {
    for (apns_h2_exchange *exchange = apns_h2_session_changed_take(s->client.session); exchange != NULL;) {
        apns_h2_exchange *next = exchange->next;
        exchange->facts = (uint8_t)(exchange->facts & ~APNS_H2_LISTED);
        if ((exchange->facts & APNS_H2_COMPLETE) != 0) s->answered++;
        if ((exchange->facts & APNS_H2_CLOSED) != 0) apns_h2_pool_give(s->client.pool, exchange);
        exchange = next;
    }
}

static int submit(stage *s, uint32_t number, scenario_result *result) {
    static const char path[] = "/3/device/0123456789abcdef";
    const apns_h2_field fields[] = {field("apns-id", "8f8b4b1e-3a5d-4f6f-9d53-0e3f7f0c1a2b", APNS_H2_NAME_ONCE),
                                    field("x-number", number % 2 == 0 ? "even" : "odd", APNS_H2_INDEXED)};
    apns_h2_exchange *exchange = apns_h2_pool_take(s->client.pool);
    exchange->body = s->body;
    exchange->body_length = 100 + number;
    const apns_h2_request request = {.set = s->set,
                                     .shared = s->shared,
                                     .path = (const uint8_t *)path,
                                     .fields = fields,
                                     .path_length = sizeof(path) - 1,
                                     .field_count = 2};
    s->client.output.paused = number == 3; /* this request waits */
    if (apns_h2_client_submit(s->client.session, exchange, &request) != 0)
        return failed(&s->client, STEP_REQUEST, result);
    s->client.output.paused = false;
    return SCENARIO_DONE;
}

static int talk(stage *s, scenario_result *result) {
    int end = SCENARIO_DONE;
    for (int round = 0; round < 20 && end == SCENARIO_DONE && s->answered < REQUESTS; round++) {
        end = pass(&s->client, &s->server, STEP_REQUEST, result);
        if (end == SCENARIO_DONE) end = server_look(s, result);
        if (end == SCENARIO_DONE) end = pass(&s->server, &s->client, STEP_ANSWER, result);
        client_look(s);
    }
    if (end == SCENARIO_DONE && s->answered < REQUESTS)
        return scenario_end(result, SCENARIO_HANGING, STEP_ANSWER, "answers are missing");
    return end;
}

static int say_goodbye(stage *s, scenario_result *result) {
    static const uint8_t debug[] = "{\"reason\":\"Shutdown\"}";
    if (apns_h2_session_ping(s->client.session, 7) != 0) return failed(&s->client, STEP_END, result);
    if (apns_h2_session_goaway(s->server.session, 0, debug, sizeof(debug) - 1) != 0)
        return failed(&s->server, STEP_END, result);
    int end = pass(&s->client, &s->server, STEP_END, result);
    return end == SCENARIO_DONE ? pass(&s->server, &s->client, STEP_END, result) : end;
}

static int sets_make(stage *s, scenario_result *result) {
    const apns_h2_field fields[] = {field(":method", "POST", APNS_H2_INDEXED),
                                    field(":scheme", "https", APNS_H2_INDEXED),
                                    field(":authority", "api.push.apple.com", APNS_H2_INDEXED),
                                    field("apns-topic", "com.example.app", APNS_H2_INDEXED)};
    const apns_h2_field token = field("authorization", "bearer not.a.token", APNS_H2_LITERAL);
    s->set = apns_h2_header_set_create(fields, 4);
    s->shared = apns_h2_header_set_create(&token, 1);
    if (s->set != NULL && s->shared != NULL) return SCENARIO_DONE;
    return scenario_refused(result, STEP_MEMORY, "no header set");
}

static int act(stage *s, scenario_result *result) {
    if (!side_make(&s->client, false) || !side_make(&s->server, true))
        return scenario_refused(result, STEP_SESSION, "no session");
    if (sets_make(s, result) != SCENARIO_DONE) return result->end;
    if (pass(&s->client, &s->server, STEP_SETTINGS, result) != SCENARIO_DONE) return result->end;
    if (pass(&s->server, &s->client, STEP_SETTINGS, result) != SCENARIO_DONE) return result->end;
    for (uint32_t i = 0; i < REQUESTS; i++)
        if (submit(s, i, result) != SCENARIO_DONE) return result->end;
    if (talk(s, result) != SCENARIO_DONE) return result->end;
    return say_goodbye(s, result);
}

void scenario_h2(uint64_t failing, scenario_result *result) {
    static _Thread_local stage s;
    memset(&s, 0, sizeof(s));
    s.client.sent = s.sent[0];
    s.server.sent = s.sent[1];
    scenario_begin(result, failing);
    act(&s, result);
    side_free(&s.client);
    side_free(&s.server);
    apns_h2_header_set_destroy(s.set);
    apns_h2_header_set_destroy(s.shared);
    scenario_finish(result);
}
