import APNSBatchModel

/// What a session did besides ending rows: written with each mark and at its end, so that a run's figures are those of all
/// its sessions. Of a session that was killed what it did up to its last mark is known.
package struct SessionFigures: Equatable, Sendable {
    package var milliseconds: UInt64 = 0
    /// Requests handed to connections, but for those that surely did not arrive.
    package var requests: UInt64 = 0
    /// Connections that came up.
    package var connections: UInt64 = 0
    /// What its lanes counted; nil where that was not asked for. It is longer than the rest, and written less often.
    package var lanes: LaneAccount?

    package init(milliseconds: UInt64 = 0, requests: UInt64 = 0, connections: UInt64 = 0) {
        self.milliseconds = milliseconds
        self.requests = requests
        self.connections = connections
    }

    /// What a snapshot of the session says.
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

    /// Takes what the same session said later.
    mutating func take(_ later: SessionFigures) {
        let lanes = later.lanes ?? lanes
        self = later
        self.lanes = lanes
    }
}
