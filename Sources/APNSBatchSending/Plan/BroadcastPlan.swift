import APNSBatchModel
import APNSBatchNotification

/// The settings that all rows of a campaign to broadcast channels share.
package struct BroadcastPlan: Sendable {
    /// The `:path`, which contains the bundle id.
    let path: [UInt8]

    /// Returns nil for a campaign to devices.
    init?(_ recipients: Campaign.Recipients) {
        guard case .channels(let bundleID) = recipients else { return nil }
        path = Array(BroadcastRequest.path(bundleID: bundleID).utf8)
    }

    /// Throws an error if rows could have no expiration: APNs requires one for broadcasts, and the right one depends on the
    /// channel.
    static func checkExpiration(_ headers: HeaderDefaults, _ roles: ColumnRoles) throws(CampaignError) {
        guard headers.isBroadcast, headers.expiration == nil, roles.expiration == nil else { return }
        throw CampaignError(
            .configuration,
            "no expiration: every broadcast needs one; give one for the campaign (0 for channels that store nothing) "
                + "or a column \"expiration\"")
    }
}

extension HeaderDefaults {
    /// The header fields that all requests of a header set share.
    func fields(topic: String, pushType: PushType, priority: Priority?) -> [HeaderField] {
        if isBroadcast { return BroadcastRequest.fixed(authority: authority, priority: priority) }
        return DeviceRequestHeaders.fixed(
            authority: authority, topic: Topic.derive(bundleID: topic, pushType: pushType), pushType: pushType,
            priority: priority)
    }

    /// The maximum length of a payload, in bytes.
    func payloadLimit(of pushType: PushType) -> Int {
        isBroadcast ? PushTypeRule.broadcastPayloadLimit : pushType.payloadLimit
    }
}
