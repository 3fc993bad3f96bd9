import APNSBatchSimulation
import APNSBatchTestSupport
import Foundation
import Testing

// The tests take some million turns of lanes, which is too slow under some sanitizers.
@Suite(
    "Sick connections in virtual time", .ownThread, .serialized,
    .enabled(
        if: !["address", "thread"].contains(ProcessInfo.processInfo.environment["APNS_BATCH_SANITIZER"] ?? "")))
struct SicknessTests {
    private typealias Sick = SicknessPlay.Sick

    private func run(_ play: SicknessPlay) throws -> SicknessPlay.Report {
        let input = FileManager.default.temporaryDirectory.appending(path: "sickness-\(UUID().uuidString).csv").path
        defer { try? FileManager.default.removeItem(atPath: input) }
        return try play.run(input: input)
    }

    /// Everything must be accepted, with few requests more than rows, and few connections.
    private func expectGood(_ report: SicknessPlay.Report, _ play: SicknessPlay, _ what: String) {
        let text = "\(what): \(report)"
        #expect(report.rows == ["accepted": play.rows] && report.failure == nil, "\(text)")
        #expect(report.requests * 10 <= play.rows * 11, "\(text)")
        #expect(report.connections <= 3 * play.lanes * play.connections + 3, "\(text)")
        #expect(!report.lines.contains { $0.contains("probes") }, "\(text)")
    }

    @Test(
        "A campaign leaves sick connections",
        arguments: [SicknessPlay.Kind.tooManyRequests, .failed, .unavailable], [1, 2, 4])
    func campaign(kind: SicknessPlay.Kind, lanes: Int) throws {
        for sick in [.one(1), .one(2), .one(5), .some([1, 2, 3]), .half] as [SicknessPlay.Sick] {
            var play = SicknessPlay(kind, sick, lanes: lanes)
            if sick == .half { play.rows = lanes == 4 ? 12_000 : 8000 }
            expectGood(try run(play), play, "\(kind) \(sick) \(lanes)")
        }
    }

    @Test(
        "A campaign leaves connections that are at an end or slow",
        arguments: [SicknessPlay.Kind.tooManyTokenUpdates, .shutdown, .slow])
    func otherKinds(kind: SicknessPlay.Kind) throws {
        for sick in [.one(2), .half] as [SicknessPlay.Sick] {
            let play = SicknessPlay(kind, sick, lanes: 2)
            expectGood(try run(play), play, "\(kind) \(sick)")
        }
    }

    @Test(
        "A campaign leaves a connection that becomes sick, also if it may have only one",
        arguments: [SicknessPlay.Kind.tooManyTokenUpdates, .failed, .slow], [1, 2])
    func oneConnection(kind: SicknessPlay.Kind, lanes: Int) throws {
        for after in [0, 500] {
            var play = SicknessPlay(kind, .one(1), lanes: lanes)
            (play.connections, play.after, play.rows) = (1, after, 2000)
            expectGood(try run(play), play, "\(kind) after \(after)")
        }
    }

    @Test(
        "Where all connections are sick no row is used up, and the run ends after its patience",
        arguments: SicknessPlay.Kind.refusals, [1, 2, 4])
    func all(kind: SicknessPlay.Kind, lanes: Int) throws {
        var play = SicknessPlay(kind, .all, lanes: lanes)
        (play.rows, play.patience, play.after) = (2000, 60, lanes == 2 ? 500 : 0)
        let report = try run(play)
        #expect(report.isUnreachable && report.failure?.contains("for 60 seconds") == true, "\(kind): \(report)")
        #expect(Set(report.rows.keys).isSubset(of: ["accepted"]), "\(kind): \(report)")
        #expect((60...140).contains(report.seconds), "\(kind): \(report)")
        #expect(report.lines.contains { $0.contains("probes") }, "\(kind): \(report)")
    }

    @Test("All connections slow is no sickness")
    func allSlow() throws {
        let play = SicknessPlay(.slow, .all)
        expectGood(try run(play), play, "all slow")
    }

    @Test("A sender leaves a sick connection", arguments: SicknessPlay.Kind.allCases)
    func sender(kind: SicknessPlay.Kind) throws {
        for (sick, connections, lanes) in [
            (.one(1), 4, 1), (.one(1), 1, 2), (.one(2), 4, 2), (.half, 4, 1), (.half, 4, 4),
        ] as [(SicknessPlay.Sick, Int, Int)] {
            var play = SicknessPlay(kind, sick, lanes: lanes)
            (play.connections, play.perSecond) = (connections, 6000)
            expectGood(try play.send(), play, "\(kind) \(sick) \(lanes)")
        }
    }

    @Test(
        "A sender with a notification a second leaves a sick connection before one is used up",
        arguments: SicknessPlay.Kind.refusals)
    func quietSender(kind: SicknessPlay.Kind) throws {
        for after in [0, 10] {
            var play = SicknessPlay(kind, .one(1))
            (play.connections, play.after, play.rows, play.perSecond) = (1, after, 40, 1)
            let report = try play.send()
            #expect(report.rows == ["accepted": 40], "\(kind) after \(after): \(report)")
            #expect(report.connections <= 4, "\(kind) after \(after): \(report)")
        }
    }

    @Test(
        "Where all connections are sick the notifications of a sender end when their time is over",
        arguments: [SicknessPlay.Kind.tooManyTokenUpdates, .failed])
    func senderWithoutAnyConnection(kind: SicknessPlay.Kind) throws {
        var play = SicknessPlay(kind, .all, lanes: 2)
        (play.rows, play.timeout, play.after) = (1000, 60, 50)
        let report = try play.send()
        #expect(report.rows["unavailable"] == nil && report.rows["unreachable", default: 0] > 500, "\(kind): \(report)")
    }
}
