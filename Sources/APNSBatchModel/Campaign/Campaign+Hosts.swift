import APNSBatchBasics
import APNSBatchNotification

/// The hosts and ports of APNs.
extension Campaign.Destination {
    /// The host and port to which notifications are sent. Apple, "Sending notification requests to APNs".
    package var endpoint: (String, UInt16) { place(APNSHost.push) }

    /// The host and port on which channels are managed. Apple, "Sending channel management requests to APNs".
    package var channelManagement: (String, UInt16) { place(APNSHost.channelManagement) }

    private func place(_ host: (APNSHost.Environment) -> APNSHost) -> (String, UInt16) {
        switch self {
        case .production: Self.first(host(.production))
        case .sandbox: Self.first(host(.sandbox))
        case .host(let name, let port): (name, port)
        }
    }

    private static func first(_ host: APNSHost) -> (String, UInt16) { (host.name, host.ports[0]) }
}

extension Campaign.Destination {
    private static let environments: [(word: String, destination: Self)] = [
        ("production", .production), ("sandbox", .sandbox),
    ]
    /// The words for the environments of APNs.
    package static let words = environments.map(\.word)

    /// Parses `production`, `sandbox` or `HOST:PORT`, with an IPv6 address in brackets. Returns nil for any other text.
    public init?(_ text: String) {
        let environment = Self.environments.first { $0.word == text }?.destination
        guard let found = environment ?? HostAndPort(text).map({ .host($0.host, port: $0.port) }) else { return nil }
        self = found
    }

    /// The text that is parsed.
    package var text: String {
        if let word = Self.environments.first(where: { $0.destination == self })?.word { return word }
        return APNSHost.endpoint(host: endpoint.0, port: endpoint.1)
    }
}
