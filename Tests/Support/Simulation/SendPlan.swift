import APNSBatch
import APNSBatchModel
import APNSBatchSimulator

/// The plan that a seed determines for a sender: that of a campaign, of which it has notifications, network and server, and
/// what the program with the sender does.
struct SendPlan {
    var base: SeedPlan
    /// The number of notifications that the sender works on at once.
    let pending: Int
    /// The times of submission, in nanoseconds after the start, ascending.
    private let times: [UInt64]
    /// The time from submission to deadline, and to the cancellation; nil for none.
    private let timeouts: [UInt64?]
    private let cancellations: [UInt64?]
    /// When the credentials are replaced, in nanoseconds after the start.
    let renewals: [UInt64]
    /// Whether the sender is closed while notifications are pending, and when, in nanoseconds after the start.
    let closesEarly: Bool
    let closesAfter: UInt64
    /// In nanoseconds.
    let gracePeriod: UInt64

    init(seed: UInt64) {
        var base = SeedPlan(seed: seed)
        // What a sender does not have.
        (base.mishaps, base.notAfter, base.canary, base.pause) = ([], nil, nil, nil)
        (base.rateChange, base.rateLimit.spread) = (nil, nil)
        (base.outcomesPerBatch, base.lineBytes) = (nil, nil)
        base.rows.removeAll { $0.kind == .tooLarge || $0.kind == .missingField }
        for index in base.rows.indices { base.rows[index].number = UInt64(index + 1) }
        var dice = Dice(seed: seed ^ 0x5345_4E44)
        pending = dice.pick([1, 3, 20, 200, 10_000])
        // One that is sent again keeps its place meanwhile.
        base.rows = Array(base.rows.prefix(10 * pending))
        let count = base.rows.count
        let span = dice.pick([0, 1, 100, 1000, 5000])
        times = (0..<count).map { _ in UInt64(dice.within(0...span)) * 1_000_000 }.sorted()
        let (timed, cancelled) = (Int(dice.share(upTo: 300_000)), Int(dice.share(upTo: 300_000, inRuns: 500_000)))
        let soon = dice.pick([5, 100, 3000])
        timeouts = (0..<count).map { _ in
            dice.chance(timed) ? UInt64(dice.within(0...soon)) * 1_000_000 : nil
        }
        cancellations = (0..<count).map { _ in
            dice.chance(cancelled) ? UInt64(dice.within(0...soon)) * 1_000_000 : nil
        }
        renewals =
            dice.chance(300_000)
            ? (0..<dice.within(1...3)).map { _ in UInt64(dice.within(0...3000)) * 1_000_000 }.sorted() : []
        closesEarly = dice.chance(300_000)
        closesAfter = UInt64(dice.within(0...4000)) * 1_000_000
        gracePeriod = UInt64(dice.pick([0, 50, 2000, 60_000])) * 1_000_000
        self.base = base
    }

    func submissions(from start: UInt64) -> [SimulatedSubmission] {
        base.rows.indices.map { index in
            let time = start + times[index]
            return SimulatedSubmission(
                base.rows[index], time: time, deadline: timeouts[index].map { time + $0 } ?? .max,
                cancelledAt: cancellations[index].map { time + $0 })
        }
    }

    /// The time in which the simulation must end, in nanoseconds: that of a campaign for each round of notifications that find
    /// a place.
    var patience: UInt64 {
        let rounds = UInt64((base.rows.count + pending - 1) / pending)
        return max(1, rounds) * base.calmPatience + base.calmAfter + (times.last ?? 0) + closesAfter + gracePeriod
    }

    var text: String {
        """
        \(base.text)
        \(pending) at once, submitted until \((times.last ?? 0) / 1_000_000) ms, \
        \(timeouts.count { $0 != nil }) with deadlines, \(cancellations.count { $0 != nil }) cancelled, \
        new credentials after \(renewals.map { $0 / 1_000_000 }) ms, \
        closed \(closesEarly ? "after \(closesAfter / 1_000_000) ms" : "at the end") with \(gracePeriod / 1_000_000) ms
        """
    }
}

extension Stage {
    static func sender(_ plan: SendPlan, port: UInt16) -> Sender.Configuration {
        let base = plan.base
        var sender = Sender.Configuration(
            destination: .host("simulated", port: port), credentials: credentials(0))
        sender.systemTrust = false
        sender.pending = plan.pending
        (sender.lanes, sender.connections, sender.attempts) = (base.lanes, base.connections, base.attempts)
        sender.requestTimeout = .milliseconds(base.requestTimeout)
        sender.onUnknown = base.policies[0]
        sender.rateLimit = base.rateLimit
        if let mintAfter = base.mintAfter {
            sender.tokenRotation = .init(mintAfter: .seconds(mintAfter), retireAfter: .seconds(2 * mintAfter + 1))
        }
        return sender
    }
}
