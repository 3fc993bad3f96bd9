/// Frames that break the rules of frames (RFC 9113, sections 4 to 6).
extension Violation {
    private static let padded: UInt8 = 8
    private static let prioritized: UInt8 = 0x20
    /// A block that can be decoded and is longer than a frame may be: the field "a" with a value of 16,379 bytes.
    private static let largeField =
        [0, 1, 0x61, 0x7f, 0xfc, 0x7e] + [UInt8](repeating: 0x62, count: 16_379)

    static let frameSizes: [Violation] = [
        .init("DATA larger than allowed", .connectionError, .spoils) {
            headers($0.target, status200, end: false) + frame(0, on: $0.target, zeros(16_385))
        },
        .init("HEADERS larger than allowed", .connectionError, .spoils) {
            frame(1, flags: 5, on: $0.target, zeros(16_385))
        },
        .init("PING larger than allowed", .connectionError) { _ in frame(6, zeros(16_385)) },
        .init("SETTINGS larger than allowed", .connectionError) { _ in frame(4, zeros(16_386)) },
        .init("GOAWAY larger than allowed", .connectionError) { _ in frame(7, zeros(16_385)) },
        .init("an unknown frame larger than allowed", .connectionError) { _ in frame(0x77, zeros(16_385)) },
        .init("a frame of 16 MB", .connectionError) { _ in frame(0x77, claims: 0xff_ffff) },
        .init("HEADERS of 16 MB", .connectionError, .spoils) { frame(1, flags: 5, on: $0.target, claims: 0xff_ffff) },
    ]

    static let bodies: [Violation] = [
        .init("DATA on stream 0", .connectionError) { _ in data(0, "x") },
        .init("empty DATA on stream 0", .connectionError) { _ in data(0, "") },
        .init("DATA on an idle stream", .connectionError) { data($0.idle, "x") },
        .init("DATA on the next stream", .free) { data($0.next, "x") },
        .init("DATA on an even stream", .connectionError) { _ in data(2, "x") },
        .init("DATA with more padding than payload", .connectionError, .spoils) {
            headers($0.target, status200, end: false) + frame(0, flags: padded, on: $0.target, [9, 1, 1])
        },
        .init("DATA that has no length of its padding", .connectionError, .spoils) {
            headers($0.target, status200, end: false) + frame(0, flags: padded, on: $0.target)
        },
        // Section 8.1 demands a stream error; nghttp2 ends the connection, which section 5.4.2 allows.
        .init("DATA before HEADERS", .free, .spoils) { data($0.target, "x", end: false) },
        .init("DATA before HEADERS, with the end", .free, .spoils) { data($0.target, "x") },
        .init("DATA behind an interim answer", .streamError, .spoils) {
            headers($0.target, literal(":status", "103"), end: false) + data($0.target, "x")
        },
        .init("DATA behind the end of the stream", .free, .answers) {
            headers($0.target, status200) + data($0.target, "x")
        },
    ]

    static let headerFrames: [Violation] = [
        .init("HEADERS on stream 0", .connectionError) { _ in headers(0, status200) },
        .init("HEADERS on an idle stream", .connectionError) { headers($0.idle, status200) },
        .init("an answer before its request", .free) { headers($0.next, status200) },
        .init("HEADERS on an even stream", .connectionError) { _ in headers(2, status200) },
        .init("HEADERS with more padding than payload", .connectionError, .spoils) {
            frame(1, flags: 5 | padded, on: $0.target, [200] + status200)
        },
        .init("HEADERS that have no length of their padding", .connectionError, .spoils) {
            frame(1, flags: 5 | padded, on: $0.target)
        },
        .init("HEADERS with a priority cut short", .connectionError, .spoils) {
            frame(1, flags: 5 | prioritized, on: $0.target, [0, 0, 0])
        },
        .init("HEADERS that depend on themselves", .free, .spoils) {
            frame(1, flags: 5 | prioritized, on: $0.target, bigEndian($0.target) + [16] + status200)
        },
        .init("HEADERS interrupted by PING", .connectionError, .spoils) {
            frame(1, on: $0.target, status200) + frame(6, zeros(8))
        },
        .init("HEADERS interrupted by an unknown frame", .connectionError, .spoils) {
            frame(1, on: $0.target, status200) + frame(0x77, on: $0.target)
        },
        .init("HEADERS interrupted by HEADERS", .connectionError, .spoils) {
            frame(1, on: $0.target, status200) + headers($0.target, status200)
        },
        .init("HEADERS behind the end of the stream", .free, .answers) {
            headers($0.target, status200) + headers($0.target, status200)
        },
        // The answers to other requests interrupt them.
        .init("HEADERS never ended", .free, .spoils) { frame(1, on: $0.target, status200) },
    ]

