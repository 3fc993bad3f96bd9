/// What a check answers by itself. The number is the answer's place in the table of prepared answers.
///
/// Status and reason are those of Apple's table of responses ("Handling notification responses from APNs").
enum FixedAnswer: UInt8, CaseIterable {
    case accepted
    case badCollapseID
    case badDeviceToken
    case badExpirationDate
    case badMessageID
    case badPriority
    case badRequestPayload
    case badTopic
    case deviceTokenNotForTopic
    case duplicateHeaders
    case invalidPushType
    case missingDeviceToken
    case missingTopic
    case payloadEmpty
    case topicDisallowed
    case expiredProviderToken
    case invalidProviderToken
    case missingProviderToken
    case badPath
    case methodNotAllowed
    case payloadTooLarge
    case tooManyProviderTokenUpdates

    /// The HTTP status.
    var status: UInt16 {
        switch self {
        case .accepted: 200
        case .expiredProviderToken, .invalidProviderToken, .missingProviderToken: 403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates: 429
        default: 400
        }
    }

    /// The reason in the answer's body; empty for 200, which has no body.
    var reason: String {
        switch self {
        case .accepted: ""
        case .badCollapseID: "BadCollapseId"
        case .badDeviceToken: "BadDeviceToken"
        case .badExpirationDate: "BadExpirationDate"
        case .badMessageID: "BadMessageId"
        case .badPriority: "BadPriority"
        case .badRequestPayload: "BadRequestPayload"
        case .badTopic: "BadTopic"
        case .deviceTokenNotForTopic: "DeviceTokenNotForTopic"
        case .duplicateHeaders: "DuplicateHeaders"
        case .invalidPushType: "InvalidPushType"
        case .missingDeviceToken: "MissingDeviceToken"
        case .missingTopic: "MissingTopic"
        case .payloadEmpty: "PayloadEmpty"
        case .topicDisallowed: "TopicDisallowed"
        case .expiredProviderToken: "ExpiredProviderToken"
        case .invalidProviderToken: "InvalidProviderToken"
        case .missingProviderToken: "MissingProviderToken"
        case .badPath: "BadPath"
        case .methodNotAllowed: "MethodNotAllowed"
        case .payloadTooLarge: "PayloadTooLarge"
        case .tooManyProviderTokenUpdates: "TooManyProviderTokenUpdates"
        }
    }
}
