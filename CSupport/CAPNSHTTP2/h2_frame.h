/*
 * h2_frame: the layout and the numbers of frames (RFC 9113, sections 4.1, 6 and 6.5.2).
 */
#pragma once

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

/* Size of a frame header, and the payload that every peer accepts (RFC 9113, section 4.2). */
enum { H2_FRAME_HEADER_BYTES = 9, H2_FRAME_BYTES_MAX = 16384 };

/* Sizes of whole frames (RFC 9113, sections 6.4 and 6.9). */
enum { H2_RST_STREAM_BYTES = 13, H2_WINDOW_UPDATE_BYTES = 13 };

/* Size of the payload of GOAWAY before its debug data (RFC 9113, section 6.8). */
enum { H2_GOAWAY_FIXED_BYTES = 8 };

/* Size of a flow-control window at first, and at most (RFC 9113, sections 6.9.1 and 6.9.2). */
enum { H2_WINDOW_INITIAL = 65535, H2_WINDOW_MAX = 0x7fffffff };

enum h2_frame_type {
    H2_DATA = 0,
    H2_HEADERS = 1,
    H2_RST_STREAM = 3,
    H2_SETTINGS = 4,
    H2_PUSH_PROMISE = 5,
    H2_PING = 6,
    H2_GOAWAY = 7,
    H2_WINDOW_UPDATE = 8,
    H2_CONTINUATION = 9,
};

enum h2_frame_flag {
    H2_FLAG_END_STREAM = 0x1,
    H2_FLAG_ACK = 0x1,
    H2_FLAG_END_HEADERS = 0x4,
    H2_FLAG_PADDED = 0x8,
    H2_FLAG_PRIORITY = 0x20,
};

enum h2_setting_id {
    H2_HEADER_TABLE_SIZE = 1,
    H2_ENABLE_PUSH = 2,
    H2_MAX_CONCURRENT_STREAMS = 3,
    H2_INITIAL_WINDOW_SIZE = 4,
    H2_MAX_HEADER_LIST_SIZE = 6,
    H2_NO_RFC7540_PRIORITIES = 9, /* RFC 9218, section 2.1 */
};

/* Reads four bytes of a frame as a big-endian number. */
static inline uint32_t h2_big_endian(const uint8_t *bytes) {
    uint32_t number;
    memcpy(&number, bytes, sizeof(number));
    return ntohl(number);
}

/* Writes a number as four big-endian bytes. */
static inline void h2_big_endian_write(uint8_t *place, uint32_t number) {
    number = htonl(number);
    memcpy(place, &number, sizeof(number));
}

/* The length of a frame's payload, and its stream (RFC 9113, section 4.1). */
static inline uint32_t h2_frame_length(const uint8_t *frame) {
    return h2_big_endian(frame) >> 8;
}

static inline int32_t h2_frame_stream(const uint8_t *frame) {
    return (int32_t)(h2_big_endian(frame + 5) & 0x7fffffff);
}

/* Writes the header of a frame (RFC 9113, section 4.1). */
static inline void h2_frame_header_write(uint8_t *place, uint32_t length, uint8_t type, uint8_t flags,
                                         uint32_t stream) {
    h2_big_endian_write(place, length << 8 | type);
    place[4] = flags;
    h2_big_endian_write(place + 5, stream);
}
