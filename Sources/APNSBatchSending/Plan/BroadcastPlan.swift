import APNSBatchModel
import APNSBatchNotification

/// What is fixed for all rows of a campaign to broadcast channels.
package struct BroadcastPlan: Sendable {
    /// The same for all: it names the app.
    let path: [UInt8]

    /// Nil for a campaign to devices.
    init?(_ recipients: Campaign.Recipients) {
        guard case .channels(let bundleID) = recipients else { return nil }
        path = Array(BroadcastRequest.path(bundleID: bundleID).utf8)
    }

    /// APNs takes no broadcast without an expiration, and which one is right depends on the channel.
    static func checkExpiration(_ headers: HeaderDefaults, _ roles: ColumnRoles) throws(CampaignError) {
        guard headers.isBroadcast, headers.expiration == nil, roles.expiration == nil else { return }
        throw CampaignError(
            .configuration,
            "no expiration: every broadcast needs one; give one for the campaign (0 for channels that store nothing) "
                + "or a column \"expiration\"")
    }
}

extension HeaderDefaults {
    /// The fields that all requests of a kind share.
    func fields(topic: String, pushType: PushType, priority: Priority?) -> [HeaderField] {
        if isBroadcast { return BroadcastRequest.fixed(authority: authority, priority: priority) }
        return DeviceRequestHeaders.fixed(
            authority: authority, topic: Topic.derive(bundleID: topic, pushType: pushType), pushType: pushType,
            priority: priority)
    }

    /// The most bytes of payload.
    func payloadLimit(of pushType: PushType) -> Int {
        isBroadcast ? PushTypeRule.broadcastPayloadLimit : pushType.payloadLimit
    }
}
