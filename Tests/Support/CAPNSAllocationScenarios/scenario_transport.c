#include "apns_transport_server.h"
#include "scenario.h"
#include <arpa/inet.h>
#include <netinet/in.h>

enum { STEP_CREATE = 1, STEP_TLS, STEP_LISTEN, STEP_CONNECT, STEP_UP, STEP_REQUEST, STEP_END };
enum { REQUESTS = 4, RECORDS = 16 };

typedef struct stage {
    apns_transport *client;
    apns_transport *server;
    apns_transport_connection connection;
    uint32_t submitted;
    uint32_t outcomes;
    uint32_t answered;
    bool up;
    bool down;
    bool closing;
    apns_transport_event end; /* DOWN, its text copied */
    char end_text[256];
    apns_transport_completion outcome_room[RECORDS];
    apns_transport_event event_room[RECORDS];
    apns_transport_received received_room[RECORDS];
} stage;

static apns_transport_field field(const char *name, const char *value) {
    return (apns_transport_field){.name = (const uint8_t *)name,
                                  .value = (const uint8_t *)value,
                                  .name_length = (uint32_t)strlen(name),
                                  .value_length = (uint32_t)strlen(value)};
}

static int transports_make(stage *s, uint32_t loop, scenario_result *result) {
    static const char *const captures[] = {"apns-id"};
    const apns_transport_options options = {.loop = loop,
                                            .connections_max = 4,
                                            .streams_max = 16,
                                            .body_received_max = 4096,
                                            .request_timeout_ms = 3000,
                                            .connect_timeout_ms = 3000,
                                            .send_buffer_max = 16384,
                                            .capture_count = 1,
                                            .captures = captures};
    apns_error error = {0};
    if (apns_transport_create(&options, &s->server, &error) != 0 ||
        apns_transport_create(&options, &s->client, &error) != 0)
        return scenario_refused(result, STEP_CREATE, error.text);
    return SCENARIO_DONE;
}

static int tls_make(stage *s, const scenario_identity *identity, scenario_result *result) {
    const apns_transport_tls_options server = {.certificate_pem = identity->certificate,
                                               .certificate_length = identity->certificate_length,
                                               .key_pem = identity->key,
                                               .key_length = identity->key_length};
    const apns_transport_tls_options client = {.ca_pem = identity->authority, .ca_length = identity->authority_length};
    apns_error error = {0};
    if (apns_transport_server_tls_create(s->server, &server, &error) < 0 ||
        apns_transport_tls_create(s->client, &client, &error) < 0)
        return scenario_refused(result, STEP_TLS, error.text);
    return SCENARIO_DONE;
}

static int connect_start(stage *s, scenario_result *result) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    uint16_t port = 0;
    apns_error error = {0};
    const apns_transport_listen_options listening = {
        .address = (const struct sockaddr *)&address, .address_length = sizeof(address), .streams_max = 8};
    if (apns_transport_listen(s->server, &listening, &port, &error) != 0)
        return scenario_refused(result, STEP_LISTEN, error.text);
    address.sin_port = htons(port);
    const apns_transport_field fields[] = {field(":method", "POST"), field(":scheme", "https"),
                                           field(":authority", "localhost")};
    const apns_transport_field token = field("authorization", "bearer not.a.token");
    const apns_transport_connect_options connecting = {
        .address = (const struct sockaddr *)&address, .host_name = "localhost", .address_length = sizeof(address)};
    if (apns_transport_header_set_define(s->client, 0, fields, 3) != 0 ||
        apns_transport_connect(s->client, &connecting, &s->connection, NULL) != 0)
        return scenario_refused(result, STEP_CONNECT, "refused");
    if (apns_transport_connection_fields_set(s->client, s->connection, &token, 1) != 0)
        return scenario_refused(result, STEP_CONNECT, "no fields");
    return SCENARIO_DONE;
}

