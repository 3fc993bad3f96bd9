extension KnownReason {
    /// What somebody can do about it, as a sentence without a full stop; nil where nobody can do more than wait.
    package var remedy: String? {
        switch self {
        case .badDeviceToken:
            "check that the token is whole and of this environment: sandbox tokens come from debug builds"
        case .deviceTokenNotForTopic: "give the topic of the app that got this token"
        case .badTopic, .missingTopic: "give the app's bundle id as topic; the push type's suffix is added"
        case .topicDisallowed: "use a key or certificate of the team that owns the topic, and one that may push to it"
        case .expiredProviderToken: "set this machine's clock"
        case .invalidProviderToken:
            "check that key id and team id belong to the key file, and that the key is not revoked in the account"
        case .missingProviderToken: "give a signing key with its key id and team id, or a client certificate"
        case .badCertificate: "get a new certificate from the developer account"
        case .badCertificateEnvironment: "use a certificate of this environment, or the other environment"
        case .badEnvironmentKeyIdInToken, .badEnvironmentKeyInToken:
            "use a key of this environment, or the other environment: keys may be restricted to one"
        case .badPath: "check host and port: channels are managed on hosts and ports of their own"
        case .forbidden: "see in the developer account what the key may do"
        case .unrelatedKeyIdInToken: "send with one key and one team on a connection"
        case .unregistered, .expiredToken: "delete the token; the app sends a new one when it is opened"
        case .tooManyProviderTokenUpdates: "keep a provider token for at least 20 minutes"
        case .tooManyRequests: "send less often to this device"
        case .featureNotEnabled: "enable broadcast for the app in the developer account, under its push notifications"
        case .missingChannelId, .badChannelId: "give the channel's id as APNs gave it, in base64"
        case .channelNotRegistered: "list the app's channels; the channel may be of the other environment or deleted"
        case .cannotCreateChannelConfig: "delete channels that are not used any more"
        case .topicMismatch: "use a key or certificate of the team that owns the app"
        case .internalServerError, .serviceUnavailable, .serviceUnavailableSpaced, .shutdown, .idleTimeout:
            "try again later; developer.apple.com/system-status says whether APNs is in trouble"
        default: nil
        }
    }
}
