import Testing

@testable import APNSBatchNotification

@Suite("Header fields of a device request")
struct RequestTests {
    @Test("Header fields are in the order that HTTP/2 requires, with the indexing that Apple advises")
    func fixed() {
        let fields = DeviceRequestHeaders.fixed(
            authority: "api.push.apple.com", topic: "com.example.app", pushType: .background,
            expiration: Expiration(seconds: 0))
        #expect(
            fields == [
                HeaderField(name: ":method", value: "POST", indexing: .indexed),
                HeaderField(name: ":scheme", value: "https", indexing: .indexed),
                HeaderField(name: ":authority", value: "api.push.apple.com", indexing: .indexed),
                HeaderField(name: "apns-topic", value: "com.example.app", indexing: .indexed),
                HeaderField(name: "apns-push-type", value: "background", indexing: .indexed),
                HeaderField(name: "apns-priority", value: "5", indexing: .indexed),
                HeaderField(name: "apns-expiration", value: "0", indexing: .nameOnce),
            ])
    }

    @Test("The expiration is present only when given, and the priority is the requested one")
    func optional() {
        let fields = DeviceRequestHeaders.fixed(authority: "a", topic: "t", pushType: .alert, priority: .low)
        #expect(fields.map(\.name).last == "apns-priority")
        #expect(fields.last?.value == "1")
    }

    @Test("Fields that differ per request have the indexing that Apple advises")
    func perRequest() {
        #expect(RequestHeader.path.indexing == .literal)
        #expect(RequestHeader.authorization.indexing == .literal)
        #expect(RequestHeader.id == RequestHeader("apns-id", .nameOnce, RequestHeader.id.rule))
        #expect(RequestHeader.expiration.indexing == .nameOnce)
        #expect(RequestHeader.collapseID.indexing == .nameOnce)
        #expect(RequestHeader.all.count == 12)
        #expect(Set(RequestHeader.all.map(\.name)).count == 12)
        #expect(RequestHeader.all.allSatisfy { $0.name == $0.name.lowercased() })
    }

    @Test(
        "The authority names the host, with the port unless it is 443",
        arguments: [
            ("api.push.apple.com", 443, "api.push.apple.com"), ("api.push.apple.com", 2197, "api.push.apple.com:2197"),
            ("::1", 443, "[::1]"), ("::1", 8443, "[::1]:8443"), ("127.0.0.1", 1, "127.0.0.1:1"),
        ] as [(String, UInt16, String)])
    func authority(host: String, port: UInt16, authority: String) {
        #expect(APNSHost.authority(host: host, port: port) == authority)
    }

    @Test("Requests go to Apple's hosts")
    func hosts() {
        #expect(APNSHost.push(.production).name == "api.push.apple.com")
        #expect(APNSHost.push(.sandbox).name == "api.sandbox.push.apple.com")
        #expect(APNSHost.push(.sandbox).ports == [443, 2197])
        #expect(APNSHost.channelManagement(.production).ports == [2196])
        #expect(APNSHost.channelManagement(.sandbox).ports == [2195])
        #expect(APNSHost.channelManagement(.sandbox).name == "api-manage-broadcast.sandbox.push.apple.com")
        #expect(APNSHost.all.count == 4)
    }
}

@Suite("Message id")
struct MessageIDTests {
    static let campaign: (UInt64, UInt64) = (0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210)

    private func parse(_ text: String) -> (UInt64, UInt64) {
        let digits = text.filter { $0 != "-" }
        return (UInt64(digits.prefix(16), radix: 16)!, UInt64(digits.suffix(16), radix: 16)!)
    }

    @Test(
        "A message id is a lower-case UUID of version 8 and variant 10", arguments: [0, 1, 2, 1_000_000, UInt64.max])
    func format(row: UInt64) {
        let id = MessageID(campaign: Self.campaign, row: row)
        let text = written(36) { out in
            id.write(to: out)
            return 36
        }
        #expect(text == id.text)
        #expect(text.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
        #expect(text.allSatisfy { "0123456789abcdef-".contains($0) })
        #expect(Array(text)[14] == "8")
        #expect("89ab".contains(Array(text)[19]))
        #expect(parse(text) == (id.high, id.low))
    }

    @Test("A message id is written correctly for every nibble")
    func nibbles() {
        for row in 0..<2000 as Range<UInt64> {
            let id = MessageID(campaign: Self.campaign, row: row)
            #expect(parse(id.text) == (id.high, id.low))
        }
    }

    @Test("A message id stays the same across versions, so that runs can be resumed")
    func fixedValues() {
        #expect(MessageID(campaign: (0, 0), row: 0).text == "e220a839-7b1d-8cda-be9c-1b74bd3465f9")
        #expect(MessageID(campaign: Self.campaign, row: 1).text == "e821eebb-c077-8842-86d3-5f803e9f1967")
    }

    /// Inverts the mixing and returns the row number, which proves that the mixing is a bijection.
    private func row(of id: MessageID, campaign: (UInt64, UInt64)) -> UInt64 {
        func unshift(_ z: UInt64, _ bits: UInt64) -> UInt64 { z ^ (z >> bits) ^ (z >> (2 * bits)) ^ (z >> (3 * bits)) }
        func inverse(_ odd: UInt64) -> UInt64 {
            var x = odd
            for _ in 0..<6 { x = x &* (2 &- odd &* x) }
            return x
        }
        let first = (id.high & 0xffff_ffff_ffff_0000) | (id.high & 0xfff) << 4 | (id.low >> 58) & 0xf
        var z = unshift(first, 31) &* inverse(0x94d0_49bb_1331_11eb)
        z = unshift(z, 27) &* inverse(0xbf58_476d_1ce4_e5b9)
        return (unshift(z, 30) &- 0x9e37_79b9_7f4a_7c15) ^ campaign.0
    }

    @Test("A message id maps back to its row, so no two rows share one")
    func bijection() {
        for row in (0..<10_000 as Range<UInt64>).map({ $0 &* 0x9e37_79b9_7f4a_7c15 }) + [.max, .max - 1, 1 << 63] {
            #expect(self.row(of: MessageID(campaign: Self.campaign, row: row), campaign: Self.campaign) == row)
        }
    }

    @Test("A million rows and two campaigns have no message id in common")
    func noCollisions() {
        var seen = Set<MessageID>()
        for row in 0..<500_000 as Range<UInt64> {
            seen.insert(MessageID(campaign: Self.campaign, row: row))
            seen.insert(MessageID(campaign: (Self.campaign.0, Self.campaign.1 + 1), row: row))
        }
        #expect(seen.count == 1_000_000)
    }
}
