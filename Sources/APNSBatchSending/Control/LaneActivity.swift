import APNSBatchModel

/// What a lane does at the moment, for whoever shows progress.
package enum LaneActivity: Sendable, Equatable {
    /// It has no rows, or none that it may send now.
    case idle
    case sending
    case waiting(CampaignProgress.Waiting)

    /// Why a run waits: the reason of its first lane that does, unless another one sends.
    package static func waiting(_ lanes: [LaneActivity]) -> CampaignProgress.Waiting? {
        guard !lanes.contains(.sending) else { return nil }
        for case .waiting(let reason) in lanes { return reason }
        return nil
    }
}
