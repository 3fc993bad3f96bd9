/// Header blocks that do not decode (RFC 7541), and answers that are malformed (RFC 9113, section 8).
extension Violation {
    private static func block(_ name: String, _ block: [UInt8]) -> Violation {
        Violation(name, .connectionError, .spoils) { headers($0.target, block) }
    }

    static let blocks: [Violation] = [
        block("the index 0", [0x80]),
        block("an index without an entry", status200 + [0xbe]),
        block("the index of a name without an entry", status200 + [0x7e, 1, 0x61]),
        block("an index of 5 bytes without an entry", [0xff, 0xff, 0xff, 0xff, 0x07]),
        block("an index beyond 32 bits", [0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
        block("an index without end", [UInt8](repeating: 0xff, count: 30)),
        block("an index of many bytes 0", [0xff] + [UInt8](repeating: 0x80, count: 30) + [0]),
        block("an index cut short", [0xff, 0x80]),
        block("a string cut short", status200 + [0, 1, 0x61, 9, 0x62]),
        block("a name cut short", status200 + [0, 9, 0x61]),
        block("a field without a value", status200 + [0, 1, 0x61]),
        block("the length of a string beyond 32 bits", status200 + [0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0x7f]),
        block("the length of a string cut short", status200 + [0, 0x7f]),
        block("a Huffman-coded string with wrong padding", status200 + [0, 1, 0x61, 0x81, 0]),
        block("a Huffman-coded string with 8 bits of padding", status200 + [0, 1, 0x61, 0x82, 0x1f, 0xff]),
        block("a Huffman-coded string with the end symbol", status200 + [0, 1, 0x61, 0x84, 0xff, 0xff, 0xff, 0xff]),
        block("a size update beyond the setting", [0x3f, 0xe2, 0x1f] + status200),
        block("a size update behind a field", status200 + [0x20]),
        block("a size update without end", [0x3f] + [UInt8](repeating: 0xff, count: 10)),
        .init("a block that does not decode, in two frames", .connectionError, .spoils) {
            frame(1, on: $0.target, status200) + frame(9, flags: 4, on: $0.target, [0x80])
        },
        // An endpoint may end the connection instead of decoding a block of this size (section 10.5.1).
        .init("a header list of 48 KB", .free, .spoils) {
            let field: [UInt8] = [0, 1, 0x61, 0x7f, 0x81, 0x7c] + [UInt8](repeating: 0x62, count: 16_000)
            return frame(1, on: $0.target, status200 + field) + frame(9, on: $0.target, field)
                + frame(9, flags: 4, on: $0.target, field)
        },
    ]

    private static func answer(_ name: String, _ block: [UInt8], _ demand: Demand = .streamError) -> Violation {
        Violation(name, demand, .spoils) { headers($0.target, block) }
    }

    private static func field(_ name: String, _ value: String, _ demand: Demand = .streamError) -> Violation {
        let shown = value.unicodeScalars.map { $0.value < 32 ? "%\($0.value)" : "\($0)" }.joined()
        return answer("the field '\(name): \(shown)'", status200 + literal(name, value), demand)
    }

    static let messages: [Violation] =
        [
            answer("an empty block", []),
            answer("an answer without :status", literal("apns-id", "x")),
            answer("two times :status", status200 + status200),
            answer(":status behind a field", literal("a", "b") + status200),
            answer("an unknown pseudo-header field", status200 + literal(":foo", "x")),
            answer("a pseudo-header field of requests", status200 + literal(":path", "/")),
            answer("a pseudo-header field without a name", status200 + literal(":", "x")),
            answer("content-length twice", status200 + literal("content-length", "0") + literal("content-length", "0")),
        ]
        + ["", "20", "000", "099", "1000", "abc", "2 0", "+20", "-20", "101"].map {
            answer(":status '\($0)'", literal(":status", $0))
        }
        + [
            ("Apns-Id", "x"), ("", "x"), ("a b", "x"), ("a:b", "x"), ("a\u{7f}", "x"), ("a", "x\u{0}y"), ("a", "x\ry"),
            ("a", "x\ny"), ("a", " x"), ("a", "x "), ("a", "\tx"), ("connection", "close"), ("keep-alive", "1"),
            ("proxy-connection", "close"), ("transfer-encoding", "chunked"), ("upgrade", "h2c"), ("te", "gzip"),
            ("content-length", "x"), ("content-length", ""), ("content-length", "-1"), ("content-length", "+0"),
            ("content-length", "1"), ("content-length", "99999999999999999999"),
        ].map { field($0.0, $0.1) }
        + [
            answer("content-length of an answer 204", literal(":status", "204") + literal("content-length", "5")),
            answer("an interim answer with the end", literal(":status", "103")),
            Violation("an interim answer with content-length", .free, .spoils) {
                headers($0.target, literal(":status", "103") + literal("content-length", "0"), end: false)
            },
            Violation("an interim answer that is malformed", .streamError, .spoils) {
                headers($0.target, literal(":status", "103") + literal("A", "b"), end: false)
            },
            Violation("a body longer than content-length", .streamError, .spoils) {
                headers($0.target, status200 + literal("content-length", "2"), end: false)
                    + data($0.target, "abc")
            },
            Violation("a body shorter than content-length", .streamError, .spoils) {
                headers($0.target, status200 + literal("content-length", "4"), end: false)
                    + data($0.target, "abc")
            },
            Violation("an end before the final answer", .streamError, .spoils) {
                headers($0.target, literal(":status", "103"), end: false) + data($0.target, "")
            },
        ]

    private static func trailer(_ name: String, _ block: [UInt8], end: Bool = true) -> Violation {
        Violation(name, .streamError, .spoils) {
            headers($0.target, status200, end: false)
                + headers($0.target, block, end: end)
        }
    }

    static let trailers: [Violation] = [
        trailer("trailers with :status", status200),
        trailer("trailers with a pseudo-header field", literal(":path", "/")),
        trailer("trailers without the end", literal("a", "b"), end: false),
        trailer("trailers with an upper-case name", literal("A", "b")),
        trailer("trailers with a field of HTTP/1.1", literal("connection", "close")),
        trailer("trailers with a wrong content-length", literal("content-length", "7")),
    ]
}
