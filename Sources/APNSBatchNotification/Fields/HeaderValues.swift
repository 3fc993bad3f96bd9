/// The `apns-topic` header: the app's bundle id, and a suffix that depends on the push type.
package enum Topic {
    /// The maximum length in bytes. A limit chosen here: bundle ids are far shorter.
    package static let lengthMax = 255

    /// Checks a topic: one to ``lengthMax`` letters, digits, `.`, `-` and `_`, the characters of bundle ids.
    ///
    /// Source: Apple, "CFBundleIdentifier". `_` is not in Apple's list, but in use.
    package static func check(_ text: UnsafeRawBufferPointer) -> FieldFault? {
        if unsafe text.isEmpty { return .topicEmpty }
        if text.count > lengthMax { return .topicTooLong(text.count) }
        return unsafe text.firstIndex { !$0.isLetterOrDigit && !".-_".utf8.contains($0) }.map(FieldFault.topicCharacter)
    }

    /// Returns the topic of an app for a push type. A topic that already has the suffix is returned unchanged. For
    /// ``PushType/mdm`` the argument must already be the topic.
    package static func derive(bundleID: String, pushType: PushType) -> String {
        guard case .suffixed(let suffix) = pushType.rule.topicForm, !bundleID.hasSuffix(suffix) else { return bundleID }
        return bundleID + suffix
    }

    /// Returns the topic that the push type requires, if the given one lacks the suffix; nil if it fits. This deserves only
    /// a warning, because only APNs has the settings of the app.
    package static func expected(for topic: String, pushType: PushType) -> String? {
        let derived = derive(bundleID: topic, pushType: pushType)
        return derived == topic ? nil : derived
    }

    /// Returns another push type whose suffix the topic has; nil if the topic fits the given push type.
    package static func otherType(of topic: String, pushType: PushType) -> PushType? {
        if case .suffixed(let suffix) = pushType.rule.topicForm, topic.hasSuffix(suffix) { return nil }
        if pushType == .mdm { return nil }
        return PushTypeRule.all.first { rule in
            if case .suffixed(let suffix) = rule.topicForm { topic.hasSuffix(suffix) } else { false }
        }?.type
    }

    /// Returns the part of a topic before the suffix of a push type; nil if the topic has none of these suffixes.
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

/// The urgency of a push: the `apns-priority` header.
///
/// Source: Apple, "Sending notification requests to APNs".
package enum Priority: UInt8, CaseIterable, Sendable {
    /// Power consumption comes before everything else; the device is not woken.
    case low = 1
    /// Delivered at a time that costs the device little power.
    case powerAware = 5
    /// Delivered at once. The default of APNs if there is no header.
    case immediate = 10

    /// The header's value.
    package var text: String {
        switch self {
        case .low: "1"
        case .powerAware: "5"
        case .immediate: "10"
        }
    }

    /// Parses `1`, `5` or `10`, without blanks.
    package static func parse(_ text: UnsafeRawBufferPointer) -> Result<Priority, FieldFault> {
        switch text.count {
        case 1 where unsafe text[0] == UInt8(ascii: "1"): .success(.low)
        case 1 where unsafe text[0] == UInt8(ascii: "5"): .success(.powerAware)
        case 2 where unsafe text[0] == UInt8(ascii: "1") && text[1] == UInt8(ascii: "0"): .success(.immediate)
        default: .failure(.priorityUnknown)
        }
    }
}

/// The `apns-collapse-id` header. Pushes with the same collapse id replace each other on the device.
package enum CollapseID {
    /// The maximum length in bytes. Source: Apple, "Sending notification requests to APNs".
    package static let lengthMax = 64

    /// Checks a collapse id: one to ``lengthMax`` bytes without control characters, and no blank at either end, which would
    /// make the request malformed (RFC 9113 section 8.2.1). Bytes above 0x7F are allowed.
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

/// The `apns-channel-id` header: the id that APNs assigned to a broadcast channel, in base64.
///
/// Source: Apple, "Sending broadcast push notification requests to APNs".
package enum ChannelID {
    /// The maximum length in bytes. A limit chosen here: ids made by APNs have 24.
    package static let lengthMax = 64

    /// Checks for base64 with padding (RFC 4648 section 4): groups of four, padding only at the end, at most ``lengthMax``.
    package static func check(_ text: UnsafeRawBufferPointer) -> FieldFault? {
        if text.count > lengthMax { return .channelIDTooLong(text.count) }
        guard text.count > 0, text.count % 4 == 0 else { return .channelID }
        let padding = unsafe text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2, unsafe text.dropLast(padding).allSatisfy({ $0.isLetterOrDigit || "+/".utf8.contains($0) })
        else { return .channelID }
        return nil
    }
}
