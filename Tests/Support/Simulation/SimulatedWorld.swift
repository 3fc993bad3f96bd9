import APNSBatchTransport
import CAPNSSimulatedNetwork
import CAPNSTransport

/// The network and the clock of a simulation: transports made in it live in one thread, without a kernel and without TLS,
/// and one seed reproduces every byte and every moment.
///
/// Belongs to the thread that made it, with all its transports; it must outlive them.
final class SimulatedWorld: @unchecked Sendable {
    typealias Options = apns_reactor_world_options
    typealias Faults = apns_reactor_world_faults
    typealias Strikes = apns_reactor_world_strikes

    private let handle: OpaquePointer

    init(_ options: Options) {
        var options = options
        guard let made = apns_reactor_world_create(&options) else { preconditionFailure("no memory for a simulation") }
        handle = made
    }

    deinit { apns_reactor_world_destroy(handle) }

    /// Makes a transport in this world, and numbers it.
    func open(
        _ options: inout apns_transport_options, _ made: inout OpaquePointer?, _ number: inout UInt32,
        _ error: inout apns_error
    ) -> Int32 {
        apns_reactor_world_transport(handle, &options, &made, &number, &error)
    }

    /// Nanoseconds.
    var now: UInt64 { apns_reactor_world_now_ns(handle) }

    /// A digest of every event so far, with its time and its bytes.
    var digest: UInt64 { apns_reactor_world_digest(handle) }

    /// How often what happened so far.
    var strikes: Strikes { apns_reactor_world_struck(handle) }

    /// Moves the time to the next thing that happens, and says whose turn it is; nil when nothing would ever happen.
    func next() -> UInt32? {
        let number = apns_reactor_world_next(handle)
        return number < 0 ? nil : UInt32(number)
    }

    /// All transports but this one stand still for so many nanoseconds, as in a process that is stopped.
    func standStill(but number: UInt32, for span: UInt64) {
        apns_reactor_world_stand_still(handle, number, span)
    }

    /// What goes wrong from now on; nil for nothing any more, though what has fallen silent stays so.
    func setFaults(_ faults: Faults?) {
        guard var faults else {
            apns_reactor_world_faults_set(handle, nil)
            return
        }
        apns_reactor_world_faults_set(handle, &faults)
    }
}
