/// The topics that a key or certificate covers, with the check of a topic against them and the push type.
///
/// A configured topic is a bundle identifier (or, for mdm, the whole topic); the suffix of the push type is added to
/// it. A topic outside the list gets `TopicDisallowed`. One that belongs to an app of the list, or could, but carries
/// the suffix of another push type gets `DeviceTokenNotForTopic`: no device has a token of that kind for that topic.
struct TopicList {
    private let topics: [[UInt8]]
    private let isAny: Bool

    /// - Parameter topics: nil for any.
    init(_ topics: [String]?) {
        isAny = topics == nil
        self.topics = (topics ?? []).map { Array($0.utf8) }
    }

    /// `accepted`, `topicDisallowed` or `deviceTokenNotForTopic`.
    func answer(_ topic: Bytes, _ type: PushType) -> FixedAnswer {
        if isAny {
            return unsafe topic.count > type.topicSuffix.utf8CodeUnitCount && topic.ends(with: type.topicSuffix)
                ? .accepted : .deviceTokenNotForTopic
        }
        for app in topics where unsafe Self.rest(of: topic, behind: app)?.equals(type.topicSuffix) == true {
            return .accepted
        }
        return unsafe isOfOtherType(topic) ? .deviceTokenNotForTopic : .topicDisallowed
    }

    func holds(_ app: Bytes) -> Bool {
        isAny || topics.contains { unsafe app.equals($0) }
    }

    /// Whether the topic is a configured one with the suffix of any push type.
    private func isOfOtherType(_ topic: Bytes) -> Bool {
        topics.contains { app in
            guard let rest = unsafe Self.rest(of: topic, behind: app) else { return false }
            return PushType.allCases.contains { unsafe rest.equals($0.topicSuffix) }
        }
    }

    /// Returns the suffix after the app's name, or nil when the topic does not begin with the name.
    private static func rest(of topic: Bytes, behind app: [UInt8]) -> Bytes? {
        guard topic.count >= app.count, unsafe topic.keeping(app.count).equals(app) else { return nil }
        return unsafe topic.dropping(app.count)
    }
}
