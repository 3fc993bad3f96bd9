import LaneTransport

/// What a run takes from outside the process: the time of day and the addresses of names. The system's, unless a
/// simulation brings its own.
package struct Surroundings: Sendable {
    /// Seconds since the epoch.
    package var seconds: @Sendable () -> UInt64 = WallClock.seconds
    /// All addresses of a host; may block.
    package var resolve: @Sendable (_ host: String, _ port: UInt16) throws -> [SocketAddress] = {
        try HostResolver.resolve(host: $0, port: $1)
    }
    /// Does something that may block aside, without waiting for it.
    package var aside: @Sendable (_ name: String, _ work: @escaping @Sendable () -> Void) -> Void = {
        LaneThread.detached(name: $0, $1)
    }

    package static let system = Surroundings()
}