    static let priorities: [Violation] = [
        // Section 6.3 demands a connection error; nghttp2 ignores priorities once both sides have disabled them.
        .init("PRIORITY on stream 0", .free) { _ in frame(2, zeros(5)) },
        .init("PRIORITY of 4 bytes", .free) { frame(2, on: $0.target, zeros(4)) },
        .init("PRIORITY of 6 bytes", .free) { frame(2, on: $0.target, zeros(6)) },
        .init("PRIORITY that depends on itself", .free) { frame(2, on: $0.target, bigEndian($0.target) + [16]) },
    ]

    static let resets: [Violation] = [
        .init("RST_STREAM on stream 0", .connectionError) { _ in frame(3, bigEndian(8)) },
        .init("RST_STREAM on an idle stream", .connectionError) { frame(3, on: $0.idle, bigEndian(8)) },
        .init("RST_STREAM on the next stream", .free) { frame(3, on: $0.next, bigEndian(8)) },
        .init("RST_STREAM on an even stream", .connectionError) { _ in frame(3, on: 2, bigEndian(8)) },
        .init("RST_STREAM of 3 bytes", .connectionError) { frame(3, on: $0.target, zeros(3)) },
        .init("RST_STREAM of 5 bytes", .connectionError) { frame(3, on: $0.target, zeros(5)) },
        .init("an empty RST_STREAM", .connectionError) { frame(3, on: $0.target) },
        .init("an answer behind RST_STREAM", .free, .spoils) {
            frame(3, on: $0.target, bigEndian(8)) + headers($0.target, status200)
        },
    ]

    static let settings: [Violation] = [
        .init("SETTINGS on a stream", .connectionError) { frame(4, on: $0.target, setting(3, 100)) },
        .init("SETTINGS of 5 bytes", .connectionError) { _ in frame(4, zeros(5)) },
        .init("SETTINGS of 7 bytes", .connectionError) { _ in frame(4, setting(3, 100) + [0]) },
        .init("SETTINGS that acknowledge with a payload", .connectionError) { _ in frame(4, flags: 1, setting(3, 100))
        },
        .init("ENABLE_PUSH 2", .connectionError) { _ in frame(4, setting(2, 2)) },
        .init("ENABLE_PUSH 1 of a server", .connectionError) { _ in frame(4, setting(2, 1)) },
        .init("INITIAL_WINDOW_SIZE 2^31", .connectionError) { _ in frame(4, setting(4, 0x8000_0000)) },
        .init("INITIAL_WINDOW_SIZE 2^32 - 1", .connectionError) { _ in frame(4, setting(4, .max)) },
        .init("MAX_FRAME_SIZE 100", .connectionError) { _ in frame(4, setting(5, 100)) },
        .init("MAX_FRAME_SIZE 16,383", .connectionError) { _ in frame(4, setting(5, 16_383)) },
        .init("MAX_FRAME_SIZE 2^24", .connectionError) { _ in frame(4, setting(5, 1 << 24)) },
        .init("an acknowledgement of no SETTINGS", .free) { _ in frame(4, flags: 1) + frame(4, flags: 1) },
        .init("NO_RFC7540_PRIORITIES 2", .free) { _ in frame(4, setting(9, 2)) },
        .init("ENABLE_CONNECT_PROTOCOL 2", .free) { _ in frame(4, setting(8, 2)) },
    ]

    static let pushes: [Violation] = [
        .init("PUSH_PROMISE", .connectionError) {
            frame(5, flags: 4, on: $0.target, bigEndian(2) + [0x82, 0x84, 0x86])
        },
        .init("PUSH_PROMISE on stream 0", .connectionError) { _ in frame(5, flags: 4, bigEndian(2) + [0x82]) },
        .init("PUSH_PROMISE of 3 bytes", .connectionError) { frame(5, flags: 4, on: $0.target, zeros(3)) },
        .init("PUSH_PROMISE of an odd stream", .connectionError) {
            frame(5, flags: 4, on: $0.target, bigEndian($0.idle) + [0x82])
        },
        .init("PUSH_PROMISE on an idle stream", .connectionError) {
            frame(5, flags: 4, on: $0.idle, bigEndian(2) + [0x82])
        },
    ]

    static let pings: [Violation] = [
        .init("PING of 7 bytes", .connectionError) { _ in frame(6, zeros(7)) },
        .init("PING of 9 bytes", .connectionError) { _ in frame(6, zeros(9)) },
        .init("an empty PING", .connectionError) { _ in frame(6) },
        .init("PING on a stream", .connectionError) { frame(6, on: $0.target, zeros(8)) },
        .init("an answer to PING of 7 bytes", .connectionError) { _ in frame(6, flags: 1, zeros(7)) },
    ]

