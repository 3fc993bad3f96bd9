import APNSBatchBasics

/// Checks and executes channel requests, and checks broadcasts, after path, method and credentials were accepted.
///
/// Source: Apple, "Sending channel management requests to APNs" and "Sending broadcast push notification requests to
/// APNs". Order of judgement: the app, `apns-request-id`, `apns-channel-id`, then the rest of the header, then the body.
struct ChannelDesk: ~Copyable {
    private let settings: ChannelSettings
    private var table: ChannelTable

    init(_ settings: ChannelSettings) {
        self.settings = settings
        table = ChannelTable(maximum: settings.maximum, seed: settings.seed)
    }

    var count: Int { table.count }

    /// Judges a broadcast. The channel's id is in `accepted` ones.
    mutating func broadcast(
        _ request: RequestFields, app: Bytes, body: Bytes, total: Int, facts: inout PayloadFacts
    ) -> FixedAnswer {
        let app = unsafe String(decoding: app, as: UTF8.self)
        if let fault = fault(request, app) { return fault }
        guard let id = unsafe request.channelID, id.count > 0 else { return .missingChannelID }
        guard unsafe Self.isChannelID(id) else { return .badChannelID }
        let known = unsafe table.channel(String(decoding: id, as: UTF8.self), of: app)
        guard let channel = known ?? (settings.knowsAll ? Channel(storesLast: true) : nil) else {
            return .channelNotRegistered
        }
        if let fault = Self.headerFault(request, channel) { return fault }
        return unsafe PayloadCheck.answer(body, total: total, broadcast: &facts)
    }

    /// Counts a broadcast that passed every check. Returns how many did before on the same channel.
    mutating func pass(_ id: Bytes, app: Bytes) -> UInt32 {
        unsafe table.pass(String(decoding: id, as: UTF8.self), of: String(decoding: app, as: UTF8.self))
    }

    /// Creates, reads or removes a channel, depending on the method.
    mutating func manage(
        _ request: RequestFields, app: Bytes, body: Bytes, total: Int, reply: inout ChannelReply
    ) -> FixedAnswer {
        let app = unsafe String(decoding: app, as: UTF8.self)
        if let fault = fault(request, app) { return fault }
        if let method = unsafe request.method, unsafe method.equals("POST") {
            return unsafe create(app: app, body: body, total: total, reply: &reply)
        }
        guard let id = unsafe request.channelID, id.count > 0 else { return .missingChannelID }
        guard unsafe Self.isChannelID(id) else { return .badChannelID }
        let name = unsafe String(decoding: id, as: UTF8.self)
        guard let channel = table.channel(name, of: app) else { return .channelNotRegistered }
        if let method = unsafe request.method, unsafe method.equals("DELETE") {
            return table.remove(name, of: app) ? .noContent : .channelNotRegistered
        }
        let text = #"{"message-storage-policy":\#(channel.storesLast ? 1 : 0),"push-type":"LiveActivity"}"#
        reply.body = Array(text.utf8)
        return .accepted
    }

    mutating func list(_ request: RequestFields, app: Bytes, reply: inout ChannelReply) -> FixedAnswer {
        let app = unsafe String(decoding: app, as: UTF8.self)
        if let fault = fault(request, app) { return fault }
        let ids = table.ids(of: app).map { "\"\($0)\"" }.joined(separator: ",")
        reply.body = Array(#"{"channels":[\#(ids)]}"#.utf8)
        return .accepted
    }

    private mutating func create(app: String, body: Bytes, total: Int, reply: inout ChannelReply) -> FixedAnswer {
        switch unsafe ChannelRequestBody.read(body, total: total) {
        case .failure(let fault): return fault
        case .success(let storesLast):
            guard let id = table.create(app: app, storesLast: storesLast) else { return .cannotCreateChannelConfig }
            reply.channelID = Array(id.utf8)
            return .created
        }
    }

    /// Checks the requirements common to these endpoints.
    private func fault(_ request: RequestFields, _ app: String) -> FixedAnswer? {
        if let apps = settings.apps, !apps.contains(app) { return .featureNotEnabled }
        if let id = unsafe request.requestID, unsafe !FieldForm.isMessageID(id) { return .badRequestParams }
        return nil
    }

    /// The header of a broadcast. One kind of push only, no topic (the path names the app), and no storing where the
    /// channel stores nothing.
    private static func headerFault(_ request: RequestFields, _ channel: Channel) -> FixedAnswer? {
        guard unsafe request.topic == nil else { return .badTopic }
        guard let type = unsafe request.pushType else { return .missingPushType }
        guard unsafe type.equals("liveactivity") else { return .invalidPushType }
        if let priority = unsafe request.priority {
            guard unsafe priority.equals("10") || priority.equals("5") || priority.equals("1") else {
                return .badPriority
            }
        }
        if let expiration = unsafe request.expiration {
            guard unsafe FieldForm.isExpiration(expiration) else { return .badExpirationDate }
            guard unsafe channel.storesLast || expiration.allSatisfy({ $0 == UInt8(ascii: "0") }) else {
                return .badExpirationDate
            }
        }
        return nil
    }

    /// At most 64 characters of base64; the channels that APNs makes have 24.
    private static func isChannelID(_ text: Bytes) -> Bool {
        unsafe text.count <= 64 && text.count > 0 && Base64.decode(Array(text)) != nil
    }
}

/// The settings of the endpoints for broadcasts and channels.
struct ChannelSettings {
    /// Apps that may broadcast; nil for all.
    var apps: [String]?
    /// The most channels of one app.
    var maximum = 10_000
    /// Takes every id of the right form for a channel that was made before and stores the last message.
    var knowsAll = false
    /// The seed of the channel ids.
    var seed: UInt64 = 0
}

/// The parts of an answer of these endpoints besides status and reason.
struct ChannelReply: Equatable {
    /// The body, where it is not the reason's.
    var body: [UInt8] = []
    /// The value of `apns-channel-id`; empty for none.
    var channelID: [UInt8] = []
}
