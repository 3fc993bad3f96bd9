import CAPNSTransport

/// Checks whole requests. The order is path, method, repeated fields, credentials, message id, device token, topic,
/// push type, topic and push type together, priority, expiration, collapse id, payload. The first error determines the
/// answer. Apple documents the answers, but not their order.
///
/// `authorization` is ignored on a connection with a client certificate. On other connections a provider token is
/// required.
struct RequestCheck: ~Copyable {
    private(set) var providerTokens: ProviderTokenCheck
    /// The topic lists of the provider keys, followed by those of the client certificates.
    private var topics: [TopicList]
    /// The indexes of the certificates' topic lists, by the UID of the subject.
    private var certificates: [String: Int32] = [:]
    private let certificateAnswer: FixedAnswer
    var channels: ChannelDesk
    /// The additional fields of the answer to the last request about channels.
    private(set) var reply = ChannelReply()

    /// - Parameters:
    ///   - topics: the topics of keys that have no topics of their own; nil for any.
    ///   - certificateAnswer: the answer to client certificates, which is `accepted` unless their environment is wrong.
    init(
        keys: [ProviderKey], limits: ProviderTokenLimits, topics: [String]?, channels: ChannelSettings = .init(),
        certificateAnswer: FixedAnswer = .accepted
    ) {
        providerTokens = ProviderTokenCheck(keys: keys, limits: limits)
        self.topics = keys.map { TopicList($0.topics ?? topics) }
        self.channels = ChannelDesk(channels)
        self.certificateAnswer = certificateAnswer
    }

    /// Returns the index of a certificate's topic list. The certificate is valid for the app in its UID.
    mutating func certificate(uid: String) -> Int32 {
        if let number = certificates[uid] { return number }
        topics.append(TopicList([uid]))
        certificates[uid] = Int32(topics.count - 1)
        return Int32(topics.count - 1)
    }

    /// - Parameters:
    ///   - fields: all header fields of the request.
    ///   - body: the part of the body that was kept, which is at least the first 5,120 bytes.
    ///   - bodyTotal: the number of bytes that the client sent.
    ///   - connection: the credentials seen on the connection; updated.
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

    /// Returns a verdict with the request's token and id if they are well-formed.
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

    /// Checks the header fields of the push, and then the payload.
    private func answer(
        _ request: RequestFields, _ body: Bytes, _ bodyTotal: Int, _ connection: ConnectionIdentity,
        _ facts: inout PayloadFacts
    ) -> FixedAnswer {
        guard let topic = unsafe request.topic, topic.count > 0 else { return .missingTopic }
        guard unsafe FieldForm.isTopic(topic) else { return .badTopic }
        guard let name = unsafe request.pushType, let type = unsafe PushType(name) else { return .invalidPushType }
        let judgement = unsafe topics[Int(connection.list)].answer(topic, type)
        guard judgement == .accepted else { return judgement }
        // Pushes of the types location and fileprovider require a provider token.
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

    /// Returns whether the priority is 10, 5 or 1. A missing field means 10. Background pushes only allow 5.
    private static func isPriority(_ value: Bytes?, for type: PushType) -> Bool {
        guard let value = unsafe value else { return type != .background }
        if type == .background { return unsafe value.equals("5") }
        return unsafe value.equals("10") || value.equals("5") || value.equals("1")
    }
}

/// The result of checking a request. Slices are borrowed from the transport, like the request itself.
@safe struct Verdict {
    var answer: FixedAnswer = .accepted
    /// The device token if the path contains a well-formed one, with any answer.
    var deviceToken: Bytes?
    /// The request's `apns-id`, or its `apns-request-id` if the endpoint uses that, if it is well-formed.
    var messageID: Bytes?
    /// The channel and app of a broadcast that passed every check.
    var broadcast: (channel: Bytes, app: Bytes)?
    /// Whether the credentials were accepted.
    var isAuthorized = false
    /// Whether the request was a broadcast or was about channels.
    var isAboutChannels = false
    var facts: PayloadFacts = []

    @inline(__always)
    func with(_ answer: FixedAnswer) -> Verdict {
        var verdict = self
        verdict.answer = answer
        return verdict
    }
}
