import APNSBatchSending

/// Holds a lane between its turns.
final class SteppedLane {
    var lane: Lane

    init(_ lane: consuming Lane) { self.lane = lane }
}
