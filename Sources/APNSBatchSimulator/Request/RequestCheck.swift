import CAPNSTransport

/// Judges whole requests, in this order: path, method, repeated fields, credentials, message id, device token, topic,
/// push type, the two together, priority, expiration, collapse id, payload. The first fault is the answer. Apple
/// documents the answers, not their order.
///
/// On a connection with a client certificate `authorization` is not looked at; without one a provider token is asked
/// for.
struct RequestCheck: ~Copyable {
    private(set) var providerTokens: ProviderTokenCheck
    /// The topic lists, first of the provider keys, then of the client certificates.
    private var topics: [TopicList]
    /// The numbers of the certificates' topic lists, by the subject's UID.
    private var certificates: [String: Int32] = [:]
    private let certificateAnswer: FixedAnswer
    var channels: ChannelDesk
    /// The additional fields of the answer to the last request about channels.
    private(set) var reply = ChannelReply()

    /// - Parameters:
    ///   - topics: of the keys that have none of their own; nil for any.
    ///   - certificateAnswer: what is said to client certificates; accepted, unless they are of a wrong environment.
    init(
        keys: [ProviderKey], limits: ProviderTokenLimits, topics: [String]?, channels: ChannelSettings = .init(),
        certificateAnswer: FixedAnswer = .accepted
    ) {
        providerTokens = ProviderTokenCheck(keys: keys, limits: limits)
        self.topics = keys.map { TopicList($0.topics ?? topics) }
        self.channels = ChannelDesk(channels)
        self.certificateAnswer = certificateAnswer
    }

    /// The number of the list of a certificate; such a one may push to the app that it is made out to.
    mutating func certificate(uid: String) -> Int32 {
        if let number = certificates[uid] { return number }
        topics.append(TopicList([uid]))
        certificates[uid] = Int32(topics.count - 1)
        return Int32(topics.count - 1)
    }

    /// - Parameters:
    ///   - fields: all header fields of the request.
    ///   - body: what was kept of the body; at least the first 5,120 bytes.
    ///   - bodyTotal: how many bytes the client sent.
    ///   - connection: what is remembered of who sends on the connection; updated.
    ///   - now: milliseconds since the epoch.
    mutating func judge(
        fields: UnsafeBufferPointer<apns_transport_field>, body: Bytes, bodyTotal: Int,
        on connection: inout ConnectionIdentity, now: Int64
    ) -> Verdict {
        let request = unsafe RequestFields(fields)
        let endpoint = unsafe Endpoint(path: request.path)
        var verdict = Self.identified(request, endpoint)
        let service = endpoint.service
        guard !service.isEmpty, connection.services.contains(service) else { return verdict.with(.badPath) }
        guard unsafe endpoint.takes(request.method) else { return verdict.with(.methodNotAllowed) }
        guard !request.repeated else { return verdict.with(.duplicateHeaders) }
        let authority =
            unsafe connection.certificate < 0
            ? providerTokens.answer(request.authorization, on: &connection, now: now) : certificateAnswer
        guard authority == .accepted else { return verdict.with(authority) }
        verdict.isAuthorized = true
        guard case .device(let token) = endpoint else {
            verdict.answer = unsafe channelAnswer(endpoint, request, body, bodyTotal, connection.list, &verdict)
            return verdict
        }
        if unsafe request.id != nil, unsafe verdict.messageID == nil { return verdict.with(.badMessageID) }
        guard unsafe token != nil else { return verdict.with(.missingDeviceToken) }
        guard unsafe verdict.deviceToken != nil else { return verdict.with(.badDeviceToken) }
        verdict.answer = unsafe answer(request, body, bodyTotal, connection, &verdict.facts)
        return verdict
    }

