#include "apns_tls_server.h"
#include "scenario.h"

enum { STEP_CONTEXT = 1, STEP_SESSION, STEP_HANDSHAKE, STEP_WRITE, STEP_READ, STEP_CLOSE };
enum { ROOM = 65536 };

typedef struct side {
    apns_tls_context *context;
    apns_tls_session *session;
    apns_tls_output output;
    bool done;
} side;

typedef struct stage {
    side client;
    side server;
    uint8_t room[2][ROOM];
    uint8_t plain[APNS_TLS_RECORD_PLAIN_MAX];
} stage;

static int contexts_make(stage *s, const scenario_identity *identity, scenario_result *result) {
    const apns_tls_context_options server = {.certificate_pem = identity->certificate,
                                             .certificate_length = identity->certificate_length,
                                             .key_pem = identity->key,
                                             .key_length = identity->key_length};
    const apns_tls_context_options client = {.ca_pem = identity->authority, .ca_length = identity->authority_length};
    apns_error error = {0};
    if (apns_tls_server_context_create(&server, &s->server.context, &error) != APNS_OK ||
        apns_tls_context_create(NULL, &client, &s->client.context, &error) != APNS_OK)
        return scenario_refused(result, STEP_CONTEXT, error.text);
    return SCENARIO_DONE;
}

static int sessions_make(stage *s, scenario_result *result) {
    s->client.output = (apns_tls_output){.bytes = s->room[0], .capacity = ROOM};
    s->server.output = (apns_tls_output){.bytes = s->room[1], .capacity = ROOM};
    s->client.session = apns_tls_session_create(s->client.context, "localhost", &s->client.output);
    s->server.session = apns_tls_session_create(s->server.context, NULL, &s->server.output);
    if (s->client.session != NULL && s->server.session != NULL) return SCENARIO_DONE;
    return scenario_refused(result, STEP_SESSION, "no session");
}

static int handshake_step(side *to, side *from) {
    apns_tls_input input = {from->output.bytes, from->output.length};
    int status = apns_tls_session_handshake(to->session, &input);
    from->output.length = 0;
    to->done = status == APNS_TLS_OK;
    return status;
}

static int handshake(stage *s, scenario_result *result) {
    for (int round = 0; round < 10 && !(s->client.done && s->server.done); round++) {
        side *to = round % 2 == 0 ? &s->client : &s->server;
        side *from = round % 2 == 0 ? &s->server : &s->client;
        if (!to->done && handshake_step(to, from) < 0)
            return scenario_refused(result, STEP_HANDSHAKE, apns_tls_session_error(to->session)->text);
    }
    if (s->client.done && s->server.done) return SCENARIO_DONE;
    return scenario_end(result, SCENARIO_HANGING, STEP_HANDSHAKE, "no end of the handshake");
}

/* Reads until all input is processed, and returns the last result. */
static int read_all(stage *s, side *to, side *from, size_t *length) {
    apns_tls_input input = {from->output.bytes, from->output.length};
    int status;
    *length = 0;
    do {
        size_t now = 0;
        status = apns_tls_session_read(to->session, &input, s->plain, sizeof(s->plain), &now);
        *length += status == APNS_TLS_OK ? now : 0;
    } while (status == APNS_TLS_OK);
    from->output.length = 0;
    return status;
}

static int message(stage *s, scenario_result *result) {
    static const uint8_t text[] = "a message";
    size_t length = 0;
    if (apns_tls_session_write(s->client.session, text, sizeof(text)) != APNS_TLS_OK)
        return scenario_refused(result, STEP_WRITE, apns_tls_session_error(s->client.session)->text);
    if (read_all(s, &s->server, &s->client, &length) < 0)
        return scenario_refused(result, STEP_READ, apns_tls_session_error(s->server.session)->text);
    if (length != sizeof(text)) return scenario_end(result, SCENARIO_UNTOLD, STEP_READ, "");
    char described[512];
    apns_tls_session_describe(s->client.session, described, sizeof(described));
    apns_tls_session_peer_describe(s->client.session, described, sizeof(described));
    apns_tls_session_close(s->client.session);
    if (read_all(s, &s->server, &s->client, &length) == APNS_TLS_CLOSED) return SCENARIO_DONE;
    return scenario_refused(result, STEP_CLOSE, "no close_notify");
}

void scenario_tls(const scenario_identity *identity, uint64_t failing, scenario_result *result) {
    static _Thread_local stage s;
    memset(&s, 0, sizeof(s));
    scenario_begin(result, failing);
    if (contexts_make(&s, identity, result) == SCENARIO_DONE && sessions_make(&s, result) == SCENARIO_DONE &&
        handshake(&s, result) == SCENARIO_DONE)
        message(&s, result);
    apns_tls_session_destroy(s.client.session);
    apns_tls_session_destroy(s.server.session);
    apns_tls_context_destroy(s.client.context);
    apns_tls_context_destroy(s.server.context);
    scenario_finish(result);
}
