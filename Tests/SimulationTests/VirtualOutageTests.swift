import APNSBatchSimulation
import APNSBatchTestSupport
import Foundation
import Testing

// The test takes about ten million turns of lanes, which is too slow under some sanitizers.
@Suite(
    "Outages in virtual time", .ownThread, .serialized,
    .enabled(
        if: !["address", "thread"].contains(ProcessInfo.processInfo.environment["APNS_BATCH_SANITIZER"] ?? "")))
struct OutageTests {
    private func run(_ play: OutagePlay) throws -> OutagePlay.Report {
        let input = FileManager.default.temporaryDirectory.appending(path: "outage-\(UUID().uuidString).csv").path
        defer { try? FileManager.default.removeItem(atPath: input) }
        return try play.run(input: input)
    }

    @Test(
        "Every row is accepted after an outage of 20 minutes",
        arguments: [
            (OutagePlay.Kind.refusals, 2), (.noConnections, 1), (.silence, 1),
        ])
    func survived(kind: OutagePlay.Kind, lanes: Int) throws {
        let report = try run(OutagePlay(kind, outage: 1200, lanes: lanes))
        #expect(report.rows == ["accepted": 3000] && report.failure == nil, "\(report)")
        #expect(report.seconds >= 1200 && report.seconds < 2600, "\(report)")
        // The requests are those before and after the outage, those refused before the breaker opened, and the probes.
        #expect(report.requests < 3000 + 1500, "\(report)")
        if kind != .noConnections { #expect(report.lines.count == 2, "opened once and closed once: \(report.lines)") }
    }

    @Test(
        "A campaign of a few rows survives an outage that began before it",
        arguments: [(1, 429), (5, 503), (30, 429)])
    func small(rows: Int, status: Int) throws {
        var play = OutagePlay(.refusals, outage: 1200, rows: rows, before: 0)
        play.status = status
        let report = try run(play)
        #expect(report.rows == ["accepted": rows] && report.failure == nil, "\(report)")
        #expect(report.seconds >= 1200 && report.seconds < 2600, "\(report)")
        #expect(report.requests < 5 * rows + 20, "\(report)")
        #expect(report.lines.count <= 2, "opened once: \(report.lines)")
    }

    @Test(
        "An outage that exceeds the patience ends the run, and its rows stay open",
        arguments: [OutagePlay.Kind.refusals])
    func outlasts(kind: OutagePlay.Kind) throws {
        let report = try run(OutagePlay(kind, outage: 7200, patience: 300))
        #expect(report.isUnreachable, "\(report)")
        #expect(report.failure?.contains("300 seconds") == true, "\(report)")
        #expect(Set(report.rows.keys) == ["accepted"] && report.rows["accepted"]! < 3000, "\(report)")
        #expect((300...700).contains(report.seconds), "\(report)")
    }
}
