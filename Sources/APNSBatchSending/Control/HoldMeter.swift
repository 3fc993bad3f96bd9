import APNSBatchModel

/// Measures what keeps a lane from sending faster: for how long each cause applied, and which one applied longest.
struct HoldMeter {
    /// The time by cause, in nanoseconds, since the last result. The first one is the time in which nothing held the lane
    /// back.
    private var times = Array(repeating: UInt64(0), count: Int(CampaignProgress.Hold.lastCode) + 1)
    private var began: UInt64
    private var noted: UInt64
    /// The cause that applied longest in the last interval.
    private(set) var hold: CampaignProgress.Hold?

    /// In nanoseconds.
    private static let interval: UInt64 = 500_000_000

    init(now: UInt64) { (began, noted) = (now, now) }

    /// Counts the time since the last call.
    ///
    /// - Parameter writing: the part of it in which the lane waited for the writer, in nanoseconds.
    mutating func note(_ hold: CampaignProgress.Hold?, writing: UInt64, now: UInt64) {
        let time = now - min(noted, now)
        noted = now
        times[Int(CampaignProgress.Hold.writer.rawValue)] += min(writing, time)
        times[Int(hold?.rawValue ?? 0)] += time - min(writing, time)
    }

    /// Evaluates the interval, if it has ended. Returns whether there is a new result.
    mutating func look(now: UInt64) -> Bool {
        guard now >= began + Self.interval else { return false }
        let longest = times.indices.max { times[$0] < times[$1] } ?? 0
        hold = CampaignProgress.Hold(rawValue: UInt8(longest))
        for index in times.indices { times[index] = 0 }
        began = now
        return true
    }
}

extension CampaignProgress.Hold {
    fileprivate static let lastCode = allCases.map(\.rawValue).max() ?? 0

    /// Returns what most lanes name, or nil if most of them name nothing. Lanes that have ended do not count.
    package static func ofMost(_ lanes: [CampaignProgress.Hold?]) -> CampaignProgress.Hold? {
        var counts = Array(repeating: 0, count: Int(lastCode) + 1)
        for hold in lanes { counts[Int(hold?.rawValue ?? 0)] += 1 }
        let most = counts.indices.max { counts[$0] < counts[$1] } ?? 0
        return CampaignProgress.Hold(rawValue: UInt8(most))
    }
}
