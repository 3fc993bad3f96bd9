/// What to do after an answer with a reason: one row of the table of answers.
///
/// Source of status and reason: Apple, "Handling notification responses from APNs", and for broadcasts and channels
/// "Handling error responses from Apple Push Notification service". The actions are decisions of this project.
package struct AnswerRule: Sendable {
    /// The requests that get this answer.
    package enum Scope: Equatable, Sendable {
        /// All requests, pushes to devices in particular.
        case device
        /// Broadcasts and channel management only.
        case channels
    }

    package let reason: KnownReason
    /// The reason as APNs writes it.
    package let text: String
    /// The status of answers with this reason.
    package let status: UInt16
    package let action: AnswerAction
    package let alarm: AnswerAlarm?
    package let scope: Scope
    /// The meaning of the reason, for the documentation and the report.
    package let note: String

    private init(
        _ reason: KnownReason, _ text: String, _ status: UInt16, _ action: AnswerAction, alarm: AnswerAlarm? = nil,
        scope: Scope = .device, note: String
    ) {
        self.reason = reason
        self.text = text
        self.status = status
        self.action = action
        self.alarm = alarm
        self.scope = scope
        self.note = note
    }
}

extension AnswerRule {
    /// The table, in the order of ``KnownReason``.
    package static let all = [
        // Pushes to devices.
        AnswerRule(
            .badDeviceToken, "BadDeviceToken", 400, .rejected(.quarantine), alarm: .wrongEnvironment,
            note: "the token is invalid, or belongs to the other environment"),
        AnswerRule(
            .deviceTokenNotForTopic, "DeviceTokenNotForTopic", 400, .rejected(.none), alarm: .wrongTopic,
            note: "the token belongs to another app"),
        AnswerRule(
            .badCollapseId, "BadCollapseId", 400, .rejected(.none), alarm: .everyRow,
            note: "collapse id longer than 64 bytes"),
        AnswerRule(
            .badExpirationDate, "BadExpirationDate", 400, .rejected(.none), alarm: .everyRow,
            note: "apns-expiration is not a time"),
        AnswerRule(
            .badMessageId, "BadMessageId", 400, .rejected(.none), alarm: .everyRow,
            note: "apns-id is not a UUID"),
        AnswerRule(
            .badPriority, "BadPriority", 400, .rejected(.none), alarm: .everyRow,
            note: "apns-priority is not 1, 5 or 10"),
        AnswerRule(
            .invalidPushType, "InvalidPushType", 400, .rejected(.none), alarm: .everyRow,
            note: "apns-push-type is unknown"),
        AnswerRule(.payloadEmpty, "PayloadEmpty", 400, .rejected(.none), alarm: .everyRow, note: "no payload"),
        AnswerRule(
            .duplicateHeaders, "DuplicateHeaders", 400, .rejected(.none), alarm: .everyRow,
            note: "a header was sent twice"),
        AnswerRule(
            .missingDeviceToken, "MissingDeviceToken", 400, .rejected(.none), alarm: .everyRow,
            note: "no token in the path"),
        AnswerRule(.badTopic, "BadTopic", 400, .stop, note: "apns-topic is invalid"),
        AnswerRule(
            .missingTopic, "MissingTopic", 400, .stop,
            note: "no apns-topic, and the certificate names several"),
        AnswerRule(.topicDisallowed, "TopicDisallowed", 400, .stop, note: "pushing to this topic is not allowed"),
        AnswerRule(
            .idleTimeout, "IdleTimeout", 400, .retry(Retry(after: .none, connection: .replace)),
            note: "the connection had been idle"),
        AnswerRule(
            .expiredProviderToken, "ExpiredProviderToken", 403,
            .retry(Retry(after: .none, connection: .replace, token: .renew, limit: .stop(after: 2))),
            note: "the provider token is older than an hour, or a clock is wrong"),
        AnswerRule(
            .invalidProviderToken, "InvalidProviderToken", 403, .stop,
            note: "the provider token is invalid or its signature cannot be verified"),
        AnswerRule(
            .missingProviderToken, "MissingProviderToken", 403, .stop,
            note: "neither provider token nor client certificate"),
        AnswerRule(.badCertificate, "BadCertificate", 403, .stop, note: "the client certificate is invalid"),
        AnswerRule(
            .badCertificateEnvironment, "BadCertificateEnvironment", 403, .stop,
            note: "the client certificate is for the other environment"),
        AnswerRule(
            .badEnvironmentKeyIdInToken, "BadEnvironmentKeyIdInToken", 403, .stop,
            note: "the key is for the other environment"),
        AnswerRule(
            .badEnvironmentKeyInToken, "BadEnvironmentKeyInToken", 403, .stop,
            note: "the key is for the other environment (another name of the same reason)"),
        AnswerRule(.forbidden, "Forbidden", 403, .stop, note: "the action is not allowed"),
        AnswerRule(
            .unrelatedKeyIdInToken, "UnrelatedKeyIdInToken", 403,
            .retry(Retry(after: .none, connection: .replace, limit: .stop(after: 1))),
            note: "the key differs from that of the connection's first push"),
        AnswerRule(.badPath, "BadPath", 404, .stop, note: "APNs does not know the path; this is a bug in this program"),
        AnswerRule(
            .methodNotAllowed, "MethodNotAllowed", 405, .stop,
            note: "the method is not POST; this is a bug in this program"),
        AnswerRule(
            .unregistered, "Unregistered", 410, .rejected(.delete),
            note: "the token is no longer active for the topic since the timestamp"),
        AnswerRule(.expiredToken, "ExpiredToken", 410, .rejected(.delete), note: "the token has expired"),
        AnswerRule(
            .payloadTooLarge, "PayloadTooLarge", 413, .rejected(.none),
            note: "the payload is larger than the push type allows"),
        AnswerRule(
            .tooManyProviderTokenUpdates, "TooManyProviderTokenUpdates", 429,
            .retry(Retry(after: .short, token: .pause)),
            note: "provider token renewed more often than every 20 minutes"),
        AnswerRule(
            .tooManyRequests, "TooManyRequests", 429, .retry(Retry(after: .short)),
            note: "too many pushes in a row to this one device"),
        AnswerRule(
            .internalServerError, "InternalServerError", 500, .retry(Retry(after: .long)),
            note: "APNs failed"),
        AnswerRule(
            .serviceUnavailable, "ServiceUnavailable", 503, .retry(Retry(after: .long)),
            note: "APNs is not available"),
        AnswerRule(
            .serviceUnavailableSpaced, "Service Unavailable", 503, .retry(Retry(after: .long)),
            note: "APNs is not available (the same reason, as one page spells it)"),
        AnswerRule(
            .shutdown, "Shutdown", 503, .retry(Retry(after: .short, connection: .replace)),
            note: "APNs is shutting down this server"),
        // Broadcasts and channel management.
        AnswerRule(
            .featureNotEnabled, "FeatureNotEnabled", 400, .stop, scope: .channels,
            note: "broadcast is not enabled for the app"),
        AnswerRule(
            .missingChannelId, "MissingChannelId", 400, .rejected(.none), alarm: .everyRow, scope: .channels,
            note: "no apns-channel-id"),
        AnswerRule(
            .badChannelId, "BadChannelId", 400, .rejected(.none), alarm: .everyRow, scope: .channels,
            note: "apns-channel-id is invalid"),
        AnswerRule(
            .channelNotRegistered, "ChannelNotRegistered", 400, .rejected(.none), alarm: .everyRow, scope: .channels,
            note: "the channel does not exist"),
        AnswerRule(
            .badRequestParams, "BadRequestParams", 400, .rejected(.none), alarm: .everyRow, scope: .channels,
            note: "a parameter of the request is invalid"),
        AnswerRule(
            .badRequestPayload, "BadRequestPayload", 400, .rejected(.none), alarm: .everyRow, scope: .channels,
            note: "the body is invalid"),
        AnswerRule(
            .missingPushType, "MissingPushType", 400, .rejected(.none), alarm: .everyRow, scope: .channels,
            note: "no push type"),
        AnswerRule(
            .cannotCreateChannelConfig, "CannotCreateChannelConfig", 400, .stop, scope: .channels,
            note: "the app has its 10,000 channels already"),
        AnswerRule(
            .topicMismatch, "TopicMismatch", 403, .stop, scope: .channels,
            note: "the topic is not the certificate's or the key's"),
    ]
}

/// What to do after an answer without a known reason: one row of the table of status classes.
///
/// Source: RFC 9110 section 15, and for 429 RFC 6585 section 4.
package struct StatusRule: Sendable {
    package let statuses: ClosedRange<UInt16>
    package let action: AnswerAction
    /// The meaning of the status, for the documentation.
    package let note: String

    /// The table. The first row that matches applies.
    package static let all = [
        StatusRule(statuses: 200...200, action: .accepted, note: "the push was accepted"),
        StatusRule(
            statuses: 410...410, action: .rejected(.quarantine),
            note: "the token is no longer valid, for an unknown reason"),
        StatusRule(
            statuses: 429...429, action: .retry(Retry(after: .short)), note: "too many requests: send again more slowly"
        ),
        StatusRule(statuses: 500...599, action: .retry(Retry(after: .long)), note: "the server failed: send again"),
        StatusRule(
            statuses: 0...UInt16.max, action: .rejected(.none),
            note: "4xx is final; APNs documents no other status"),
    ]

    static func action(for status: UInt16) -> AnswerAction {
        for rule in all where rule.statuses.contains(status) { return rule.action }
        return .rejected(.none)
    }
}
