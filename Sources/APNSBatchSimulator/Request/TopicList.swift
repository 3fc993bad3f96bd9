/// The topics of a key or certificate, against which a topic and a push type are checked.
///
/// A configured topic is a bundle identifier (or, for mdm, the whole topic), to which the suffix of the push type is
/// added. A topic outside the list is answered `TopicDisallowed`. A topic of a known or possible app with the suffix of
/// another push type is answered `DeviceTokenNotForTopic`, because no device has such a token for that topic.
struct TopicList {
    private let topics: [[UInt8]]
    private let isAny: Bool

    /// - Parameter topics: nil for any.
    init(_ topics: [String]?) {
        isAny = topics == nil
        self.topics = (topics ?? []).map { Array($0.utf8) }
    }

    /// Returns `accepted`, `topicDisallowed` or `deviceTokenNotForTopic`.
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

    /// Returns whether the topic is a configured one with the suffix of any push type.
    private func isOfOtherType(_ topic: Bytes) -> Bool {
        topics.contains { app in
            guard let rest = unsafe Self.rest(of: topic, behind: app) else { return false }
            return PushType.allCases.contains { unsafe rest.equals($0.topicSuffix) }
        }
    }

    /// Returns the suffix after the app's name, or nil if the topic does not begin with the name.
    private static func rest(of topic: Bytes, behind app: [UInt8]) -> Bytes? {
        guard topic.count >= app.count, unsafe topic.keeping(app.count).equals(app) else { return nil }
        return unsafe topic.dropping(app.count)
    }
}
