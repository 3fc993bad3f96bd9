import APNSBatchModel

/// What a lane does at the moment, for reports of progress.
package enum LaneActivity: Sendable, Equatable {
    /// The lane has no rows, or none that it may send now.
    case idle
    case sending
    case waiting(CampaignProgress.Waiting)

    /// Returns why a run waits: the reason of its first lane that waits, or nil if any lane sends or none waits.
    package static func waiting(_ lanes: [LaneActivity]) -> CampaignProgress.Waiting? {
        guard !lanes.contains(.sending) else { return nil }
        for case .waiting(let reason) in lanes { return reason }
        return nil
    }
}
