import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows
import APNSBatchTransport

/// What a run takes from outside the process, such as the time of day and the addresses of hosts. It comes from the system,
/// unless a simulation replaces it.
@safe package struct Surroundings: Sendable {
    /// Returns the time of day in seconds since the epoch.
    package var seconds: @Sendable () -> UInt64 = SystemClock.seconds
    /// Returns the time of a clock that is never set, in nanoseconds.
    package var monotonic: @Sendable () -> UInt64 = SystemClock.monotonic
    /// Returns the processor time that the calling thread has used, in nanoseconds.
    package var worked: @Sendable () -> UInt64 = SystemClock.threadTime
    /// Returns all addresses of a host; may block.
    package var resolve: @Sendable (_ host: String, _ port: UInt16) throws -> [SocketAddress] = {
        try HostResolver.resolve(host: $0, port: $1)
    }
    /// Returns the bytes that may still be written to the disk that a path is on; nil if that is not known.
    package var freeBytes: @Sendable (_ path: String) -> UInt64? = DirectoryTrial.freeBytes
    /// Does work that may block on another thread, without waiting for it. Returns false if there is no thread for it now.
    package var aside: @Sendable (_ name: String, _ work: @escaping @Sendable () -> Void) -> Bool = {
        NamedThread.tryDetached($0, $1)
    }

    /// The size of chunks, and the limits of fields and records.
    package var rowLimits = RowLimits.standard
    /// The number of outcome batches per lane; below, the outcomes per batch and the bytes of lines that are written
    /// together. A simulation makes them small, so that they are often full.
    package var batchesPerLane = 3
    package var outcomesPerBatch = OutcomeBatch.entryCapacity
    package var lineBytes = ResultLines.usualCapacity
    /// Returns a signature of 64 bytes in place of the providers' keys, whose signatures are never the same twice.
    package var sign: (@Sendable (_ message: [UInt8]) -> [UInt8])?
    /// Opens the lanes' transports over another network and clock; nil for those of the system.
    package var open: TransportOpening?

    package init() {}

    package static let system = Surroundings()
}