    /// A verdict that knows the request's token and id, as far as they have the right form.
    @inline(__always)
    private static func identified(_ request: RequestFields, _ endpoint: Endpoint) -> Verdict {
        var verdict = Verdict()
        var id = unsafe request.id
        switch endpoint {
        case .device(let token):
            if let token = unsafe token, unsafe FieldForm.isDeviceToken(token) {
                unsafe verdict.deviceToken = unsafe token
            }
        case .broadcast, .channels, .allChannels:
            verdict.isAboutChannels = true
            unsafe id = unsafe request.requestID
        case .unknown: break
        }
        if let id = unsafe id, unsafe FieldForm.isMessageID(id) { unsafe verdict.messageID = unsafe id }
        return verdict
    }

    /// Checks requests other than pushes to devices.
    @inline(never)
    private mutating func channelAnswer(
        _ endpoint: Endpoint, _ request: RequestFields, _ body: Bytes, _ total: Int, _ list: Int32,
        _ verdict: inout Verdict
    ) -> FixedAnswer {
        reply = ChannelReply()
        switch endpoint {
        case .broadcast(let app):
            guard unsafe topics[Int(list)].holds(app) else { return .topicMismatch }
            let answer = unsafe channels.broadcast(request, app: app, body: body, total: total, facts: &verdict.facts)
            if answer == .accepted { unsafe verdict.broadcast = unsafe (request.channelID ?? app, app) }
            return answer
        case .channels(let app):
            guard unsafe topics[Int(list)].holds(app) else { return .topicMismatch }
            return unsafe channels.manage(request, app: app, body: body, total: total, reply: &reply)
        case .allChannels(let app):
            guard unsafe topics[Int(list)].holds(app) else { return .topicMismatch }
            return unsafe channels.list(request, app: app, reply: &reply)
        case .device, .unknown: return .badPath
        }
    }

    /// Header fields about the push, then the payload.
    private func answer(
        _ request: RequestFields, _ body: Bytes, _ bodyTotal: Int, _ connection: ConnectionIdentity,
        _ facts: inout PayloadFacts
    ) -> FixedAnswer {
        guard let topic = unsafe request.topic, topic.count > 0 else { return .missingTopic }
        guard unsafe FieldForm.isTopic(topic) else { return .badTopic }
        guard let name = unsafe request.pushType, let type = unsafe PushType(name) else { return .invalidPushType }
        let judgement = unsafe topics[Int(connection.list)].answer(topic, type)
        guard judgement == .accepted else { return judgement }
        // Those about locations and file providers take token authentication only.
        guard (type != .location && type != .fileprovider) || connection.certificate < 0 else {
            return .topicDisallowed
        }
        guard unsafe Self.isPriority(request.priority, for: type) else { return .badPriority }
        if let expiration = unsafe request.expiration, unsafe !FieldForm.isExpiration(expiration) {
            return .badExpirationDate
        }
        if let collapseID = unsafe request.collapseID, collapseID.count > 64 { return .badCollapseID }
        return unsafe PayloadCheck.answer(body, total: bodyTotal, type: type, facts: &facts)
    }

    /// 10, 5 or 1; without the field 10 is meant. Background takes 5 only.
    private static func isPriority(_ value: Bytes?, for type: PushType) -> Bool {
        guard let value = unsafe value else { return type != .background }
        if type == .background { return unsafe value.equals("5") }
        return unsafe value.equals("10") || value.equals("5") || value.equals("1")
    }
}

/// The result of the check of a request. Slices are borrowed from the transport like the request itself.
@safe struct Verdict {
    var answer: FixedAnswer = .accepted
    /// The device token, where the path has one of the right form, whatever the answer.
    var deviceToken: Bytes?
    /// The request's `apns-id`, or `apns-request-id` where that is the endpoint's, if it has the right form.
    var messageID: Bytes?
    /// Channel and app of a broadcast that passed every check.
    var broadcast: (channel: Bytes, app: Bytes)?
    /// Whether the credentials were accepted.
    var isAuthorized = false
    /// Whether it was a broadcast or a request about channels.
    var isAboutChannels = false
    var facts: PayloadFacts = []

    @inline(__always)
    func with(_ answer: FixedAnswer) -> Verdict {
        var verdict = self
        verdict.answer = answer
        return verdict
    }
}
