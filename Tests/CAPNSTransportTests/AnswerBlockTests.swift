import CAPNSTransport
import Testing

/// Header blocks of answers, which our own decoder takes apart before nghttp2 sees the answer.
@Suite("Header blocks of answers")
struct AnswerBlockTests {
    private static let captured = ["apns-unique-id", "retry-after", "x-long"]

    @Test("Blocks of any server decode to what it sent, in frames and pieces of any size", arguments: 0..<4)
    func decoding(seed: UInt64) throws {
        let setup = try WireTests.Setup(Limits(loop: .epoll, captures: Self.captured), settings: [3: 1000])
        var random = Draw(state: seed)
        let deflater = Deflater()
        var (wire, expected): ([UInt8], [UInt64: (status: UInt16, fields: [Field])]) = ([], [:])
        let count = 300
        setup.submit((0..<UInt64(count)).map { Request(ticket: $0) })
        setup.drive { setup.peer.frames(Frame.headers).count == count }
        for number in 0..<count {
            let stream = setup.peer.frames(Frame.headers)[number].stream
            if random.next(below: 20) == 0 { deflater.resize([0, 100, 1000, 4096][random.next(below: 4)]) }
            let status = [200, 200, 204, 400, 410, 429, 503, 599][random.next(below: 8)]
            let fields = fields(&random)
            if random.next(below: 10) == 0 {
                let interim = deflater.encode([
                    Field(name: ":status", value: "103"), Field(name: "retry-after", value: "not this"),
                ])
                wire += frames(interim, stream, last: false, &random).flatMap(\.bytes)
            }
            let block = deflater.encode([Field(name: ":status", value: "\(status)")] + fields)
            wire += frames(block, stream, last: true, &random).flatMap(\.bytes)
            expected[UInt64(number)] = (UInt16(status), fields.filter { Self.captured.contains($0.name) })
        }
        while !wire.isEmpty {
            let piece = min(wire.count, 1 + random.next(below: random.next(below: 4) == 0 ? 12 : 4000))
            setup.peer.send(bytes: Array(wire.prefix(piece)))
            wire.removeFirst(piece)
            setup.client.poll()
        }
        setup.drive { setup.client.outcomes.count == count || setup.client.down != nil }
        #expect(setup.client.down == nil && setup.client.outcomes.count == count)
        for outcome in setup.client.outcomes {
            let right = try #require(expected[outcome.ticket])
            #expect(outcome.status == right.status && outcome.fields == right.fields)
        }
    }

    /// Some fields that repeat, and some that never do.
    private func fields(_ random: inout Draw) -> [Field] {
        (0..<random.next(below: 6)).map { _ in
            let indexing = random.next(below: 3) == 0 ? APNS_TRANSPORT_LITERAL : APNS_TRANSPORT_INDEXED
            switch random.next(below: 6) {
            case 0: return Field(name: "retry-after", value: "\(random.next(below: 4))", indexing: indexing)
            case 1:
                return Field(
                    name: "apns-unique-id", value: random.text(36, of: "0123456789abcdef-"), indexing: indexing)
            case 2:
                return Field(
                    name: "x-long", value: random.text(random.next(below: 900), of: " ~\u{e9}{}|az09"),
                    indexing: indexing)
            case 3:
                return Field(
                    name: "x-\(random.next(below: 200))", value: random.text(60, of: "^`<>\\a"), indexing: indexing)
            case 4: return Field(name: "server", value: "apns", indexing: indexing)
            default:
                return Field(
                    name: "date", value: "Mon, 21 Oct 2013 20:13:2\(random.next(below: 3)) GMT", indexing: indexing)
            }
        }
        .map { field in
            // White space at the ends of a value is an offence.
            var field = field
            field.value = "\(field.value.dropFirst(field.value.hasPrefix(" ") ? 1 : 0))"
            while field.value.hasSuffix(" ") || field.value.hasPrefix(" ") { field.value = "v" }
            return field
        }
    }

