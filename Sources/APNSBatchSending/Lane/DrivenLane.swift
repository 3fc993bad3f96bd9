import APNSBatchTransport

/// A lane of any origin, whose turns its owner runs: the thread of a crew, or a simulation. There is one call through a closure for
/// each turn, so that a turn itself is compiled for its origin.
package final class DrivenLane {
    /// The number of the lane in a simulated world.
    package let number: UInt32
    /// The kind of event loop in use.
    let loop: LoopKind
    private let runTurn: () throws(TransportError) -> Bool
    private let end: () -> Void
    private let count: () -> Int

    /// The lane between its turns.
    private final class Held<Origin: LaneOrigin & ~Copyable> {
        var lane: Lane<Origin>

        init(_ lane: consuming Lane<Origin>) { self.lane = lane }
    }

    init<Origin: LaneOrigin & ~Copyable>(_ lane: consuming Lane<Origin>) {
        (number, loop) = (lane.number, lane.loop)
        let held = Held(lane)
        runTurn = { () throws(TransportError) in try held.lane.turn() }
        end = { held.lane.finishUp() }
        count = { held.lane.handedOver }
    }

    /// The number of requests that were handed to connections, including those that did not leave.
    package var handedOver: Int { count() }

    /// Runs one turn. Returns false when all rows that were taken are done and `finishUp` may follow.
    package func turn() throws(TransportError) -> Bool { try runTurn() }

    /// Flushes the last outcomes and publishes the final counts.
    package func finishUp() { end() }
}
