import APNSBatchTransport
import CAPNSReactor
import CAPNSSimulatedNetwork
import CAPNSTransport

/// The network and the clock of a simulation. The transports made in it run in one thread, without a kernel and without
/// TLS. One seed reproduces every byte and every time.
///
/// An object belongs to the thread that created it, with all its transports, and must outlive them.
package final class SimulatedWorld: @unchecked Sendable {
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

    /// Makes a transport in this world, and assigns it a number.
    package func open(
        _ options: inout apns_transport_options, _ made: inout OpaquePointer?, _ number: inout UInt32,
        _ error: inout apns_error
    ) -> Int32 {
        apns_reactor_world_transport(handle, &options, &made, &number, &error)
    }

    /// Makes a world whose network has no faults and hardly any delay, and divides no bytes.
    package convenience init(seed: UInt64) {
        var options = Options()
        (options.seed, options.start_ns, options.trace) = (seed, 1_000_000_000, -1)
        (options.delay_us_max, options.buffer_bytes_min, options.buffer_bytes_max) = (1, 256_000, 256_000)
        self.init(options)
    }

    /// Makes a reactor in this world. The reactors and transports of a world are numbered in the order in which they are
    /// made, from 0.
    func join(_ options: apns_reactor_options) -> OpaquePointer? {
        var options = options
        var made: OpaquePointer?
        return apns_reactor_world_join(handle, &options, &made) == 0 ? made : nil
    }

    /// The time, in nanoseconds.
    package var now: UInt64 { apns_reactor_world_now_ns(handle) }

    /// A digest of all events so far, with their times and bytes.
    var digest: UInt64 { apns_reactor_world_digest(handle) }

    /// The number of times that each fault has occurred so far.
    var strikes: Strikes { apns_reactor_world_struck(handle) }

    /// Advances the time to the next event and returns the number of the transport that must run, or nil if no event
    /// would ever happen.
    package func next() -> UInt32? {
        let number = apns_reactor_world_next(handle)
        return number < 0 ? nil : UInt32(number)
    }

    /// Stops all transports except one for some nanoseconds, like a process that is stopped.
    func standStill(but number: UInt32, for span: UInt64) {
        apns_reactor_world_stand_still(handle, number, span)
    }

    /// Sets the faults that occur from now on. If it is nil, no more faults occur, but silent connections stay silent.
    func setFaults(_ faults: Faults?) {
        guard var faults else {
            apns_reactor_world_faults_set(handle, nil)
            return
        }
        apns_reactor_world_faults_set(handle, &faults)
    }
}
