import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows
import APNSBatchTransport

/// What a run takes from outside the process: the time of day and the addresses of names. The system's, unless a
/// simulation brings its own.
package struct Surroundings: Sendable {
    /// Seconds since the epoch.
    package var seconds: @Sendable () -> UInt64 = SystemClock.seconds
    /// Nanoseconds of processor time that the calling thread has used.
    package var worked: @Sendable () -> UInt64 = SystemClock.threadTime
    /// All addresses of a host; may block.
    package var resolve: @Sendable (_ host: String, _ port: UInt16) throws -> [SocketAddress] = {
        try HostResolver.resolve(host: $0, port: $1)
    }
    /// Does something that may block aside, without waiting for it; false when that cannot be done now.
    package var aside: @Sendable (_ name: String, _ work: @escaping @Sendable () -> Void) -> Bool = {
        NamedThread.tryDetached($0, $1)
    }

    /// How much of the input is read at a time.
    package var rowLimits = RowLimits.standard
    /// Batches of a lane, outcomes in each, and bytes of lines that are written together: small ones are full often.
    package var batchesPerLane = 3
    package var outcomesPerBatch = OutcomeBatch.entryCapacity
    package var lineBytes = ResultLines.usualCapacity
    /// Signs in the place of the providers' keys, whose signatures are never the same twice: 64 bytes.
    package var sign: (@Sendable (_ message: [UInt8]) -> [UInt8])?
    /// Makes the lanes' transports, over the system's network and clock or over others; nil for the system's.
    package var open: TransportOpening?

    package init() {}

    package static let system = Surroundings()
}