    static let goaways: [Violation] = [
        .init("GOAWAY of 7 bytes", .connectionError) { _ in frame(7, zeros(7)) },
        .init("an empty GOAWAY", .connectionError) { _ in frame(7) },
        .init("GOAWAY on a stream", .connectionError) { frame(7, on: $0.target, bigEndian($0.target) + zeros(4)) },
        .init("GOAWAY with a growing last stream", .free) {
            frame(7, bigEndian($0.target) + zeros(4)) + frame(7, bigEndian($0.target + 100) + zeros(4))
        },
        .init("GOAWAY with an even last stream", .free) { _ in frame(7, bigEndian(2) + zeros(4)) },
    ]

    static let windows: [Violation] = [
        .init("WINDOW_UPDATE of 3 bytes", .connectionError) { _ in frame(8, zeros(3)) },
        .init("WINDOW_UPDATE of 5 bytes", .connectionError) { _ in frame(8, [0, 0, 0, 1, 0]) },
        .init("WINDOW_UPDATE of 5 bytes on a stream", .connectionError) { frame(8, on: $0.target, [0, 0, 0, 1, 0]) },
        .init("WINDOW_UPDATE by 0", .connectionError) { _ in frame(8, zeros(4)) },
        .init("WINDOW_UPDATE by 0 on a stream", .free, .spoils) { frame(8, on: $0.target, zeros(4)) },
        .init("WINDOW_UPDATE by 0 on an idle stream", .connectionError) { frame(8, on: $0.idle, zeros(4)) },
        .init("WINDOW_UPDATE beyond 2^31 - 1", .connectionError) { _ in frame(8, bigEndian(0x7fff_ffff)) },
        .init("WINDOW_UPDATE beyond 2^31 - 1 in two frames", .connectionError) { _ in
            frame(8, bigEndian(0x7fff_0000)) + frame(8, bigEndian(0x7fff_0000))
        },
        .init("WINDOW_UPDATE beyond 2^31 - 1 on a stream", .streamError, .spoils) {
            frame(8, on: $0.target, bigEndian(0x7fff_ffff)) + frame(8, on: $0.target, bigEndian(0x7fff_ffff))
        },
        .init("WINDOW_UPDATE on an idle stream", .connectionError) { frame(8, on: $0.idle, bigEndian(1)) },
        .init("WINDOW_UPDATE on an even stream", .connectionError) { _ in frame(8, on: 2, bigEndian(1)) },
        // RFC 9113, section 6.9.2, demands a connection error, which comes with the next WINDOW_UPDATE.
        .init("INITIAL_WINDOW_SIZE that makes a window too large", .free, .spoils) {
            frame(8, on: $0.target, bigEndian(0x7fff_0000)) + frame(4, setting(4, 0x7fff_ffff))
        },
    ]

    static let continuations: [Violation] = [
        .init("CONTINUATION alone", .connectionError) { frame(9, flags: 4, on: $0.target, status200) },
        .init("CONTINUATION on stream 0", .connectionError) { _ in frame(9, flags: 4, status200) },
        .init("CONTINUATION on an idle stream", .connectionError) { frame(9, flags: 4, on: $0.idle, status200) },
        .init("CONTINUATION behind the end of a block", .connectionError, .answers) {
            headers($0.target, status200, end: false) + frame(9, flags: 4, on: $0.target)
        },
        .init("CONTINUATION of another stream", .connectionError, .spoils) {
            frame(1, on: $0.target, status200) + frame(9, flags: 4, on: $0.target + 2)
        },
        .init("CONTINUATION of stream 0", .connectionError, .spoils) {
            frame(1, on: $0.target, status200) + frame(9, flags: 4)
        },
        .init("CONTINUATION larger than allowed", .connectionError, .spoils) {
            frame(1, on: $0.target, status200) + frame(9, flags: 4, on: $0.target, zeros(16_385))
        },
        .init("CONTINUATION larger than allowed, with a field", .connectionError, .spoils) {
            frame(1, on: $0.target, status200)
                + frame(9, flags: 4, on: $0.target, largeField)
        },
        .init("CONTINUATION larger than allowed, behind another one", .connectionError, .spoils) {
            frame(1, on: $0.target, status200) + frame(9, on: $0.target)
                + frame(9, flags: 4, on: $0.target, largeField)
        },
    ]

    static let notFrames: [Violation] = [
        .init("text of HTTP/1.1", .connectionError) { _ in
            Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8)
        },
        .init("bytes 0xff", .connectionError) { _ in [UInt8](repeating: 0xff, count: 27) },
        .init("bytes 0", .connectionError) { _ in zeros(27) },
        .init("the preface of a client", .connectionError) { _ in Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) },
        .init("noise", .connectionError) { _ in
            (0..<64).map { UInt8(truncatingIfNeeded: ($0 + 1) * 0x9E3B >> 3) | 0x80 }
        },
    ]
}
