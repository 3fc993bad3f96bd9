import Foundation
import Testing

/// The timeline of a run, read as docs/reference/timeline.md describes it.
struct Timeline {
    struct Point {
        let bytes: Data

        private func number(_ offset: Int, _ length: Int) -> Int {
            (0..<length).reduce(0) { $0 | Int(bytes[bytes.startIndex + offset + $1]) << (8 * $1) }
        }

        var kind: Int { number(0, 1) }
        var unixMilliseconds: Int { number(8, 8) }
        var elapsedMilliseconds: Int { number(16, 8) }
        var session: Int { number(24, 4) }
        var flags: Int { number(28, 2) }
        /// The rows of all sessions, by outcome.
        var outcomes: [String: Int] {
            let names = ["accepted", "rejected", "invalid", "unknown", "expired", "suppressed", "unavailable"]
            return Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, number(32 + 8 * $0, 8)) })
        }
        var rows: Int { outcomes.values.reduce(0, +) }
        var requests: Int { number(96, 8) }
        var retries: Int { number(104, 8) }
        var answers: Int { number(112, 8) }
        var connectionsOpened: Int { number(168, 4) }
        var inFlight: Int { number(180, 4) }
    }

    /// The file has no whole header.
    struct NoTimeline: Error {
        let bytes: [UInt8]
    }

    static let recordLength = 192
    /// The kinds of points.
    static let (begin, second, end) = (2, 3, 4)

    let points: [Point]
    /// The number of bytes after the last whole record.
    let rest: Int

    static func path(_ directory: String) -> String { directory + "/timeline" }

    init(_ directory: String) throws {
        let data = try Data(contentsOf: URL(filePath: Self.path(directory)))
        // Not a requirement of the test, because one that waits for a timeline looks at it before it has begun.
        guard data.count >= Self.recordLength, data.prefix(4).elementsEqual([1, 1] + Array("AT".utf8)) else {
            throw NoTimeline(bytes: Array(data.prefix(Self.recordLength)))
        }
        rest = data.count % Self.recordLength
        points = stride(from: Self.recordLength, to: data.count - rest, by: Self.recordLength)
            .map { Point(bytes: data.dropFirst($0).prefix(Self.recordLength)) }
    }

    func points(ofSession session: Int) -> [Point] { points.filter { $0.session == session } }
}

extension Script {
    /// The script of a server that takes 40 ms for each answer.
    static let slow = Script(seed: 1, rules: [], latency: "{ distribution: uniform, min_ms: 40, max_ms: 40 }")
}

extension Sender {
    /// Starts a run with 20 streams, and returns when its timeline has rows that have ended.
    func startSlowly(_ simulator: SimulatorProcess, _ directory: String, rows: Int = 2_500) throws -> Child {
        let process = try start(
            try makeRows(rows, "--plain"), to: simulator.port, runDirectory: directory,
            [
                "--template", Tools.fixture("campaign/plain.json"), "--connections", "1", "--streams", "20", "--lanes",
                "1",
            ])
        let isUnderWay = eventually(seconds: 60) {
            process.isOver || ((try? Timeline(directory))?.points.contains { $0.rows > 0 }) == true
        }
        try #require(isUnderWay && !process.isOver, "\(process.errors)")
        return process
    }
}
