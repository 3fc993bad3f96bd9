import APNSBatchTransport

/// The credentials of a lane's new connections to one provider, and those before them while connections have them. Each
/// comes with the number of its TLS configuration: with a client certificate its own, else the lane's.
struct ProviderCredentials {
    typealias Entry = (access: ProviderAccess, tls: Int32)

    private var current: Entry
    private var previous: Entry?

    init(_ entry: Entry) { current = entry }

    var access: ProviderAccess { current.access }
    var tls: Int32 { current.tls }
    /// The generation before the current one, if it is still at hand.
    var previousGeneration: Int? { previous?.access.generation }

    /// Takes new ones, and gives the TLS configuration that nobody needs any more. Of two changes in a row those stay at hand
    /// with which rows were accepted.
    ///
    /// - Parameter proven: the newest generation with which one was.
    mutating func replace(by next: Entry, proven: Int?) -> Int32? {
        defer { current = next }
        guard proven == current.access.generation || previous == nil else { return current.tls }
        let released = previous?.tls
        previous = current
        return released
    }

    /// The current ones were refused: those before are in force again. Gives those that were refused.
    mutating func goBack() -> Entry? {
        guard let previous else { return nil }
        defer { (current, self.previous) = (previous, nil) }
        return current
    }

    /// No connection has those before any more. Gives their TLS configuration.
    mutating func forgetPrevious() -> Int32? {
        defer { previous = nil }
        return previous?.tls
    }
}
