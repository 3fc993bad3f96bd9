#include "apns_h2.h"
#include "fuzz_session.h"
#include <arpa/inet.h>
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

/* A client's session, whose caller does at any moment what it may do: what it does, and what it receives, are steps of
 * the input. A strict reader takes all that the session writes. */

enum { STREAMS = 16, MEMORY_BYTES = 4 << 20, BODY_BYTES = 200, CAPACITY_MAX = 16384, ENDED_MAX = 256 };
enum { HEADER_BYTES = 9, WINDOW_FIRST = 65535 };

/* What the reader knows of a stream that it has seen HEADERS of. */
typedef struct seen {
    uint32_t body; /* bytes of DATA so far */
    bool ended;    /* END_STREAM or RST_STREAM was written */
    int64_t window;
} seen;

/* What a frame of the server changes in the windows. */
typedef struct change {
    bool is_setting;
    uint32_t stream;
    uint32_t value;
} change;

typedef struct player {
    apns_h2_memory *memory;
    apns_h2_pool *pool;
    apns_h2_session *session;
    apns_h2_header_set *set;
    apns_h2_output output;
    apns_h2_exchange *live[STREAMS];
    uint32_t live_count;
    uint32_t abandoned;   /* they count as open until their reset is written */
    uint32_t pause_after; /* the number of flushes after which the output is paused; 0 for never */
    uint32_t flushes;
    uint32_t submitted;
    bool up;      /* the peer's SETTINGS have been received */
    bool leaving; /* GOAWAY was sent or received */
    /* The reader. */
    uint32_t frame_length;
    uint32_t preface_left;
    int32_t last_stream;
    int32_t block_stream; /* whose CONTINUATION must follow, or 0 */
    seen streams[ENDED_MAX];
    int64_t window;
    int64_t stream_window;
    change changes[4]; /* of frames that are not yet received */
    uint32_t change_count;
    bool windows_known; /* nothing was received that may have been a WINDOW_UPDATE or SETTINGS of another kind */
    bool
        over; /* neither HEADERS nor DATA may be written: the session has failed, or has written GOAWAY with an error */
    uint8_t frame[HEADER_BYTES + CAPACITY_MAX];
    uint8_t record[CAPACITY_MAX];
} player;

static void expect(bool kept) {
    if (!kept) abort();
}

static bool failed(const player *p) {
    return apns_h2_session_failure(p->session)->scope != APNS_H2_FAILURE_NONE;
}

/* ---------------------------------------------------------------- the reader */

static uint32_t number_at(const uint8_t *bytes) {
    uint32_t number;
    memcpy(&number, bytes, sizeof(number));
    return ntohl(number);
}

static seen *seen_at(player *p, int32_t stream) {
    expect(stream > 0 && stream % 2 == 1 && stream <= p->last_stream);
    return (uint32_t)stream / 2 < ENDED_MAX ? &p->streams[stream / 2] : NULL;
}

static void headers_read(player *p, int32_t stream, uint8_t flags) {
    expect(!p->over && stream % 2 == 1 && stream > p->last_stream);
    p->last_stream = stream;
    if ((flags & NGHTTP2_FLAG_END_HEADERS) == 0) p->block_stream = stream;
    seen *s = seen_at(p, stream);
    if (s != NULL) *s = (seen){.ended = (flags & NGHTTP2_FLAG_END_STREAM) != 0, .window = p->stream_window};
}

static void data_read(player *p, int32_t stream, uint8_t flags, uint32_t length) {
    expect(!p->over);
    p->window -= length;
    seen *s = seen_at(p, stream);
    if (s == NULL) return;
    expect(!s->ended);
    s->body += length;
    s->window -= length;
    s->ended = (flags & NGHTTP2_FLAG_END_STREAM) != 0;
    expect(s->body <= BODY_BYTES && s->ended == (s->body == BODY_BYTES));
    if (p->windows_known) expect(p->window >= 0 && s->window >= 0);
}

static void frame_read(player *p, const uint8_t *frame, uint32_t length) {
    uint8_t type = frame[3], flags = frame[4];
    int32_t stream = (int32_t)number_at(frame + 5);
    expect((p->block_stream != 0) == (type == NGHTTP2_CONTINUATION) &&
           (p->block_stream == 0 || p->block_stream == stream));
    switch (type) {
    case NGHTTP2_HEADERS:
        headers_read(p, stream, flags);
        break;
    case NGHTTP2_CONTINUATION:
        if ((flags & NGHTTP2_FLAG_END_HEADERS) != 0) p->block_stream = 0;
        break;
    case NGHTTP2_DATA:
        data_read(p, stream, flags, length);
        break;
    case NGHTTP2_RST_STREAM: {
        expect(length == 4);
        seen *s = seen_at(p, stream);
        if (s != NULL) s->ended = true;
        break;
    }
    case NGHTTP2_GOAWAY:
        expect(length >= 8 && stream == 0);
        p->over = p->over || number_at(frame + HEADER_BYTES + 4) != NGHTTP2_NO_ERROR;
        break;
    default:
        expect(type == NGHTTP2_SETTINGS || type == NGHTTP2_PING || type == NGHTTP2_WINDOW_UPDATE);
    }
}

