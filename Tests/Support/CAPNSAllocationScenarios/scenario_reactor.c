#include "apns_reactor.h"
#include "scenario.h"
#include <arpa/inet.h>
#include <netinet/in.h>

enum { STEP_CREATE = 1, STEP_LISTEN, STEP_CONNECT, STEP_TALK };

typedef struct stage {
    apns_reactor *loop;
    apns_reactor_socket listener;
    apns_reactor_socket client;
    bool echoed;
} stage;

static int begin(stage *s, scenario_result *result) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int status = apns_reactor_listen(s->loop, (const struct sockaddr *)&address, sizeof(address), 4, 1, &s->listener);
    if (status < 0) return scenario_refused(result, STEP_LISTEN, strerror(-status));
    address.sin_port = htons((uint16_t)apns_reactor_local_port(s->loop, s->listener));
    status = apns_reactor_connect(s->loop, (const struct sockaddr *)&address, sizeof(address), 2, &s->client);
    if (status < 0) return scenario_refused(result, STEP_CONNECT, strerror(-status));
    return SCENARIO_DONE;
}

/* Handles an event. The client sends first, and received bytes are sent back. */
static void take(stage *s, const apns_reactor_event *event) {
    static const uint8_t hello[] = "hello";
    if (event->kind == APNS_REACTOR_CONNECTED && event->error == 0) apns_reactor_send(s->loop, event->socket, hello, 5);
    if (event->kind == APNS_REACTOR_RECEIVED && event->socket == s->client) s->echoed = true;
    if (event->kind == APNS_REACTOR_RECEIVED && event->socket != s->client && event->length > 0)
        apns_reactor_send(s->loop, event->socket, hello, event->length);
}

static int talk(stage *s, scenario_result *result) {
    apns_reactor_event events[8];
    const apns_reactor_wait_options options = {.timeout_ns = 100000000};
    for (uint64_t end = scenario_now_s() + SCENARIO_SECONDS_MAX; !s->echoed;) {
        int count = apns_reactor_wait(s->loop, &options, events, 8);
        if (count < 0) return scenario_refused(result, STEP_TALK, strerror(-count));
        for (int i = 0; i < count; i++)
            take(s, &events[i]);
        if (scenario_now_s() > end) return scenario_end(result, SCENARIO_HANGING, STEP_TALK, "no echo");
    }
    return SCENARIO_DONE;
}

void scenario_reactor(uint32_t backend, uint64_t failing, scenario_result *result) {
    scenario_begin(result, failing);
    const apns_reactor_options options = {
        .backend = backend, .sockets_max = 4, .receive_buffer_bytes = 4096, .receive_buffer_count = 8};
    stage s = {0};
    int status = apns_reactor_create(&options, &s.loop);
    if (status < 0)
        scenario_refused(result, STEP_CREATE, strerror(-status));
    else if (begin(&s, result) == SCENARIO_DONE)
        talk(&s, result);
    apns_reactor_destroy(s.loop);
    scenario_finish(result);
}
