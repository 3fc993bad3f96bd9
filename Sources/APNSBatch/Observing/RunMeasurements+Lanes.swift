import APNSBatchModel
import APNSBatchSending

extension RunMeasurements {
    /// Adds what lanes count besides their progress. It takes some ten microseconds for each.
    mutating func add(_ lanes: [LaneGauges]) {
        var account = progress.account ?? LaneAccount()
        for lane in lanes {
            lane.account.withLock { account.add($0) }
            lane.answers.add(to: &answers)
            lane.refusals.add(to: &refusals)
            turns &+= lane.turns
        }
        progress.account = account
    }
}