static void read_byte(player *p, uint8_t byte) {
    if (p->preface_left > 0) {
        p->preface_left--;
        return;
    }
    p->frame[p->frame_length++] = byte;
    if (p->frame_length < HEADER_BYTES) return;
    uint32_t length = number_at(p->frame) >> 8;
    expect(length <= CAPACITY_MAX);
    if (p->frame_length < HEADER_BYTES + length) return;
    p->frame_length = 0;
    frame_read(p, p->frame, length);
}

static int flush(void *context) {
    player *p = context;
    for (uint32_t i = 0; i < p->output.length; i++)
        read_byte(p, p->output.bytes[i]);
    p->output.length = 0;
    p->flushes++;
    if (p->pause_after > 0 && p->flushes % p->pause_after == 0) p->output.paused = true;
    return 0;
}

/* ---------------------------------------------------------------- the caller */

static void live_remove(player *p, const apns_h2_exchange *exchange) {
    uint32_t i = 0;
    while (i < p->live_count && p->live[i] != exchange)
        i++;
    expect(i < p->live_count); /* each ends once */
    p->live[i] = p->live[--p->live_count];
}

static void collect(player *p) {
    for (apns_h2_exchange *exchange = apns_h2_session_changed_take(p->session); exchange != NULL;) {
        apns_h2_exchange *next = exchange->next;
        exchange->facts = (uint8_t)(exchange->facts & ~APNS_H2_LISTED);
        if ((exchange->facts & APNS_H2_CLOSED) != 0) {
            live_remove(p, exchange);
            apns_h2_pool_give(p->pool, exchange);
        }
        exchange = next;
    }
    apns_h2_facts *facts = apns_h2_session_facts(p->session);
    p->up = p->up || facts->settings_count > 0;
    p->leaving = p->leaving || facts->goaway_count > 0;
    facts->goaway_count = 0;
}

/* What holds after every step. */
static void check(player *p, int result) {
    collect(p);
    flush(p);
    expect(result == 0 || failed(p));
    expect(p->live_count + apns_h2_pool_free_count(p->pool) == STREAMS);
    if (failed(p)) {
        p->over = true;
        return;
    }
    uint32_t open = apns_h2_session_open_count(p->session);
    expect(open >= p->live_count && open <= p->live_count + p->abandoned);
    expect(apns_h2_session_written_stream(p->session) == p->last_stream);
}

static void receive(player *p, const uint8_t *bytes, size_t length) {
    uint8_t *copy = malloc(length == 0 ? 1 : length); /* of its own size, for the sanitizer */
    expect(copy != NULL);
    if (length > 0) memcpy(copy, bytes, length);
    int result = apns_h2_session_receive(p->session, copy, length);
    free(copy);
    check(p, result);
}

static void submit(player *p, bool with_body) {
    static const uint8_t path[] = "/3/device/0123", body[BODY_BYTES];
    bool full = apns_h2_session_open_count(p->session) >= apns_h2_session_peer_streams_max(p->session);
    if (!p->up || p->leaving || full) return;
    apns_h2_exchange *exchange = apns_h2_pool_take(p->pool);
    if (exchange == NULL) return;
    /* Every other request has a body, because the reader knows how long one is. */
    exchange->body = with_body ? body : NULL;
    exchange->body_length = with_body ? BODY_BYTES : 0;
    const apns_h2_field field = {.name = (const uint8_t *)"x-row",
                                 .value = (const uint8_t *)(p->submitted % 3 == 0 ? "a" : "bc"),
                                 .name_length = 5,
                                 .value_length = p->submitted % 3 == 0 ? 1 : 2};
    const apns_h2_request request = {
        .set = p->set, .path = path, .path_length = sizeof(path) - 1, .fields = &field, .field_count = 1};
    p->submitted++;
    int result = apns_h2_client_submit(p->session, exchange, &request);
    /* A session that fails meanwhile may refer to it until it is destroyed; one that has failed before does not. */
    if (result > 0 || p->over)
        apns_h2_pool_give(p->pool, exchange);
    else
        p->live[p->live_count++] = exchange;
    check(p, result > 0 ? 0 : result);
}

