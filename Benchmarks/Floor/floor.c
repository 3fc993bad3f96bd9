#include "floor_internal.h"
#include <time.h>

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static bool carry(floor_side *from, floor_side *to) {
    return floor_side_send(from) && floor_side_receive(to, from);
}

/* Settings both ways, and their acknowledgements. */
static bool settle(floor_client *client, floor_server *server) {
    return carry(&client->side, &server->side) && carry(&server->side, &client->side) &&
           carry(&client->side, &server->side);
}

static bool batch_run(floor_client *client, floor_server *server, floor_batch *batch) {
    floor_client_prepare(client);
    server->delivered = 0;
    uint64_t begin = now();
    if (!floor_client_submit(client)) return false;
    uint64_t submitted = now();
    if (!floor_side_send(&client->side)) return false;
    uint64_t sent = now();
    if (!floor_side_receive(&server->side, &client->side) || !floor_side_send(&server->side)) return false;
    uint64_t answered = now();
    if (!floor_side_receive(&client->side, &server->side)) return false;
    *batch = (floor_batch){.submit_ns = submitted - begin,
                           .send_ns = sent - submitted,
                           .receive_ns = now() - answered,
                           .answered = client->answered,
                           .delivered = server->delivered};
    return true;
}

bool floor_run(const floor_request *request, uint32_t streams, floor_batch *batches, size_t batch_count) {
    floor_client client = {0};
    floor_server server = {0};
    bool good = streams > 0 && floor_client_open(&client, request, streams) &&
                floor_server_open(&server, request, streams) && settle(&client, &server);
    for (size_t i = 0; good && i < batch_count; i++)
        good = batch_run(&client, &server, &batches[i]);
    floor_client_clear(&client);
    floor_server_clear(&server);
    return good;
}
