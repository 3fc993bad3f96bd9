/// The `apns-topic` header: the app's bundle id and what the push type puts behind it.
package enum Topic {
    /// The most bytes taken. A bound of ours: no bundle id comes near it.
    package static let lengthMax = 255

    /// Letters, digits, `.`, `-` and `_`, at least one, at most ``lengthMax``: what a bundle id is made of.
    ///
    /// Source: Apple, "CFBundleIdentifier". `_` is not in that list and is in use all the same.
    package static func check(_ text: UnsafeRawBufferPointer) -> FieldFault? {
        if text.isEmpty { return .topicEmpty }
        if text.count > lengthMax { return .topicTooLong(text.count) }
        for offset in text.indices where !isAllowed(text[offset]) { return .topicCharacter(at: offset) }
        return nil
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

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
