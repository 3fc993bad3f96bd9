/// What a check answers by itself. The number is the answer's place in the table of prepared answers.
///
/// Status and reason are those of Apple's table of responses ("Handling notification responses from APNs").
enum FixedAnswer: UInt8, CaseIterable {
    case accepted
    case created
    case noContent
    case badChannelID
    case badCollapseID
    case badDeviceToken
    case badExpirationDate
    case badMessageID
    case badPriority
    case badRequestParams
    case badRequestPayload
    case badTopic
    case cannotCreateChannelConfig
    case channelNotRegistered
    case deviceTokenNotForTopic
    case duplicateHeaders
    case featureNotEnabled
    case invalidPushType
    case missingChannelID
    case missingDeviceToken
    case missingPushType
    case missingTopic
    case payloadEmpty
    case topicDisallowed
    case badCertificateEnvironment
    case badEnvironmentKeyIDInToken
    case expiredProviderToken
    case invalidProviderToken
    case missingProviderToken
    case topicMismatch
    case unrelatedKeyIDInToken
    case badPath
    case methodNotAllowed
    case payloadTooLarge
    case tooManyProviderTokenUpdates

    /// The HTTP status.
    var status: UInt16 {
        switch self {
        case .accepted: 200
        case .created: 201
        case .noContent: 204
        case .badCertificateEnvironment, .badEnvironmentKeyIDInToken, .expiredProviderToken, .invalidProviderToken,
            .missingProviderToken, .topicMismatch, .unrelatedKeyIDInToken:
            403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates: 429
        default: 400
        }
    }

    /// The reason in the answer's body; empty for those that are none.
    var reason: String {
        switch self {
        case .accepted, .created, .noContent: ""
        case .badChannelID: "BadChannelId"
        case .badCollapseID: "BadCollapseId"
        case .badDeviceToken: "BadDeviceToken"
        case .badExpirationDate: "BadExpirationDate"
        case .badMessageID: "BadMessageId"
        case .badPriority: "BadPriority"
        case .badRequestParams: "BadRequestParams"
        case .badRequestPayload: "BadRequestPayload"
        case .badTopic: "BadTopic"
        case .cannotCreateChannelConfig: "CannotCreateChannelConfig"
        case .channelNotRegistered: "ChannelNotRegistered"
        case .deviceTokenNotForTopic: "DeviceTokenNotForTopic"
        case .duplicateHeaders: "DuplicateHeaders"
        case .featureNotEnabled: "FeatureNotEnabled"
        case .invalidPushType: "InvalidPushType"
        case .missingChannelID: "MissingChannelId"
        case .missingPushType: "MissingPushType"
        case .missingDeviceToken: "MissingDeviceToken"
        case .missingTopic: "MissingTopic"
        case .payloadEmpty: "PayloadEmpty"
        case .topicDisallowed: "TopicDisallowed"
        case .badCertificateEnvironment: "BadCertificateEnvironment"
        case .badEnvironmentKeyIDInToken: "BadEnvironmentKeyIdInToken"
        case .expiredProviderToken: "ExpiredProviderToken"
        case .invalidProviderToken: "InvalidProviderToken"
        case .missingProviderToken: "MissingProviderToken"
        case .topicMismatch: "TopicMismatch"
        case .unrelatedKeyIDInToken: "UnrelatedKeyIdInToken"
        case .badPath: "BadPath"
        case .methodNotAllowed: "MethodNotAllowed"
        case .payloadTooLarge: "PayloadTooLarge"
        case .tooManyProviderTokenUpdates: "TooManyProviderTokenUpdates"
        }
    }
}
