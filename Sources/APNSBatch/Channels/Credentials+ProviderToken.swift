import APNSBatchBasics
import APNSBatchModel

extension Campaign.Credentials {
    /// Makes a provider token, in compact serialization, for a sender that does not have the key (``issuedToken(_:)``). It is
    /// valid for an hour. It is secret: wipe it after use.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration`` for credentials without a usable signing key.
    public func makeProviderToken() throws(CampaignError) -> [UInt8] {
        guard case .providerToken = self,
            let field = try RequestCredentials(self).authorization(now: SystemClock.seconds())
        else {
            throw CampaignError(.configuration, "a provider token is made from a signing key, its id and the team id")
        }
        return field.withSpan { bytes in
            let scheme = "bearer ".utf8.count
            return unsafe [UInt8](unsafeUninitializedCapacity: bytes.count - scheme + 1) { text, count in
                for index in scheme..<bytes.count {
                    unsafe text.initializeElement(at: index - scheme, to: bytes[index])
                }
                count = bytes.count - scheme
            }
        }
    }
}

extension Campaign.Credentials {
    /// Throws if key, token or certificate cannot be used, as far as this can be known without asking APNs.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``.
    public func check() throws(CampaignError) { _ = try RequestCredentials(self) }
}
