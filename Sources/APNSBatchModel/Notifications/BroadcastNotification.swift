/// One notification for all subscribers of a broadcast channel, as a `Sender` takes it. Apple, "Sending broadcast push
/// notification requests to APNs".
public struct BroadcastNotification: Sendable, Equatable {
    /// The id of the channel in base64, as APNs generated it.
    public var channelID: String
    /// The bundle id of the app.
    public var bundleID: String
    /// The JSON of the payload, in UTF-8, of a Live Activity. White space outside of strings is not sent.
    public var payload: [UInt8]
    /// Nil for APNs's default.
    public var priority: PushNotification.Priority?
    /// When the notification expires: `.at(0)` for channels that store nothing. A duration counts from the call that sends the
    /// notification.
    public var expiration: Campaign.Expiration

    /// Creates a notification of a payload given as bytes.
    public init(
        channelID: String, bundleID: String, payload: [UInt8], expiration: Campaign.Expiration,
        priority: PushNotification.Priority? = nil
    ) {
        (self.channelID, self.bundleID, self.payload) = (channelID, bundleID, payload)
        (self.expiration, self.priority) = (expiration, priority)
    }

    /// Creates a notification of a payload given as a text.
    public init(
        channelID: String, bundleID: String, payload: String, expiration: Campaign.Expiration,
        priority: PushNotification.Priority? = nil
    ) {
        self.init(
            channelID: channelID, bundleID: bundleID, payload: Array(payload.utf8), expiration: expiration,
            priority: priority)
    }
}