static int server_poll(stage *s, scenario_result *result) {
    apns_transport_poll_io io = {
        .events = s->event_room, .event_capacity = RECORDS, .received = s->received_room, .received_capacity = RECORDS};
    if (apns_transport_poll(s->server, &io) < 0)
        return scenario_refused(result, STEP_REQUEST, "the server's loop failed");
    const apns_transport_field id = field("apns-id", "8f8b4b1e-3a5d-4f6f-9d53-0e3f7f0c1a2b");
    static const char reason[] = "{\"reason\":\"BadDeviceToken\"}";
    for (uint32_t i = 0; i < io.received_count; i++) {
        const apns_transport_response response = {.connection = s->received_room[i].connection,
                                                  .fields = &id,
                                                  .body = (const uint8_t *)reason,
                                                  .stream = s->received_room[i].stream,
                                                  .body_length = sizeof(reason) - 1,
                                                  .field_count = 1,
                                                  .status = 400};
        apns_transport_respond(s->server, &response, 1);
    }
    return SCENARIO_DONE;
}

static void requests_submit(stage *s) {
    static const uint8_t path[] = "/3/device/00";
    apns_transport_request requests[REQUESTS];
    for (uint32_t i = 0; i < REQUESTS; i++)
        requests[i] = (apns_transport_request){.ticket = i,
                                               .connection = s->connection,
                                               .path = path,
                                               .body = (const uint8_t *)"{\"aps\":{}}",
                                               .path_length = sizeof(path) - 1,
                                               .body_length = 10};
    if (apns_transport_submit(s->client, requests, REQUESTS) == 0) s->submitted = REQUESTS;
}

static void event_look(stage *s, const apns_transport_event *event) {
    if (event->kind == APNS_TRANSPORT_EVENT_UP) s->up = true;
    if (event->kind != APNS_TRANSPORT_EVENT_DOWN) return;
    s->down = true;
    s->end = *event;
    size_t length = event->detail_length < 255 ? event->detail_length : 255;
    if (length > 0) memcpy(s->end_text, event->detail, length);
}

static int client_poll(stage *s, scenario_result *result) {
    apns_transport_poll_io io = {.completions = s->outcome_room,
                                 .completion_capacity = RECORDS,
                                 .events = s->event_room,
                                 .event_capacity = RECORDS};
    if (apns_transport_poll(s->client, &io) < 0)
        return scenario_refused(result, STEP_REQUEST, "the client's loop failed");
    for (uint32_t i = 0; i < io.completion_count; i++) {
        s->outcomes++;
        s->answered += s->outcome_room[i].delivery == APNS_TRANSPORT_ANSWERED;
    }
    for (uint32_t i = 0; i < io.event_count; i++)
        event_look(s, &s->event_room[i]);
    if (s->up && s->submitted == 0) requests_submit(s);
    if (s->submitted > 0 && s->outcomes == s->submitted && !s->closing)
        s->closing = apns_transport_connection_close(s->client, s->connection, APNS_TRANSPORT_CLOSE_DRAIN) == 0;
    return SCENARIO_DONE;
}

/* Until the connection is down: that comes always, and after every outcome. */
static int talk(stage *s, scenario_result *result) {
    for (uint64_t end = scenario_now_s() + SCENARIO_SECONDS_MAX; !s->down;) {
        if (server_poll(s, result) != SCENARIO_DONE || client_poll(s, result) != SCENARIO_DONE) return result->end;
        if (scenario_now_s() > end) return scenario_end(result, SCENARIO_HANGING, STEP_END, "the connection hangs");
    }
    if (s->outcomes != s->submitted) return scenario_end(result, SCENARIO_UNTOLD, STEP_END, "an outcome is missing");
    if (s->answered == REQUESTS) return SCENARIO_DONE;
    return scenario_refused(result, s->up ? STEP_REQUEST : STEP_UP, s->end_text);
}

void scenario_transport(uint32_t loop, const scenario_identity *identity, uint64_t failing, scenario_result *result) {
    static _Thread_local stage s;
    memset(&s, 0, sizeof(s));
    scenario_begin(result, failing);
    if (transports_make(&s, loop, result) == SCENARIO_DONE && tls_make(&s, identity, result) == SCENARIO_DONE &&
        connect_start(&s, result) == SCENARIO_DONE)
        talk(&s, result);
    apns_transport_destroy(s.client);
    apns_transport_destroy(s.server);
    scenario_finish(result);
}