static void abandon(player *p, uint32_t which) {
    if (p->live_count == 0) return;
    apns_h2_exchange *exchange = p->live[which % p->live_count];
    if (exchange->stream != 0) p->abandoned++;
    live_remove(p, exchange);
    int result = apns_h2_client_abandon(p->session, exchange, APNS_H2_CANCEL);
    apns_h2_pool_give(p->pool, exchange);
    check(p, result);
}

/* ---------------------------------------------------------------- frames of the server */

static size_t frame_put(uint8_t *place, uint8_t type, uint8_t flags, uint32_t stream, const uint8_t *payload,
                        uint8_t length) {
    uint32_t number = htonl(stream);
    memcpy(place, (const uint8_t[]){0, 0, length, type, flags}, 5);
    memcpy(place + 5, &number, sizeof(number));
    if (length > 0) memcpy(place + HEADER_BYTES, payload, length);
    return (size_t)HEADER_BYTES + length;
}

static size_t number_put(uint8_t *place, uint8_t type, uint32_t stream, uint32_t number) {
    uint8_t payload[4];
    number = htonl(number);
    memcpy(payload, &number, sizeof(number));
    return frame_put(place, type, 0, stream, payload, sizeof(payload));
}

static size_t setting_put(player *p, uint8_t *place, uint8_t id, uint32_t value) {
    uint8_t payload[6] = {0, id};
    if (id == NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE)
        p->changes[p->change_count++] = (change){.is_setting = true, .value = value};
    value = htonl(value);
    memcpy(payload + 2, &value, sizeof(value));
    return frame_put(place, NGHTTP2_SETTINGS, 0, 0, payload, sizeof(payload));
}

static size_t window_put(player *p, uint8_t *place, uint32_t stream, uint32_t increment) {
    p->changes[p->change_count++] = (change){.stream = stream, .value = increment};
    return number_put(place, NGHTTP2_WINDOW_UPDATE, stream, increment);
}

static void change_apply(player *p, const change *c) {
    if (c->is_setting) {
        for (uint32_t i = 0; i < ENDED_MAX && (int32_t)(2 * i) < p->last_stream; i++)
            p->streams[i].window += (int64_t)c->value - p->stream_window;
        p->stream_window = c->value;
    } else if (c->stream == 0) {
        p->window += c->value;
    } else if (c->stream / 2 < ENDED_MAX && (int32_t)c->stream <= p->last_stream) {
        p->streams[c->stream / 2].window += c->value;
    }
}

/* Receives the last bytes of the frames that were put since the last call. */
static void frames_receive(player *p, const uint8_t *bytes, size_t length) {
    /* Behind a violation the session ignores what it receives, and says so only when it can write its GOAWAY. */
    if (p->output.paused) p->windows_known = false;
    for (uint32_t i = 0; i < p->change_count; i++)
        change_apply(p, &p->changes[i]);
    p->change_count = 0;
    receive(p, bytes, length);
}

/* A frame that a server may send, or not, about one of the streams; the increments and windows are small. */
static size_t server_put(player *p, uint8_t *place, uint8_t kind, uint8_t value) {
    static const uint8_t ok[] = {0x88}, bad[] = {0x80}, malformed[] = {0x88, 0, 1, 'A', 1, 'b'};
    const uint32_t stream = p->live_count > 0 && value % 4 != 3 && p->live[value / 4 % p->live_count]->stream != 0
                                ? (uint32_t)p->live[value / 4 % p->live_count]->stream
                                : 2U * (value / 4) + 1;
    const uint8_t end = NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM;
    switch (kind % 16) {
    case 0:
        return frame_put(place, NGHTTP2_HEADERS, end, stream, ok, sizeof(ok));
    case 1:
        return frame_put(place, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, stream, ok, sizeof(ok));
    case 2:
        return frame_put(place, NGHTTP2_HEADERS, 0, stream, ok, sizeof(ok));
    case 3:
        return frame_put(place, NGHTTP2_HEADERS, end, stream, malformed, sizeof(malformed));
    case 4:
        return frame_put(place, NGHTTP2_HEADERS, end, stream, bad, sizeof(bad));
    case 5:
        return frame_put(place, NGHTTP2_DATA, value % 2, stream, ok, value % 3 == 0 ? 0 : 1);
    case 6:
        return number_put(place, NGHTTP2_RST_STREAM, stream, value % 9);
    case 7:
        return setting_put(p, place, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, value % 4 == 0 ? 0 : 60U * (value % 8));
    case 8:
        return setting_put(p, place, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, value % 8);
    case 9:
        return setting_put(p, place, NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, value % 3 * 40U);
    case 10:
        return window_put(p, place, 0, value % 100 + 1);
    case 11:
        return window_put(p, place, stream, value % 100 + 1);
    case 12:
        return frame_put(place, NGHTTP2_PING, value % 2, 0, (const uint8_t[8]){0}, value % 5 == 0 ? 7 : 8);
    case 13:
        return frame_put(place, NGHTTP2_GOAWAY, 0, 0, (const uint8_t[8]){0, 0, 0, value}, 8);
    case 14:
        return frame_put(place, NGHTTP2_CONTINUATION, NGHTTP2_FLAG_END_HEADERS, stream, ok, value % 2);
    default:
        return frame_put(place, NGHTTP2_SETTINGS, value % 2, 0, NULL, 0);
    }
}

