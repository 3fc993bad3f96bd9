import APNSBatchSimulation
import APNSBatchTestSupport
import Foundation
import Testing

/// A server that answers a request before its body, whose windows stay closed, and counts each stream until the client has
/// ended it.
private final class EarlyServer {
    private(set) var open: Set<UInt32> = []
    private(set) var refused = 0
    private(set) var most = 0
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func greet() -> [[UInt8]] { [Frame.settings([3: UInt32(limit), 4: 0]).bytes] }

    func take(_ frame: Frame) -> [[UInt8]] {
        switch frame.type {
        case Frame.settings where frame.flags & 1 == 0: return [Frame(type: Frame.settings, flags: 1).bytes]
        case Frame.headers:
            guard open.count < limit else {
                refused += 1
                return [Frame.reset(frame.stream, 7).bytes]
            }
            open.insert(frame.stream)
            most = max(most, open.count)
            return [Frame.ok(frame.stream).bytes]
        case Frame.reset: open.remove(frame.stream)
        case Frame.data where frame.flags & Frame.endStream != 0: open.remove(frame.stream)
        default: break
        }
        return []
    }
}

@Suite("Answers before bodies", .ownThread, .serialized)
struct EarlyAnswerTests {
    @Test("Every stream that is answered before its body is ended by the client", arguments: [1, 10, 100])
    func campaign(limit: Int) throws {
        let input = FileManager.default.temporaryDirectory.appending(path: "early-\(UUID().uuidString).csv").path
        defer { try? FileManager.default.removeItem(atPath: input) }
        var play = RawPlay()
        play.rows = 300
        var servers: [EarlyServer] = []
        let report = try play.campaign(input: input) { _ in
            let server = EarlyServer(limit: limit)
            servers.append(server)
            return FramedConnection(greet: server.greet, take: server.take)
        }
        #expect(report.hasEnded && report.outcomes == ["accepted": 300], "\(report)")
        #expect(report.connections == 1 && report.seconds < 10, "\(report)")
        #expect(
            servers[0].refused == 0 && servers[0].open.count < 2,
            "\(servers[0].open.count) are open, \(servers[0].refused) refused")
    }
}
