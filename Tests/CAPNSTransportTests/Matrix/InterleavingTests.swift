import Testing

/// Frames of several streams in every order, and header blocks at the limits of the table, for a session in memory.
@Suite("Streams beside each other, and tables at their limits")
struct InterleavingTests {
    /// A client with three open requests.
    private func client() -> SessionClient {
        let client = SessionClient()
        client.pump()
        client.receive(Frame.settings([3: 100]).bytes)
        for _ in 0..<3 { client.submit() }
        client.pump()
        return client
    }

    /// All orders of the elements of the lists in which those of each list keep theirs.
    private func orders(_ lists: [ArraySlice<[UInt8]>]) -> [[[UInt8]]] {
        if lists.allSatisfy(\.isEmpty) { return [[]] }
        return lists.indices.filter { !lists[$0].isEmpty }.flatMap { index in
            var rest = lists
            let first = rest[index].removeFirst()
            return orders(rest).map { [first] + $0 }
        }
    }

    @Test(
        "What happens to one stream is not taken for another's, in whatever order the frames come",
        arguments: [false, true])
    func everyOrder(together: Bool) {
        // An answer with a body and trailers, a reset, and an interim answer before the final one.
        let lists: [ArraySlice<[UInt8]>] = [
            [
                headers(1, literal(":status", "201"), end: false), data(1, "a", end: false),
                headers(1, literal("a", "b")),
            ],
            [frame(Frame.reset, on: 3, bigEndian(8))],
            [headers(5, literal(":status", "103"), end: false), headers(5, literal(":status", "404"))],
        ]
        let all = orders(lists)
        #expect(all.count == 60)
        for order in all {
            let client = client()
            for piece in together ? [Array(order.joined())] : order { client.receive(piece) }
            client.pump()
            #expect(client.findings.isEmpty, "\(client.findings)")
            #expect(client.requests.map(\.isEnded) == [true, true, true])
            #expect(client.requests.map(\.isAnswered) == [true, false, true])
            #expect(client.requests.map(\.status) == [201, 0, 404])
        }
    }

    /// An indexed literal that takes `size` bytes of the table (RFC 7541, section 4.1).
    private func entry(_ size: Int, _ name: UInt8) -> [UInt8] {
        let length = size - 32 - 1
        let coded =
            length < 127 ? [UInt8(length)] : [127, UInt8((length - 127) & 127) | 128, UInt8((length - 127) >> 7)]
        return [0x40, 1, name] + coded + [UInt8](repeating: 0x76, count: length)
    }

    /// A size update (section 6.3).
    private func update(_ size: Int) -> [UInt8] {
        size < 31 ? [0x20 | UInt8(size)] : [0x3f, UInt8((size - 31) & 127) | 128, UInt8((size - 31) >> 7)]
    }

    @Test(
        "An entry that fills the table stays, one that is a byte larger empties it",
        arguments: [33, 64, 100, 161, 4095, 4096])
    func exactTables(size: Int) {
        func decodes(_ block: [UInt8], then index: UInt8) -> Bool {
            let client = client()
            client.receive(headers(1, block))
            client.receive(headers(3, status200 + [0x80 | index]))
            client.pump()
            #expect(client.findings.isEmpty, "\(client.findings)")
            #expect(client.requests[0].isAnswered)
            return !client.hasFailed && client.requests[1].isAnswered
        }
        let small = size < 4096 ? update(size) : []
        #expect(decodes(small + status200 + entry(size, 0x61), then: 62))
        #expect(!decodes(small + status200 + entry(size + 1, 0x61), then: 62))
        #expect(!decodes(small + status200 + entry(size, 0x61), then: 63))
        guard size >= 66 else { return }
        // Two entries that fill it together, and two of which the second one is a byte too large.
        #expect(decodes(small + status200 + entry(size - 33, 0x61) + entry(33, 0x62), then: 63))
        #expect(!decodes(small + status200 + entry(size - 33, 0x61) + entry(34, 0x62), then: 63))
        #expect(decodes(small + status200 + entry(size - 33, 0x61) + entry(34, 0x62), then: 62))
        // A smaller table keeps what fits into it exactly.
        #expect(decodes(small + status200 + entry(size - 33, 0x61) + entry(33, 0x62), then: 62))
    }

    @Test("A table made smaller keeps the entries that fit exactly")
    func exactUpdates() {
        for (size, index, decodes) in [
            (66, 62, true), (66, 63, true), (65, 62, true), (65, 63, false), (32, 62, false),
        ] {
            let client = client()
            client.receive(headers(1, status200 + entry(33, 0x61) + entry(33, 0x62)))
            client.receive(headers(3, update(size) + status200 + [0x80 | UInt8(index)]))
            client.pump()
            #expect(!client.hasFailed == decodes, "\(size) bytes, index \(index)")
        }
    }
}
