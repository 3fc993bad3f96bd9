import CTransport

/// The network and the clock of a simulation: transports made in it live in one thread, without a kernel and without TLS,
/// and one seed reproduces every byte and every moment.
///
/// Belongs to the thread that made it, with all its transports; it must outlive them.
package final class SimulatedWorld: @unchecked Sendable {
    package typealias Options = transport_world_options
    package typealias Faults = transport_world_faults
    package typealias Strikes = transport_world_strikes

    /// For who makes a transport of its own there: a `transport_world *`.
    package let handle: OpaquePointer

    package init(_ options: Options) {
        var options = options
        guard let made = transport_world_create(&options) else { preconditionFailure("no memory for a simulation") }
        handle = made
    }

    deinit { transport_world_destroy(handle) }

    /// Nanoseconds.
    package var now: UInt64 { transport_world_now_ns(handle) }

    /// Of every event so far, with its time and its bytes.
    package var digest: UInt64 { transport_world_digest(handle) }

    /// How often what happened so far.
    package var strikes: Strikes { transport_world_struck(handle) }

    /// Moves the time to the next thing that happens, and says whose turn it is; nil when nothing would ever happen.
    package func next() -> UInt32? {
        let number = transport_world_next(handle)
        return number < 0 ? nil : UInt32(number)
    }

    /// All transports but this one stand still for so many nanoseconds, as in a process that is stopped.
    package func standStill(but number: UInt32, for span: UInt64) {
        transport_world_stand_still(handle, number, span)
    }

    /// What goes wrong from now on; nil for nothing any more, though what has fallen silent stays so.
    package func setFaults(_ faults: Faults?) {
        guard var faults else {
            transport_world_faults_set(handle, nil)
            return
        }
        transport_world_faults_set(handle, &faults)
    }
}
