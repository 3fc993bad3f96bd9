/// The `apns-topic` header: the app's bundle id and what the push type puts behind it.
package enum Topic {
    /// The most bytes taken. A bound of ours: no bundle id comes near it.
    package static let lengthMax = 255

    /// Letters, digits, `.`, `-` and `_`, at least one, at most ``lengthMax``: what a bundle id is made of.
    ///
    /// Source: Apple, "CFBundleIdentifier". `_` is not in that list and is in use all the same.
    package static func check(_ text: UnsafeRawBufferPointer) -> FieldFault? {
        if unsafe text.isEmpty { return .topicEmpty }
        if text.count > lengthMax { return .topicTooLong(text.count) }
        return unsafe text.firstIndex { !$0.isLetterOrDigit && !".-_".utf8.contains($0) }.map(FieldFault.topicCharacter)
    }

    /// The topic of a push type for an app. Given a topic that already has the suffix, it is returned as it is.
    /// For ``PushType/mdm`` the argument must already be the topic.
    package static func derive(bundleID: String, pushType: PushType) -> String {
        guard case .suffixed(let suffix) = pushType.rule.topicForm, !bundleID.hasSuffix(suffix) else { return bundleID }
        return bundleID + suffix
    }

    /// The topic that the push type would have, when the one given has not the suffix it asks for; nil when it fits.
    /// A reason for a warning, not for an error: only APNs knows the app.
    package static func expected(for topic: String, pushType: PushType) -> String? {
        let derived = derive(bundleID: topic, pushType: pushType)
        return derived == topic ? nil : derived
    }

    /// The push type whose suffix a topic has, where that is not the one given; nil when there is nothing to doubt.
    package static func otherType(of topic: String, pushType: PushType) -> PushType? {
        if case .suffixed(let suffix) = pushType.rule.topicForm, topic.hasSuffix(suffix) { return nil }
        if pushType == .mdm { return nil }
        return PushTypeRule.all.first { rule in
            if case .suffixed(let suffix) = rule.topicForm { topic.hasSuffix(suffix) } else { false }
        }?.type
    }

    /// What stands before the suffix of a push type; nil when the topic has none of these suffixes.
    package static func bundleID(of topic: String) -> String? {
        for rule in PushTypeRule.all {
            if case .suffixed(let suffix) = rule.topicForm, topic.hasSuffix(suffix),
                topic.utf8.count > suffix.utf8.count
            {
                return String(topic.dropLast(suffix.count))
            }
        }
        return nil
    }
}

/// How urgently APNs delivers a push: the `apns-priority` header.
///
/// Source: Apple, "Sending notification requests to APNs".
package enum Priority: UInt8, CaseIterable, Sendable {
    /// Power before all else; never wakes the device.
    case low = 1
    /// When it costs the device little power.
    case powerAware = 5
    /// At once. What APNs assumes without the header.
    case immediate = 10

    /// The header's value.
    package var text: String {
        switch self {
        case .low: "1"
        case .powerAware: "5"
        case .immediate: "10"
        }
    }

    /// Reads `1`, `5` or `10`, nothing around it.
    package static func parse(_ text: UnsafeRawBufferPointer) -> Result<Priority, FieldFault> {
        switch text.count {
        case 1 where unsafe text[0] == UInt8(ascii: "1"): .success(.low)
        case 1 where unsafe text[0] == UInt8(ascii: "5"): .success(.powerAware)
        case 2 where unsafe text[0] == UInt8(ascii: "1") && text[1] == UInt8(ascii: "0"): .success(.immediate)
        default: .failure(.priorityUnknown)
        }
    }
}

/// The `apns-collapse-id` header: pushes that carry the same one replace each other on the device.
package enum CollapseID {
    /// The most bytes. Source: Apple, "Sending notification requests to APNs".
    package static let lengthMax = 64

    /// At least one byte, at most ``lengthMax``, no control characters, no blank at either end (RFC 9113 section 8.2.1:
    /// such a field value makes the request malformed). Bytes beyond ASCII may stand in it.
    package static func check(_ text: UnsafeRawBufferPointer) -> FieldFault? {
        if unsafe text.isEmpty { return .collapseIDEmpty }
        if text.count > lengthMax { return .collapseIDTooLong(text.count) }
        for offset in text.indices where unsafe text[offset] < 0x20 || text[offset] == 0x7f {
            return .collapseIDCharacter(at: offset)
        }
        let blank = UInt8(ascii: " ")
        return unsafe text[0] == blank || text[text.count - 1] == blank ? .collapseIDBlank : nil
    }
}

/// The `apns-channel-id` header: the name that APNs gave a broadcast channel, in base64.
///
/// Source: Apple, "Sending broadcast push notification requests to APNs".
package enum ChannelID {
    /// The most bytes taken. A bound of ours: APNs makes ids of 24.
    package static let lengthMax = 64

    /// Base64 with padding (RFC 4648 section 4): whole groups of four, padding only at the end, at most ``lengthMax``.
    package static func check(_ text: UnsafeRawBufferPointer) -> FieldFault? {
        if text.count > lengthMax { return .channelIDTooLong(text.count) }
        guard text.count > 0, text.count % 4 == 0 else { return .channelID }
        let padding = unsafe text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2, unsafe text.dropLast(padding).allSatisfy({ $0.isLetterOrDigit || "+/".utf8.contains($0) })
        else { return .channelID }
        return nil
    }
}
