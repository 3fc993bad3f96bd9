import APNSBatchBasics

/// The reason of a refusal. A reason that is not in the table is kept as text.
package enum Reason: Hashable, Sendable {
    case known(KnownReason)
    case unknown(String)
}

extension Reason: RawRepresentable, CustomStringConvertible {
    /// The reason as sent by APNs. It does not allocate for a known one.
    package var rawValue: String {
        switch self {
        case .known(let reason): AnswerRule.all[Int(reason.rawValue)].text
        case .unknown(let text): text
        }
    }

    /// The reason for messages. An unknown one is made printable, because a peer may send anything.
    package var description: String {
        switch self {
        case .known: rawValue
        case .unknown(let text): Printable.text(text)
        }
    }

    package init(rawValue: String) {
        var text = rawValue
        self = text.withUTF8 { unsafe Reason(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The maximum number of bytes kept of an unknown reason.
    package static let unknownLengthMax = 256

    /// Creates a reason from bytes. It does not allocate for a known one; invalid UTF-8 in an unknown one is replaced.
    package init(bytes: UnsafeRawBufferPointer) {
        if let known = unsafe KnownReason(bytes: bytes) {
            self = .known(known)
        } else {
            self = unsafe .unknown(String(decoding: bytes.prefix(Self.unknownLengthMax), as: UTF8.self))
        }
    }
}

/// The reasons that Apple documents, and two more that occur. Ledgers contain their raw values, so new ones are added at
/// the end.
///
/// ``AnswerRule`` determines what to do about each.
package enum KnownReason: UInt8, CaseIterable, Sendable {
    // 400
    case badDeviceToken, deviceTokenNotForTopic, badCollapseId, badExpirationDate, badMessageId, badPriority
    case invalidPushType, payloadEmpty, duplicateHeaders, missingDeviceToken, badTopic, missingTopic, topicDisallowed
    case idleTimeout
    // 403
    case expiredProviderToken, invalidProviderToken, missingProviderToken, badCertificate, badCertificateEnvironment
    case badEnvironmentKeyIdInToken, badEnvironmentKeyInToken, forbidden, unrelatedKeyIdInToken
    // 404 to 429
    case badPath, methodNotAllowed, unregistered, expiredToken, payloadTooLarge, tooManyProviderTokenUpdates
    case tooManyRequests
    // 500 and 503
    case internalServerError, serviceUnavailable, serviceUnavailableSpaced, shutdown
    // Broadcasts and channel management.
    case featureNotEnabled, missingChannelId, badChannelId, channelNotRegistered, badRequestParams, badRequestPayload
    case missingPushType, cannotCreateChannelConfig, topicMismatch
}

extension KnownReason {
    package var text: String { rule.text }

    package var rule: AnswerRule { AnswerRule.all[Int(rawValue)] }

    /// Creates the reason that is exactly these bytes. Complexity: O(n) for the hash, then one or a few comparisons.
    init?(bytes: UnsafeRawBufferPointer) {
        var slot = unsafe Self.slot(bytes)
        while Self.slots[slot] != Self.noReason {
            let rule = AnswerRule.all[Int(Self.slots[slot])]
            if unsafe rule.text.hasBytes(bytes) {
                self = rule.reason
                return
            }
            slot = (slot + 1) % Self.slotCount
        }
        return nil
    }

    /// More than twice the number of reasons, so that a search soon meets an empty slot.
    private static let slotCount = 128
    private static let noReason = UInt8.max

    /// An open-addressing hash table: each slot holds the raw value of a reason, or `noReason`.
    private static let slots: [UInt8] = {
        var slots = [UInt8](repeating: noReason, count: slotCount)
        for rule in AnswerRule.all {
            var text = rule.text
            var slot = text.withUTF8 { unsafe Self.slot(UnsafeRawBufferPointer($0)) }
            while slots[slot] != noReason { slot = (slot + 1) % slotCount }
            slots[slot] = rule.reason.rawValue
        }
        return slots
    }()

    /// The slot of a name: FNV-1a of 32 bits, folded.
    private static func slot(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hash: UInt32 = 0x811c_9dc5
        for index in bytes.indices { hash = unsafe (hash ^ UInt32(bytes[index])) &* 0x0100_0193 }
        return Int(truncatingIfNeeded: (hash ^ (hash >> 16)) % UInt32(slotCount))
    }
}

extension KnownReason {
    /// The remedy for these credentials: a server may use for a key the reason of certificates, and the other way round.
    ///
    /// - Parameter isKey: Whether they are a signing key or a provider token, and not a client certificate.
    package func remedy(isKey: Bool) -> String? {
        switch (self, isKey) {
        case (.badCertificate, true): Self.invalidProviderToken.remedy
        case (.badCertificateEnvironment, true): Self.badEnvironmentKeyInToken.remedy
        case (.badCertificateEnvironment, false), (.badEnvironmentKeyIdInToken, false),
            (.badEnvironmentKeyInToken, false):
            "use a certificate of this environment, or the other environment"
        case (.invalidProviderToken, false), (.expiredProviderToken, false): Self.badCertificate.remedy
        default: remedy
        }
    }

    /// What to do about it, as a sentence without a full stop; nil if waiting is all that can be done.
    package var remedy: String? {
        switch self {
        case .badDeviceToken:
            "check that the token is complete and belongs to this environment: sandbox tokens come from debug builds"
        case .deviceTokenNotForTopic: "give the topic of the app that got this token"
        case .badTopic, .missingTopic: "give the app's bundle id as topic; the push type's suffix is added"
        case .topicDisallowed: "use a key or certificate of the team that owns the topic, and one that may push to it"
        case .expiredProviderToken: "set this machine's clock"
        case .invalidProviderToken:
            "check that key id and team id belong to the key file, that the key is not revoked in the account, and that this "
                + "machine's clock is right"
        case .missingProviderToken: "give a signing key with its key id and team id, or a client certificate"
        case .badCertificate: "get a new certificate from the developer account"
        case .badCertificateEnvironment: "use credentials of this environment, or the other environment"
        case .badEnvironmentKeyIdInToken, .badEnvironmentKeyInToken:
            "use a key of this environment, or the other environment: keys may be restricted to one"
        case .badPath: "check host and port: channel management has separate hosts and ports"
        case .forbidden: "check in the developer account what the key is allowed to do"
        case .unrelatedKeyIdInToken: "use one key and one team per connection"
        case .unregistered, .expiredToken: "delete the token; the app sends a new one when it is opened"
        case .tooManyProviderTokenUpdates: "keep a provider token for at least 20 minutes"
        case .tooManyRequests: "send less often to this device"
        case .featureNotEnabled: "enable broadcast for the app in the developer account, under its push notifications"
        case .missingChannelId, .badChannelId: "give the channel's id as APNs gave it, in base64"
        case .channelNotRegistered:
            "list the app's channels; the channel may belong to the other environment, or was deleted"
        case .cannotCreateChannelConfig: "delete channels that are not used any more"
        case .topicMismatch: "use a key or certificate of the team that owns the app"
        case .internalServerError, .serviceUnavailable, .serviceUnavailableSpaced, .shutdown, .idleTimeout:
            "try again later; developer.apple.com/system-status says whether APNs is in trouble"
        default: nil
        }
    }
}
