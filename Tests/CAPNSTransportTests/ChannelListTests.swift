import APNSBatch
import APNSBatchCredentials
import APNSBatchIdentities
import APNSBatchTestSupport
import Foundation
import Testing

@Suite("Channel lists", .ownThread, .serialized)
struct ChannelListTests {
    @Test("A list of ten thousand channels arrives complete, within the flow control windows")
    func list() async throws {
        let ids = (0..<10_000).map { Data("channel 000\($0 + 10_000)".utf8).base64EncodedString() }
        let peer = try RawPeer()
        let manager = try ChannelManager(
            bundleID: "com.example.app", at: .host("localhost", port: peer.port), credentials: .none,
            authorities: ServerIdentity.test.caPEM, systemTrust: false)
        let listing = Task { try await manager.list() }
        try await serve(Array(#"{"channels":["\#(ids.joined(separator: "\",\""))"]}"#.utf8), from: peer)
        #expect(try await listing.value == ids)
        let request = try #require(peer.frames(Frame.headers).first)
        #expect(request.flags == Frame.endHeaders | Frame.endStream)
        let fields = try #require(Inflater().decode(request.payload))
        #expect(
            fields.map { "\($0.name): \($0.value)" } == [
                ":path: /1/apps/com.example.app/all-channels", ":method: GET", ":scheme: https",
                ":authority: localhost:\(peer.port)",
            ])
    }

    /// Answers the first request with a body, sending as much as the client's windows allow at a time.
    private func serve(_ body: [UInt8], from peer: RawPeer) async throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(600)
        var sent = 0
        while sent < body.count {
            try #require(clock.now < end, "\(sent) bytes in ten minutes")
            peer.step()
            if let request = peer.frames(Frame.headers).first {
                if sent == 0 { peer.send([.ok(request.stream, end: false)]) }
                let allowed = min(window(of: 0, peer), window(of: request.stream, peer)) - sent
                let piece = Array(body[sent..<min(sent + min(allowed, 16_384), body.count)])
                sent += piece.count
                let flags = sent == body.count ? Frame.endStream : 0
                if !piece.isEmpty {
                    peer.send([Frame(type: Frame.data, flags: flags, stream: request.stream, payload: piece)])
                }
            }
            await Task.yield()
        }
    }

    /// Returns the number of bytes that the client has allowed since the beginning (RFC 9113, section 6.9).
    private func window(of stream: UInt32, _ peer: RawPeer) -> Int {
        let initial = stream == 0 ? 65_535 : initialWindow(peer)
        let updates = peer.frames.filter { $0.type == 8 && $0.stream == stream }
        return updates.reduce(initial) { $0 + $1.payload.reduce(0) { $0 << 8 | Int($1) } }
    }

    private func initialWindow(_ peer: RawPeer) -> Int {
        let values = peer.frames(Frame.settings).flatMap(\.payload)
        for start in stride(from: 0, to: values.count, by: 6) where values[start] == 0 && values[start + 1] == 4 {
            return values[start + 2..<start + 6].reduce(0) { $0 << 8 | Int($1) }
        }
        return 65_535
    }
}
