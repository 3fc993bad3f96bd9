import CTransport

/// Judges whole requests, in this order: path, method, repeated fields, provider token, message id, device token,
/// topic, push type, the two together, priority, expiration, collapse id, payload. The first fault is the answer. Apple
/// documents the answers, not their order.
struct RequestCheck: ~Copyable {
    private var providerTokens: ProviderTokenCheck
    private let topics: TopicList
    private let payloads = PayloadCheck()

    init(keys: [ProviderKey], limits: ProviderTokenLimits, topics: [String]?) {
        providerTokens = ProviderTokenCheck(keys: keys, limits: limits)
        self.topics = TopicList(topics)
    }

    /// - Parameters:
    ///   - fields: all header fields of the request.
    ///   - body: what was kept of the body; at least the first 5,120 bytes.
    ///   - bodyTotal: how many bytes the client sent.
    ///   - connection: what is remembered of the connection's provider token; updated.
    ///   - now: milliseconds since the epoch.
    mutating func judge(
        fields: UnsafeBufferPointer<transport_field>, body: Bytes, bodyTotal: Int, on connection: inout ConnectionToken,
        now: Int64
    ) -> Verdict {
        let request = RequestFields(fields)
        var verdict = Verdict()
        let route = Self.route(request.path)
        if let token = route.token, FieldForm.isDeviceToken(token) {
            verdict.deviceToken = token
        }
        if let id = request.id, FieldForm.isMessageID(id) {
            verdict.messageID = id
        }
        guard route.isKnown else { return verdict.with(.badPath) }
        guard let method = request.method, method.equals("POST") else { return verdict.with(.methodNotAllowed) }
        guard !request.repeated else { return verdict.with(.duplicateHeaders) }
        let authority = providerTokens.answer(request.authorization, on: &connection, now: now)
        guard authority == .accepted else { return verdict.with(authority) }
        verdict.isAuthorized = true
        if request.id != nil, verdict.messageID == nil {
            return verdict.with(.badMessageID)
        }
        guard route.token != nil else { return verdict.with(.missingDeviceToken) }
        guard verdict.deviceToken != nil else { return verdict.with(.badDeviceToken) }
        verdict.answer = answer(request, body, bodyTotal, &verdict.facts)
        return verdict
    }

    /// Header fields about the push, then the payload.
    private func answer(
        _ request: RequestFields, _ body: Bytes, _ bodyTotal: Int, _ facts: inout PayloadFacts
    ) -> FixedAnswer {
        guard let topic = request.topic, topic.count > 0 else { return .missingTopic }
        guard FieldForm.isTopic(topic) else { return .badTopic }
        guard let name = request.pushType, let type = PushType(name) else { return .invalidPushType }
        let judgement = topics.answer(topic, type)
        guard judgement == .accepted else { return judgement }
        guard Self.isPriority(request.priority, for: type) else { return .badPriority }
        if let expiration = request.expiration, !FieldForm.isExpiration(expiration) {
            return .badExpirationDate
        }
        if let collapseID = request.collapseID, collapseID.count > 64 {
            return .badCollapseID
        }
        return payloads.answer(body, total: bodyTotal, type: type, facts: &facts)
    }

    /// `/3/device/` and a token. An empty token is one that is missing; a path with more parts is none of ours.
    private static func route(_ path: Bytes?) -> Route {
        guard let path, path.begins(with: "/3/device") else { return Route(isKnown: false) }
        let rest = path.dropping(9)
        guard rest.count > 1 else { return Route(isKnown: rest.count == 0 || rest[0] == UInt8(ascii: "/")) }
        guard rest[0] == UInt8(ascii: "/") else { return Route(isKnown: false) }
        let token = rest.dropping(1)
        guard !token.contains(UInt8(ascii: "/")) else { return Route(isKnown: false) }
        return Route(isKnown: true, token: token)
    }

    /// 10, 5 or 1; without the field 10 is meant. Background takes 5 only.
    private static func isPriority(_ value: Bytes?, for type: PushType) -> Bool {
        guard let value else { return type != .background }
        if type == .background {
            return value.equals("5")
        }
        return value.equals("10") || value.equals("5") || value.equals("1")
    }
}

/// Where a path leads.
private struct Route {
    var isKnown: Bool
    /// Nil when it is missing.
    var token: Bytes?
}

/// The judgement of one request. Slices are borrowed from the transport like the request itself.
struct Verdict {
    var answer: FixedAnswer = .accepted
    /// The device token, where the path has one of the right form, whatever the answer.
    var deviceToken: Bytes?
    /// The request's `apns-id`, where it has the right form.
    var messageID: Bytes?
    /// Whether the provider token was accepted.
    var isAuthorized = false
    var facts: PayloadFacts = []

    @inline(__always)
    func with(_ answer: FixedAnswer) -> Verdict {
        var verdict = self
        verdict.answer = answer
        return verdict
    }
}
