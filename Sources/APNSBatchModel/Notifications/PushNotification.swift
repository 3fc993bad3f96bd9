/// One notification for one device, as a `Sender` takes it. The names are those of Apple, "Sending notification requests to
/// APNs".
public struct PushNotification: Sendable, Equatable {
    /// The `apns-push-type`.
    public typealias PushType = Campaign.PushType
    /// The `apns-priority`.
    public typealias Priority = Campaign.Priority

    /// The device token, in hexadecimal digits.
    public var deviceToken: String
    /// The JSON of the payload, in UTF-8. White space outside of strings is not sent.
    public var payload: [UInt8]
    /// The bundle id of the app, or a full topic. The suffix of the push type is added if it is missing. The topic selects the
    /// provider.
    public var topic: String
    /// The kind of the notification, which determines what APNs and the device do with it.
    public var pushType: PushType
    /// Nil for the default of the push type.
    public var priority: Priority?
    /// Nil omits the header field. A duration counts from the call that sends the notification.
    public var expiration: Campaign.Expiration?
    /// The `apns-collapse-id`, at most 64 bytes; nil for none.
    public var collapseID: String?
    /// The `apns-id`, a UUID; nil for one that the sender makes.
    public var messageID: String?

    /// Creates a notification of a payload given as bytes.
    public init(
        deviceToken: String, topic: String, payload: [UInt8], pushType: PushType = .alert, priority: Priority? = nil,
        expiration: Campaign.Expiration? = nil, collapseID: String? = nil, messageID: String? = nil
    ) {
        (self.deviceToken, self.topic, self.payload, self.pushType) = (deviceToken, topic, payload, pushType)
        (self.priority, self.expiration) = (priority, expiration)
        (self.collapseID, self.messageID) = (collapseID, messageID)
    }

    /// Creates a notification of a payload given as a text.
    public init(
        deviceToken: String, topic: String, payload: String, pushType: PushType = .alert, priority: Priority? = nil,
        expiration: Campaign.Expiration? = nil, collapseID: String? = nil, messageID: String? = nil
    ) {
        self.init(
            deviceToken: deviceToken, topic: topic, payload: Array(payload.utf8), pushType: pushType,
            priority: priority,
            expiration: expiration, collapseID: collapseID, messageID: messageID)
    }
}
