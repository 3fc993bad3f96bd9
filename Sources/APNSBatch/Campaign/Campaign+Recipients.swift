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
    var column: String {
        switch self {
        case .devices: "token"
        case .channels: "channel_id"
        }
    }

    var areChannels: Bool { self != .devices }

    /// What the headers of a campaign come to with these recipients.
    func headers(of campaign: Campaign) throws(CampaignError) -> Campaign.Headers {
        guard case .channels(let bundleID) = self else { return campaign.headers }
        try BundleID.check(bundleID)
        var headers = campaign.headers
        headers.topic = bundleID
        headers.pushType = BroadcastRequest.pushType.name
        headers.collapseID = nil
        return headers
    }
}
