import APNSBatchNotification

extension Campaign {
    /// The recipients of a campaign's pushes.
    @nonexhaustive
    public enum Recipients: Sendable, Equatable {
        /// Devices. Each row has a `token`.
        case devices
        /// The subscribers of an app's broadcast channels. Each row has a `channel_id`. The campaign's topic, push type and
        /// collapse id are ignored, and the campaign or the row must have an expiration: 0 for channels that store nothing.
        /// Apple, "Sending broadcast push notification requests to APNs".
        case channels(bundleID: String)
    }
}

extension Campaign.Recipients {
    /// The name of the column that addresses a row.
    package var column: String {
        switch self {
        case .devices: "token"
        case .channels: "channel_id"
        }
    }

    package var areChannels: Bool { self != .devices }

    /// Returns the header fields of a campaign with these recipients.
    package func headers(of campaign: Campaign) throws(CampaignError) -> Campaign.Headers {
        guard case .channels(let bundleID) = self else { return campaign.headers }
        try BundleID.check(bundleID)
        var headers = campaign.headers
        headers.topic = bundleID
        headers.pushType = .init(BroadcastRequest.pushType.name)
        headers.collapseID = nil
        return headers
    }
}

/// The check of bundle ids.
package enum BundleID {
    /// Throws an error if the bundle id contains anything but the characters of a topic, since it becomes part of a path.
    package static func check(_ bundleID: String) throws(CampaignError) {
        guard let fault = unsafe Array(bundleID.utf8).withUnsafeBytes({ unsafe Topic.check($0) }) else { return }
        let message = unsafe Array(bundleID.utf8).withUnsafeBytes { unsafe fault.message(for: $0) }
        throw CampaignError(.configuration, "bundle id" + message.dropFirst(fault.column.count))
    }
}
