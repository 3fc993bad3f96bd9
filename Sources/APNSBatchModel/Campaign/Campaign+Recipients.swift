import APNSBatchNotification

extension Campaign {
    /// Who gets the pushes of a campaign.
    public enum Recipients: Sendable, Equatable {
        /// Devices: each row has a `token`.
        case devices
        /// The subscribers of an app's broadcast channels: each row has a `channel_id`. Topic, push type and collapse
        /// id are not looked at, and campaign or row must give an expiration: 0 for channels that store nothing.
        /// Apple, "Sending broadcast push notification requests to APNs".
        case channels(bundleID: String)
    }
}

extension Campaign.Recipients {
    /// The column that says where a row goes.
    package var column: String {
        switch self {
        case .devices: "token"
        case .channels: "channel_id"
        }
    }

    package var areChannels: Bool { self != .devices }

    /// What the headers of a campaign come to with these recipients.
    package func headers(of campaign: Campaign) throws(CampaignError) -> Campaign.Headers {
        guard case .channels(let bundleID) = self else { return campaign.headers }
        try BundleID.check(bundleID)
        var headers = campaign.headers
        headers.topic = bundleID
        headers.pushType = BroadcastRequest.pushType.name
        headers.collapseID = nil
        return headers
    }
}

/// The name of an app.
package enum BundleID {
    /// It becomes part of a path, so nothing else may stand in it.
    package static func check(_ bundleID: String) throws(CampaignError) {
        guard let fault = Array(bundleID.utf8).withUnsafeBytes({ Topic.check($0) }) else { return }
        let message = Array(bundleID.utf8).withUnsafeBytes { fault.message(for: $0) }
        throw CampaignError(.configuration, "bundle id" + message.dropFirst(fault.column.count))
    }
}
