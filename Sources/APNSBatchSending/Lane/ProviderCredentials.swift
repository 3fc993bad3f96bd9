/// A lane's credentials for new connections to one provider, and the previous ones while connections use them. Each has the
/// number of a TLS configuration: its own with a client certificate, and the lane's otherwise.
struct ProviderCredentials {
    typealias Entry = (access: ProviderAccess, tls: Int32)

    private var current: Entry
    private var previous: Entry?

    init(_ entry: Entry) { current = entry }

    var access: ProviderAccess { current.access }
    var tls: Int32 { current.tls }
    /// The generation of the previous credentials, or nil if these are gone.
    var previousGeneration: Int? { previous?.access.generation }

    /// Replaces the current credentials. Returns the TLS configuration that is not needed any more. After two replacements
    /// in a row, the previous credentials are those with which rows were accepted.
    ///
    /// - Parameter proven: The newest generation with which a row was accepted.
    mutating func replace(by next: Entry, proven: Int?) -> Int32? {
        defer { current = next }
        guard proven == current.access.generation || previous == nil else { return current.tls }
        let released = previous?.tls
        previous = current
        return released
    }

    /// Makes the previous credentials current again after the current ones were refused. Returns the refused ones, or nil if
    /// there are no previous ones.
    mutating func goBack() -> Entry? {
        guard let previous else { return nil }
        defer { (current, self.previous) = (previous, nil) }
        return current
    }

    /// Forgets the previous credentials, which no connection uses any more. Returns their TLS configuration.
    mutating func forgetPrevious() -> Int32? {
        defer { previous = nil }
        return previous?.tls
    }
}
