/// What a session did besides ending rows: written with each mark and at its end, so that a run's figures are those of all
/// its sessions. Of a session that was killed what it did up to its last mark is known.
package struct SessionFigures: Equatable, Sendable {
    package var milliseconds: UInt64 = 0
    /// Requests handed to connections, but for those that surely did not arrive.
    package var requests: UInt64 = 0
    /// Connections that came up.
    package var connections: UInt64 = 0

    package init(milliseconds: UInt64 = 0, requests: UInt64 = 0, connections: UInt64 = 0) {
        self.milliseconds = milliseconds
        self.requests = requests
        self.connections = connections
    }

    static func + (left: SessionFigures, right: SessionFigures) -> SessionFigures {
        SessionFigures(
            milliseconds: left.milliseconds &+ right.milliseconds, requests: left.requests &+ right.requests,
            connections: left.connections &+ right.connections)
    }
}
