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
    package let status: UInt16
    package let action: AnswerAction
    package let alarm: AnswerAlarm?
    package let scope: Scope
    /// The meaning of the reason, for the documentation and the report.
    package let note: String

    private init(
        _ reason: KnownReason, _ text: String, _ status: UInt16, _ action: AnswerAction, alarm: AnswerAlarm? = nil,
        scope: Scope = .device, _ note: String
    ) {
        (self.reason, self.text, self.status, self.action) = (reason, text, status, action)
        (self.alarm, self.scope, self.note) = (alarm, scope, note)
    }

    /// A final answer with status 400. If many rows get it, all have the same fault.
    private static func fault(
        _ reason: KnownReason, _ text: String, scope: Scope = .device, _ note: String
    ) -> AnswerRule {
        AnswerRule(reason, text, 400, .rejected(.none), alarm: .everyRow, scope: scope, note)
    }
}

extension AnswerRule {
    /// The table, in the order of ``KnownReason``.
    package static let all: [AnswerRule] = [
        // Pushes to devices.
        .init(
            .badDeviceToken, "BadDeviceToken", 400, .rejected(.quarantine), alarm: .wrongEnvironment,
            "the token is invalid, or belongs to the other environment"),
        .init(
            .deviceTokenNotForTopic, "DeviceTokenNotForTopic", 400, .rejected(.none), alarm: .wrongTopic,
            "the token belongs to another app"),
        .fault(.badCollapseId, "BadCollapseId", "collapse id longer than 64 bytes"),
        .fault(.badExpirationDate, "BadExpirationDate", "apns-expiration is not a time"),
        .fault(.badMessageId, "BadMessageId", "apns-id is not a UUID"),
        .fault(.badPriority, "BadPriority", "apns-priority is not 1, 5 or 10"),
        .fault(.invalidPushType, "InvalidPushType", "apns-push-type is unknown"),
        .fault(.payloadEmpty, "PayloadEmpty", "no payload"),
        .fault(.duplicateHeaders, "DuplicateHeaders", "a header was sent twice"),
        .fault(.missingDeviceToken, "MissingDeviceToken", "no token in the path"),
        .init(.badTopic, "BadTopic", 400, .stop, "apns-topic is invalid"),
        .init(.missingTopic, "MissingTopic", 400, .stop, "no apns-topic, and the certificate names several"),
        .init(.topicDisallowed, "TopicDisallowed", 400, .stop, "pushing to this topic is not allowed"),
        .init(
            .idleTimeout, "IdleTimeout", 400, .retry(Retry(after: .none, connection: .replace)),
            "the connection had been idle"),
        .init(
            .expiredProviderToken, "ExpiredProviderToken", 403,
            .retry(Retry(after: .none, connection: .replace, token: .renew, limit: .stop(after: 2))),
            "the provider token is older than an hour, or a clock is wrong"),
        .init(
            .invalidProviderToken, "InvalidProviderToken", 403, .stop,
            "the provider token is invalid or its signature cannot be verified"),
        .init(
            .missingProviderToken, "MissingProviderToken", 403, .stop, "neither provider token nor client certificate"),
        .init(.badCertificate, "BadCertificate", 403, .stop, "the client certificate is invalid"),
        .init(
            .badCertificateEnvironment, "BadCertificateEnvironment", 403, .stop,
            "the client certificate is for the other environment"),
        .init(
            .badEnvironmentKeyIdInToken, "BadEnvironmentKeyIdInToken", 403, .stop,
            "the key is for the other environment"),
        .init(
            .badEnvironmentKeyInToken, "BadEnvironmentKeyInToken", 403, .stop,
            "the key is for the other environment (another name of the same reason)"),
        .init(.forbidden, "Forbidden", 403, .stop, "the action is not allowed"),
        .init(
            .unrelatedKeyIdInToken, "UnrelatedKeyIdInToken", 403,
            .retry(Retry(after: .none, connection: .replace, limit: .stop(after: 1))),
            "the key differs from that of the connection's first push"),
        .init(.badPath, "BadPath", 404, .stop, "APNs has no such path; this is a bug in this program"),
        .init(
            .methodNotAllowed, "MethodNotAllowed", 405, .stop, "the method is not POST; this is a bug in this program"),
        .init(
            .unregistered, "Unregistered", 410, .rejected(.delete),
            "the token is no longer active for the topic since the timestamp"),
        .init(.expiredToken, "ExpiredToken", 410, .rejected(.delete), "the token has expired"),
        .init(
            .payloadTooLarge, "PayloadTooLarge", 413, .rejected(.none),
            "the payload is larger than the push type allows"),
        .init(
            .tooManyProviderTokenUpdates, "TooManyProviderTokenUpdates", 429,
            .retry(Retry(after: .short, connection: .replace, token: .pause)),
            "provider token renewed more often than every 20 minutes"),
        .init(
            .tooManyRequests, "TooManyRequests", 429, .retry(Retry(after: .short)),
            "too many pushes in a row to this one device"),
        .init(.internalServerError, "InternalServerError", 500, .retry(Retry(after: .long)), "APNs failed"),
        .init(.serviceUnavailable, "ServiceUnavailable", 503, .retry(Retry(after: .long)), "APNs is not available"),
        .init(
            .serviceUnavailableSpaced, "Service Unavailable", 503, .retry(Retry(after: .long)),
            "APNs is not available (the same reason, as one page spells it)"),
        .init(
            .shutdown, "Shutdown", 503, .retry(Retry(after: .short, connection: .replace)),
            "APNs is shutting down this server"),
        // Broadcasts and channel management.
        .init(
            .featureNotEnabled, "FeatureNotEnabled", 400, .stop, scope: .channels,
            "broadcast is not enabled for the app"),
        .fault(.missingChannelId, "MissingChannelId", scope: .channels, "no apns-channel-id"),
        .fault(.badChannelId, "BadChannelId", scope: .channels, "apns-channel-id is invalid"),
        .fault(.channelNotRegistered, "ChannelNotRegistered", scope: .channels, "the channel does not exist"),
        .fault(.badRequestParams, "BadRequestParams", scope: .channels, "a parameter of the request is invalid"),
        .fault(.badRequestPayload, "BadRequestPayload", scope: .channels, "the body is invalid"),
        .fault(.missingPushType, "MissingPushType", scope: .channels, "no push type"),
        .init(
            .cannotCreateChannelConfig, "CannotCreateChannelConfig", 400, .stop, scope: .channels,
            "the app has its 10,000 channels already"),
        .init(
            .topicMismatch, "TopicMismatch", 403, .stop, scope: .channels,
            "the topic is not the certificate's or the key's"),
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
