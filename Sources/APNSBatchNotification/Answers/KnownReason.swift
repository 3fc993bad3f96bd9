/// The reasons that Apple documents, and two more that are seen. Their numbers stand in ledgers: new ones come last.
///
/// What to do about each is in ``AnswerRule``.
package enum KnownReason: UInt8, CaseIterable, Sendable {
    case badDeviceToken
    case deviceTokenNotForTopic
    case badCollapseId
    case badExpirationDate
    case badMessageId
    case badPriority
    case invalidPushType
    case payloadEmpty
    case duplicateHeaders
    case missingDeviceToken
    case badTopic
    case missingTopic
    case topicDisallowed
    case idleTimeout
    case expiredProviderToken
    case invalidProviderToken
    case missingProviderToken
    case badCertificate
    case badCertificateEnvironment
    case badEnvironmentKeyIdInToken
    case badEnvironmentKeyInToken
    case forbidden
    case unrelatedKeyIdInToken
    case badPath
    case methodNotAllowed
    case unregistered
    case expiredToken
    case payloadTooLarge
    case tooManyProviderTokenUpdates
    case tooManyRequests
    case internalServerError
    case serviceUnavailable
    case serviceUnavailableSpaced
    case shutdown
    case featureNotEnabled
    case missingChannelId
    case badChannelId
    case channelNotRegistered
    case badRequestParams
    case badRequestPayload
    case missingPushType
    case cannotCreateChannelConfig
    case topicMismatch
}
