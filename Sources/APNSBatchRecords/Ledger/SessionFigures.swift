import APNSBatchModel

/// Figures of a session besides its outcomes. They are written with each mark and at the end, so that the figures of a run
/// cover all its sessions. For a session that was killed, they are known up to its last mark.
package struct SessionFigures: Equatable, Sendable {
    package var milliseconds: UInt64 = 0
    /// Requests handed to connections, except for those that certainly did not arrive.
    package var requests: UInt64 = 0
    /// Connections that were established.
    package var connections: UInt64 = 0
    /// The counters of its lanes; nil if they were not requested. They are longer than the rest, and written less often.
    package var lanes: LaneAccount?

    package init(milliseconds: UInt64 = 0, requests: UInt64 = 0, connections: UInt64 = 0) {
        self.milliseconds = milliseconds
        self.requests = requests
        self.connections = connections
    }

    /// The figures of a snapshot of the session.
    package init(_ snapshot: CampaignProgress) {
        self.init(
            milliseconds: UInt64(max(0, snapshot.elapsedSeconds) * 1000), requests: snapshot.requests,
            connections: UInt64(snapshot.connectionsOpened))
        lanes = snapshot.account
    }

    package static func + (left: SessionFigures, right: SessionFigures) -> SessionFigures {
        var sum = SessionFigures(
            milliseconds: left.milliseconds &+ right.milliseconds, requests: left.requests &+ right.requests,
            connections: left.connections &+ right.connections)
        sum.lanes = left.lanes ?? right.lanes
        if left.lanes != nil, let other = right.lanes { sum.lanes?.add(other) }
        return sum
    }

    /// Replaces the figures by later ones of the same session.
    mutating func take(_ later: SessionFigures) {
        let lanes = later.lanes ?? lanes
        self = later
        self.lanes = lanes
    }
}
