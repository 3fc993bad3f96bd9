import APNSBatchSimulation
import APNSBatchTestSupport
import Foundation
import Testing

/// Every violation at every place for a campaign and for a sender, in virtual time.
@Suite("Violations of HTTP/2, for a campaign and a sender", .ownThread, .serialized)
struct CampaignMatrixTests {
    private static let rows = 5
    /// The places that a program has no hand in.
    private static let places = HostileServer.Place.allCases.filter { $0 != .whileDraining }

    /// How many connections there are where nothing is violated: GOAWAY asks for another one.
    private static func connections(at place: HostileServer.Place) -> Int { place == .behindGoaway ? 2 : 1 }

    /// How many connections of the server are hostile.
    enum Hostile: CaseIterable {
        case first
        case all
    }

    /// Runs a play for each violation at a place, each with another split, and passes the reports to `judge`.
    private func each(
        _ place: HostileServer.Place, _ hostile: Hostile,
        _ play: (@escaping (Int) -> any RawConnection) throws -> RawPlay.Report,
        _ judge: (RawPlay.Report, _ isUnharmed: Bool) -> Bool
    ) throws {
        let order = Self.places.firstIndex(of: place)!
        for (number, violation) in Violation.all.enumerated() {
            // A campaign whose server is always hostile tries again for seconds, so each violation has a third of the places.
            // Long bytes take most of the time, and differ from short ones in nothing that a campaign knows of.
            if hostile == .all, violation.count >= 1000 || (number + order) % 3 != 0 { continue }
            let splits = HostileServer.Split.few(of: violation.count)
            let split = splits[number % splits.count]
            let report = try play { index in
                let isHostile = hostile == .all || index == 0
                let server = Box(
                    isHostile
                        ? HostileServer(violation, place, split)
                        : HostileServer(Violation.byName["nothing"]!, .withSettings, .init(joint: .none)))
                return FramedConnection(greet: { server.value.greet() }, take: { server.value.take($0) })
            }
            // A server of this place answers nobody before it has three requests, which its later connections may not get.
            let isHarmless = violation.demand(at: place) == .ignored
            let isUnharmed = isHarmless && (hostile == .first || place != .behindGoaway)
            if !judge(report, isUnharmed) {
                Issue.record("\(violation.name), \(place), \(split.testDescription): \(report)")
            }
        }
    }

    private final class Box<Value> {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    /// - Parameter patience: How long a server may be out of reach, in seconds.
    private func play(patience: Int = 120) -> RawPlay {
        var play = RawPlay()
        (play.rows, play.patience) = (Self.rows, patience)
        return play
    }

    @Test("A campaign accepts every row over the next connection", arguments: places)
    func campaign(place: HostileServer.Place) throws {
        let input = FileManager.default.temporaryDirectory.appending(path: "matrix-\(UUID().uuidString).csv").path
        defer { try? FileManager.default.removeItem(atPath: input) }
        try each(place, .first, { try play().campaign(input: input, accept: $0) }) { report, isUnharmed in
            report.hasEnded && report.failure == nil && report.outcomes == ["accepted": Self.rows]
                && (!isUnharmed || report.connections == Self.connections(at: place))
        }
    }

    @Test(
        "A campaign whose server is always hostile ends: with every row, or because it is out of reach",
        arguments: places)
    func hopelessCampaign(place: HostileServer.Place) throws {
        let input = FileManager.default.temporaryDirectory.appending(path: "matrix-\(UUID().uuidString).csv").path
        defer { try? FileManager.default.removeItem(atPath: input) }
        try each(place, .all, { try play(patience: 2).campaign(input: input, accept: $0) }) { report, isUnharmed in
            // A request that each connection leaves without an answer uses up its attempts.
            let others = report.outcomes.keys.contains { $0 != "accepted" && (isUnharmed || $0 != "unknown") }
            let isComplete = report.failure == nil && report.outcomes.values.reduce(0, +) == Self.rows
            return report.hasEnded && !others && (isComplete || !isUnharmed && report.isUnreachable)
        }
    }

    @Test("A sender sends everything over the next connection", arguments: places)
    func sender(place: HostileServer.Place) throws {
        try each(place, .first, { try play().sender(accept: $0) }) { report, isUnharmed in
            report.hasEnded && report.failure == nil && report.twice == 0 && report.outcomes == ["accepted": Self.rows]
                && (!isUnharmed || report.connections == Self.connections(at: place))
        }
    }

    @Test("Every notification of a sender whose server is always hostile has one end", arguments: places)
    func hopelessSender(place: HostileServer.Place) throws {
        try each(place, .all, { try play(patience: 2).sender(accept: $0) }) { report, isUnharmed in
            report.hasEnded && report.failure == nil && report.twice == 0
                && report.outcomes.values.reduce(0, +) == Self.rows
                && (!isUnharmed || report.outcomes == ["accepted": Self.rows])
        }
    }
}
