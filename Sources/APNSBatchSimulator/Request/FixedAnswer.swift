/// An answer that a check gives. The raw value is its index in the table of prepared answers.
///
/// Status and reason are those of Apple's table of responses ("Handling notification responses from APNs").
enum FixedAnswer: UInt8, CaseIterable, Error {
    case accepted, created, noContent
    // 400
    case badChannelID, badCollapseID, badDeviceToken, badExpirationDate, badMessageID, badPriority, badRequestParams
    case badRequestPayload, badTopic, cannotCreateChannelConfig, channelNotRegistered, deviceTokenNotForTopic
    case duplicateHeaders, featureNotEnabled, invalidPushType, missingChannelID, missingDeviceToken, missingPushType
    case missingTopic, payloadEmpty, topicDisallowed
    // 403
    case badCertificateEnvironment, badEnvironmentKeyIDInToken, expiredProviderToken, invalidProviderToken
    case missingProviderToken, topicMismatch, unrelatedKeyIDInToken
    // 404 to 429
    case badPath, methodNotAllowed, payloadTooLarge, tooManyProviderTokenUpdates

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

    /// The reason in the answer's body: the case's name as Apple writes it, with a capital letter and `Id` for `ID`. Empty
    /// for those that are no refusal.
    var reason: String {
        guard status >= 300 else { return "" }
        let name = "\(self)".replacing("ID", with: "Id")
        return name.prefix(1).uppercased() + name.dropFirst()
    }
}