/* ---------------------------------------------------------------- the steps */

static void player_make(player *p, uint8_t choice) {
    static const uint16_t capacities[] = {1, 9, 17, 60, 100, 300, 1000, CAPACITY_MAX};
    const apns_h2_field method = {
        .name = (const uint8_t *)":method", .value = (const uint8_t *)"POST", .name_length = 7, .value_length = 4};
    memset(p, 0, offsetof(player, frame));
    p->output = (apns_h2_output){.bytes = p->record, .capacity = capacities[choice & 7], .flush = flush, .context = p};
    p->pause_after = choice >> 3 & 7;
    p->preface_left = NGHTTP2_CLIENT_MAGIC_LEN;
    p->window = p->stream_window = WINDOW_FIRST;
    p->windows_known = true;
    p->memory = apns_h2_memory_create(MEMORY_BYTES);
    p->pool = apns_h2_pool_create(p->memory, STREAMS, 0);
    p->set = apns_h2_header_set_create(&method, 1);
    const apns_h2_session_options options = {
        .memory = p->memory, .pool = p->pool, .output = &p->output, .body_received_max = 100};
    p->session = apns_h2_session_create(&options);
    expect(p->session != NULL && p->set != NULL);
}

/* Does one step, and returns how many bytes of the input it took. */
static size_t step(player *p, const uint8_t *bytes, size_t length) {
    uint8_t kind = bytes[0] & 15, more = bytes[0] >> 4;
    uint8_t value = length > 1 ? bytes[1] : 0;
    uint8_t frames[2 * (HEADER_BYTES + 256)];
    size_t size;
    switch (kind) {
    case 0:
        size = length < 3 ? 0 : value < length - 2 ? value : length - 2;
        p->windows_known = false;
        receive(p, bytes + 2, size);
        return 2 + size;
    case 1:
    case 2:
        submit(p, kind == 1);
        return 1;
    case 3:
        abandon(p, more);
        return 1;
    case 4:
        p->output.paused = (more & 1) != 0;
        return 1;
    case 5:
        check(p, apns_h2_session_pump(p->session));
        return 1;
    case 6:
        check(p, apns_h2_session_ping(p->session, more));
        return 1;
    case 7:
        p->leaving = true;
        check(p, apns_h2_session_goaway(p->session, 0, NULL, 0));
        return 1;
    case 8: /* a frame in two pieces, with a step of the caller between them */
        size = server_put(p, frames, more, value);
        receive(p, frames, size / 2);
        if (!failed(p) && length > 2 && (bytes[2] & 15) >= 1 && (bytes[2] & 15) <= 7) step(p, bytes + 2, 1);
        if (!failed(p)) frames_receive(p, frames + size / 2, size - size / 2);
        return 2;
    case 9: /* two frames at once */
        size = server_put(p, frames, more, value);
        size += server_put(p, frames + size, length > 2 ? bytes[2] : 0, value);
        frames_receive(p, frames, size);
        return 3;
    default:
        size = server_put(p, frames, more, value);
        frames_receive(p, frames, size);
        return 2;
    }
}

/* Every call of a session that has failed is refused, and writes nothing but GOAWAY. */
static void failed_use(player *p) {
    check(p, -1);
    p->up = true;
    p->leaving = false;
    uint32_t live = p->live_count;
    submit(p, true);
    expect(p->live_count == live);
    (void)apns_h2_session_pump(p->session);
    flush(p);
}

void fuzz_calls(const uint8_t *bytes, size_t length) {
    if (length == 0) return;
    static player p;
    player_make(&p, bytes[0]);
    check(&p, apns_h2_session_pump(p.session));
    for (size_t at = 1; at < length && !failed(&p);)
        at += step(&p, bytes + at, length - at);
    if (failed(&p)) failed_use(&p);
    apns_h2_session_destroy(p.session);
    apns_h2_header_set_destroy(p.set);
    apns_h2_pool_destroy(p.pool);
    apns_h2_memory_destroy(p.memory);
}
