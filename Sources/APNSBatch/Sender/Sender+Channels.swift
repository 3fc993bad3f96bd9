import APNSBatchBasics
import APNSBatchModel
import APNSBatchSending

extension Sender {
    /// Returns a manager of the broadcast channels of an app, with the current credentials of the provider that covers it. Its
    /// requests have connections of their own.
    ///
    /// - Throws: ``ChannelError`` with the code ``ChannelError/Code/configuration`` if the bundle id is not one, or if no provider
    ///   covers it.
    public func channels(of bundleID: String) throws(ChannelError) -> ChannelManager {
        let providers = credentials
        guard let number = (try? ProviderTopics(providers))?.provider(of: bundleID) else {
            throw ChannelError(.configuration, "no provider covers \(bundleID.quoted)")
        }
        return try ChannelManager(
            bundleID: bundleID, at: configuration.destination, credentials: providers[number].credentials,
            authorities: configuration.authorities, systemTrust: configuration.systemTrust)
    }
}
