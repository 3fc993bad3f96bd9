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
