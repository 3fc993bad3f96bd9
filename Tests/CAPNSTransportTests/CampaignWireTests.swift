import APNSBatch
import APNSBatchCredentials
import APNSBatchIdentities
import APNSBatchModel
import APNSBatchNotification
import APNSBatchTestSupport
import CAPNSTransport
import Foundation
import Testing

/// Tests that run real campaigns to a server that stores the frames it receives.
///
/// Apple, "Sending notification requests to APNs", asks for the following. `:path` and `authorization` are literals
/// without indexing. `apns-id`, `apns-expiration` and `apns-collapse-id` have incremental indexing the first time, and
/// are literals without indexing afterwards. All other fields have incremental indexing. The document does not mention
/// `content-length`, which differs between requests.
@Suite("Campaign bytes on the wire", .ownThread, .serialized)
struct CampaignWireTests {
    private static let shared: Set<String> = [
        ":authority", "apns-topic", "apns-push-type", "apns-priority",
    ]

    @Test("Pushes are encoded as Apple advises")
    func devices() async throws {
        let rows = (1...20).map { "\(String(repeating: "0", count: 62))\($0 + 10),story \($0),\(4_000_000_000 + $0)\n" }
        let requests = try await send("token,collapse_id,expiration\n" + rows.joined(), count: 20) { _ in }
        #expect(Set(requests.joined().map(\.name)) == Set(RequestHeader.all.map(\.name)))
        try expect(
            requests,
            names: [
                ":path", ":method", ":scheme", ":authority", "apns-topic", "apns-push-type", "apns-priority",
                "authorization", "apns-id", "apns-collapse-id", "apns-expiration", "content-length",
            ], nameOnce: ["apns-id", "apns-collapse-id", "apns-expiration"])
    }

    @Test("Broadcasts are encoded the same way and have no topic")
    func broadcasts() async throws {
        let rows = (1...20).map { "YmJfnzLBE7PJiPkVPDIQ\($0 + 10)==,\(4_000_000_000 + $0)\n" }
        let requests = try await send("channel_id,expiration\n" + rows.joined(), count: 20) {
            $0.recipients = .channels(bundleID: "com.example.app")
        }
        #expect(Set(requests.joined().map(\.name)) == Set(RequestHeader.ofBroadcasts.map(\.name)))
        try expect(
            requests,
            names: [
                ":path", ":method", ":scheme", ":authority", "apns-push-type", "apns-priority", "authorization",
                "apns-request-id", "apns-channel-id", "apns-expiration", "content-length",
            ], nameOnce: ["apns-request-id", "apns-channel-id", "apns-expiration"])
    }

    private func expect(_ requests: [[Sent]], names: [String], nameOnce: Set<String>) throws {
        try #require(requests.count == 20)
        for (number, fields) in requests.enumerated() {
            #expect(fields.map(\.name) == names)
            for field in fields {
                let expected: Representation =
                    switch field.name {
                    case ":path", "content-length": .withoutIndexing
                    // This is the stronger form of the same: intermediaries must not index the field either.
                    case "authorization": .neverIndexed
                    case let name where nameOnce.contains(name): number == 0 ? .incremental : .withoutIndexing
                    case let name where Self.shared.contains(name): number == 0 ? .incremental : .indexed
                    default: .indexed
                    }
                #expect(field.representation == expected, "\(field.name) of request \(number)")
            }
        }
    }

    private struct Sent {
        let name: String
        let representation: Representation
    }

    /// Runs a campaign with these rows against a peer that answers 200, and returns the header fields of its requests.
    private func send(
        _ rows: String, count: Int, _ change: (inout Campaign) -> Void
    ) async throws -> [[Sent]] {
        let directory = FileManager.default.temporaryDirectory.appending(path: "apns-batch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let input = directory.appending(path: "rows.csv").path
        try rows.write(toFile: input, atomically: true, encoding: .utf8)
        let peer = try RawPeer()
        var campaign = Campaign(
            destination: .host("localhost", port: peer.port), topic: "com.example.app",
            credentials: .providerToken(
                keyPEM: try SigningKey.generate().privateKeyPEM, keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
        campaign.authorities = ServerIdentity.test.caPEM
        campaign.systemTrust = false
        campaign.template = .init(
            json: Array(#"{"aps":{"alert":"Hi","timestamp":1,"event":"update","content-state":{}}}"#.utf8),
            name: "t.json")
        campaign.runDirectory = directory.appending(path: "run").path
        campaign.lanes = 1
        campaign.connections = 1
        change(&campaign)
        let run = try CampaignRun(campaign, input: .file(input))
        let running = Task { try await run.send() }
        try await answer(peer, count)
        #expect(try await running.value.accepted == UInt64(count))
        return try decode(peer.frames(Frame.headers))
    }

    private func answer(_ peer: RawPeer, _ count: Int) async throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(600)
        var answered = 0
        while answered < count {
            try #require(clock.now < end, "\(answered) requests in ten minutes")
            peer.step()
            let bodies = peer.frames(Frame.data).filter { $0.flags & Frame.endStream != 0 }
            peer.send(bodies.dropFirst(answered).map { .ok($0.stream) })
            answered = bodies.count
            await Task.yield()
        }
    }

    private func decode(_ frames: [Frame]) throws -> [[Sent]] {
        let inflater = Inflater()
        return try frames.map { frame in
            let names = try #require(inflater.decode(frame.payload)).map(\.name)
            let representations = Representation.all(in: frame.payload)
            try #require(names.count == representations.count)
            return zip(names, representations).map { Sent(name: $0, representation: $1) }
        }
    }
}

/// The representation of a field in a header block (RFC 7541, section 6).
enum Representation: Equatable {
    case indexed
    case incremental
    case withoutIndexing
    case neverIndexed

    /// Returns the representation of each field of a block. Dynamic table size updates are skipped.
    static func all(in block: [UInt8]) -> [Representation] {
        var rest = block[...]
        var found: [Representation] = []
        while let first = rest.first {
            if first & 0x80 != 0 {
                found.append(.indexed)
                _ = integer(&rest, bits: 7)
            } else if first & 0xE0 == 0x20 {
                _ = integer(&rest, bits: 5)
            } else {
                let isIncremental = first & 0x40 != 0
                found.append(isIncremental ? .incremental : first & 0x10 != 0 ? .neverIndexed : .withoutIndexing)
                if integer(&rest, bits: isIncremental ? 6 : 4) == 0 { skipString(&rest) }
                skipString(&rest)
            }
        }
        return found
    }

    /// Reads an integer (RFC 7541, section 5.1).
    private static func integer(_ rest: inout ArraySlice<UInt8>, bits: Int) -> Int {
        guard let first = rest.popFirst() else { return 0 }
        let most = (1 << bits) - 1
        var value = Int(first) & most
        guard value == most else { return value }
        var shift = 0
        while let next = rest.popFirst() {
            value += Int(next & 0x7F) << shift
            shift += 7
            if next & 0x80 == 0 { break }
        }
        return value
    }

    private static func skipString(_ rest: inout ArraySlice<UInt8>) {
        let length = integer(&rest, bits: 7)
        rest = rest.dropFirst(length)
    }
}