    /// A block as HEADERS and CONTINUATION, with padding and priority or without.
    private func frames(_ block: [UInt8], _ stream: UInt32, last: Bool, _ random: inout Draw) -> [Frame] {
        var parts: [[UInt8]] = [block]
        while parts.count < 5 && random.next(below: 3) == 0 {
            let part = parts.removeLast()
            let cut = random.next(below: part.count + 1)
            parts += [Array(part[..<cut]), Array(part[cut...])]
        }
        let padded = random.next(below: 3) == 0
        let ranked = random.next(below: 5) == 0
        let padding = padded ? random.next(below: 40) : 0
        var flags = last ? Frame.endStream : 0
        if padded { flags |= 8 }
        if ranked { flags |= 0x20 }
        var payload = padded ? [UInt8(padding)] : []
        payload += ranked ? [0, 0, 0, 0, 15] : []
        payload += parts.removeFirst() + [UInt8](repeating: 0, count: padding)
        var frames = [Frame(type: Frame.headers, flags: flags, stream: stream, payload: payload)]
        frames += parts.map { Frame(type: Frame.continuation, stream: stream, payload: $0) }
        frames[frames.count - 1].flags |= Frame.endHeaders
        return frames
    }

    private static let status: [UInt8] = [0x88]

    /// A literal field without indexing and Huffman coding.
    private static func literal(_ name: String, _ value: [UInt8]) -> [UInt8] {
        [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.count)] + value
    }

    private static let offences: [(name: String, block: [UInt8])] = [
        ("no status", literal("x", [0x61])),
        ("two statuses", status + status),
        ("a status behind a field", literal("x", [0x61]) + status),
        ("a status of four digits", literal(":status", Array("2000".utf8))),
        ("a status that switches protocols", literal(":status", Array("101".utf8))),
        ("an unknown pseudo-header field", status + literal(":x", [])),
        ("a name in upper case", status + literal("X", [0x61])),
        ("a name with a space", status + literal("a b", [0x61])),
        ("a name without bytes", status + literal("", [0x61])),
        ("a value with a line break", status + literal("x", Array("0123456\r\nlonger than that".utf8))),
        ("a value that ends with a line break", status + literal("x", Array("0123456789\n".utf8))),
        ("a value that begins with a space", status + literal("x", [0x20, 0x61])),
        ("a value with DEL", status + literal("x", Array("01234567".utf8) + [0x7f] + Array("01234567".utf8))),
        ("a field of HTTP/1", status + literal("transfer-encoding", Array("chunked".utf8))),
        ("a wrong length", status + literal("content-length", [0x31])),
        ("two lengths", status + literal("content-length", [0x30]) + literal("content-length", [0x30])),
    ]

    @Test("A malformed answer ends its request, and the connection goes on", arguments: offences.indices)
    func malformed(index: Int) throws {
        let offence = Self.offences[index]
        let setup = try WireTests.Setup(Limits(loop: .epoll, captures: ["x"]))
        setup.submit([Request(ticket: 1), Request(ticket: 2)])
        setup.drive { setup.peer.frames(Frame.headers).count == 2 }
        setup.peer.send([Frame(type: Frame.headers, flags: 5, stream: 1, payload: offence.block), .ok(3)])
        setup.drive { setup.client.outcomes.count == 2 || setup.client.down != nil }
        #expect(setup.client.down == nil, "\(offence.name)")
        let first = setup.client.outcomes.first { $0.ticket == 1 }
        #expect(first?.delivery == APNS_TRANSPORT_MAY_HAVE_ARRIVED.rawValue && first?.fields == [], "\(offence.name)")
        #expect(setup.client.outcomes.first { $0.ticket == 2 }?.status == 200, "\(offence.name)")
        setup.drive { !setup.peer.frames(Frame.reset).isEmpty }
        #expect(setup.peer.frames(Frame.reset) == [.reset(1, 1)], "\(offence.name)")
    }

    private static func headers(_ flags: UInt8, _ block: [UInt8]) -> Frame {
        Frame(type: Frame.headers, flags: Frame.endHeaders | flags, stream: 1, payload: block)
    }

    private static func data(_ flags: UInt8, _ count: Int) -> Frame {
        Frame(type: Frame.data, flags: flags, stream: 1, payload: [UInt8](repeating: 0x62, count: count))
    }

    private static let interim = literal(":status", Array("103".utf8))
    private static let oneByte = status + literal("content-length", [0x31])
    private static let last = Frame.endStream

    private static let malformedMessages: [(name: String, frames: [Frame])] = [
        ("only an interim answer", [headers(last, interim)]),
        ("a body behind an interim answer", [headers(0, interim), data(last, 1)]),
        ("an end behind an interim answer", [headers(0, interim), data(last, 0)]),
        ("a length of an interim answer", [headers(0, interim + literal("content-length", [0x30]))]),
        ("more bytes than announced", [headers(0, oneByte), data(0, 2)]),
        ("more bytes than announced, in pieces", [headers(0, oneByte), data(0, 1), data(0, 1)]),
        ("fewer bytes than announced", [headers(0, oneByte), data(last, 0)]),
        (
            "a length in trailers that is wrong",
            [
                headers(0, status), data(0, 2), headers(last, literal("content-length", [0x31])),
            ]
        ),
        (
            "two lengths, one in trailers",
            [
                headers(0, oneByte), data(0, 1), headers(last, literal("content-length", [0x31])),
            ]
        ),
        ("trailers that do not end the answer", [headers(0, status), headers(0, literal("x", [0x61]))]),
        ("a status in trailers", [headers(0, status), headers(last, status)]),
        ("a malformed field in trailers", [headers(0, status), headers(last, literal("X", [0x61]))]),
        ("a body of 204", [headers(0, [0x89]), data(last, 1)]),
        ("a body of 304", [headers(0, [0x8b]), data(last, 1)]),
        ("a length of 204", [headers(last, [0x89] + literal("content-length", [0x31]))]),
        ("the status 000", [headers(last, literal(":status", Array("000".utf8)))]),
        ("the status 099", [headers(last, literal(":status", Array("099".utf8)))]),
        ("the status 101", [headers(last, literal(":status", Array("101".utf8)))]),
    ]

    @Test(
        "A malformed sequence of frames ends its request, and the connection goes on",
        arguments: malformedMessages.indices)
    func malformedMessage(index: Int) throws {
        let (name, frames) = Self.malformedMessages[index]
        let setup = try WireTests.Setup(Limits(loop: .epoll))
        setup.submit([Request(ticket: 1), Request(ticket: 2)])
        setup.drive { setup.peer.frames(Frame.headers).count == 2 }
        setup.peer.send(frames + [.ok(3)])
        setup.drive { setup.client.outcomes.count == 2 || setup.client.down != nil }
        #expect(setup.client.down == nil, "\(name)")
        let first = setup.client.outcomes.first { $0.ticket == 1 }
        #expect(first?.delivery == APNS_TRANSPORT_MAY_HAVE_ARRIVED.rawValue, "\(name)")
        #expect(setup.client.outcomes.first { $0.ticket == 2 }?.status == 200, "\(name)")
        setup.drive { !setup.peer.frames(Frame.reset).isEmpty }
        #expect(setup.peer.frames(Frame.reset) == [.reset(1, 1)], "\(name)")
    }

    private static let wellFormedMessages: [(name: String, status: UInt16, frames: [Frame])] = [
        ("interim answers first", 200, [headers(0, interim), headers(0, interim), headers(last, status)]),
        ("a body of the announced length", 200, [headers(0, oneByte), data(0, 0), data(last, 1)]),
        ("trailers", 200, [headers(0, status), data(0, 5), headers(last, literal("x", [0x61]))]),
        (
            "a length in trailers", 200,
            [headers(0, status), data(0, 1), headers(last, literal("content-length", [0x31]))]
        ),
        ("204 with a length of 0", 204, [headers(last, [0x89] + literal("content-length", [0x30]))]),
        (
            "304 with the length of what is not sent", 304,
            [
                headers(last, [0x8b] + literal("content-length", Array("10".utf8)))
            ]
        ),
        (
            "a length with zeros in front", 200,
            [
                headers(0, status + literal("content-length", Array("0001".utf8))), data(last, 1),
            ]
        ),
    ]

    @Test("A well-formed sequence of frames is an answer", arguments: wellFormedMessages.indices)
    func wellFormedMessage(index: Int) throws {
        let (name, status, frames) = Self.wellFormedMessages[index]
        let setup = try WireTests.Setup(Limits(loop: .epoll))
        setup.submit([Request(ticket: 1)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        setup.peer.send(frames)
        setup.drive { setup.client.outcomes.count == 1 || setup.client.down != nil }
        #expect(setup.client.outcomes.first?.delivery == APNS_TRANSPORT_ANSWERED.rawValue, "\(name)")
        #expect(setup.client.outcomes.first?.status == status, "\(name)")
    }

    @Test("Both of two GOAWAYs behind the last answer are told, in one record or in pieces", arguments: [1, 7, 4000])
    func goaways(piece: Int) throws {
        let setup = try WireTests.Setup(Limits(loop: .epoll))
        setup.submit([Request(ticket: 1)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        let frames: [Frame] = [
            .ok(1), .goaway(1, 0, ""), Frame(type: Frame.ping, payload: [UInt8](repeating: 1, count: 8)),
            .goaway(1, 0, "why"),
        ]
        var bytes = frames.flatMap(\.bytes)
        while !bytes.isEmpty {
            setup.peer.send(bytes: Array(bytes.prefix(piece)))
            bytes.removeFirst(min(piece, bytes.count))
            setup.client.poll()
        }
        setup.drive { setup.client.events(APNS_TRANSPORT_EVENT_GOAWAY).count == 2 || setup.client.down != nil }
        #expect(setup.client.events(APNS_TRANSPORT_EVENT_GOAWAY).map(\.detail) == ["", "why"])
        #expect(setup.client.outcomes.map(\.status) == [200])
    }

    private static let errors: [(name: String, block: [UInt8])] = [
        ("the index 0", [0x80]),
        ("an index that nothing has", [0xff, 0x20]),
        ("a string that is longer than the block", [0x88, 0, 5, 0x61]),
        ("a size update that is too large", [0x3f, 0xe2, 0x1f, 0x88]),
        ("a size update behind a field", [0x88, 0x20]),
        ("an entry that a size update has removed", [0x20, 0x88, 0xbe]),
        ("the end within an integer", [0x88, 0x7f]),
        ("an integer without end", [0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]),
        ("padding of a Huffman code that is too long", [0x88, 0, 1, 0x78, 0x82, 0x1f, 0xff]),
        ("the end of a Huffman code", [0x88, 0, 1, 0x78, 0x84, 0xff, 0xff, 0xff, 0xff]),
    ]

    @Test("A block that cannot be decoded ends the connection", arguments: errors.indices)
    func undecodable(index: Int) throws {
        let error = Self.errors[index]
        let setup = try WireTests.Setup(Limits(loop: .epoll))
        setup.submit([Request(ticket: 1)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        // An interim response, which adds an entry to the dynamic table.
        let interim = Self.literal(":status", Array("103".utf8)) + [0x40, 1, 0x61, 1, 0x62]
        setup.peer.send([
            Frame(type: Frame.headers, flags: Frame.endHeaders, stream: 1, payload: interim),
            Frame(type: Frame.headers, flags: 5, stream: 1, payload: error.block),
        ])
        setup.drive { setup.client.down != nil }
        #expect(setup.client.down?.scope == APNS_TRANSPORT_SCOPE_SESSION.rawValue, "\(error.name)")
        setup.drive { !setup.peer.frames(Frame.goaway).isEmpty }
        // COMPRESSION_ERROR
        #expect(
            setup.peer.frames(Frame.goaway).first?.payload.suffix(from: 4).prefix(4) == [0, 0, 0, 9], "\(error.name)")
    }
}

/// SplitMix64.
private struct Draw {
    var state: UInt64

    mutating func next(below bound: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }

    mutating func text(_ length: Int, of characters: String) -> String {
        let choice = Array(characters)
        return String((0..<length).map { _ in choice[next(below: choice.count)] })
    }
}
