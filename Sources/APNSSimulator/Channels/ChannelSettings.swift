/// What the endpoints of broadcasts and channels are configured with.
struct ChannelSettings {
    /// Apps that may broadcast; nil for all.
    var apps: [String]?
    /// The most channels of one app.
    var maximum = 10_000
    /// Takes every id of the right form for a channel that was made before and stores the last message.
    var knowsAll = false
    /// Where the ids come from.
    var seed: UInt64 = 0
}

/// What goes into an answer of these endpoints, beside status and reason.
struct ChannelReply: Equatable {
    /// The body, where it is not the reason's.
    var body: [UInt8] = []
    /// The value of `apns-channel-id`; empty for none.
    var channelID: [UInt8] = []
}
