/// The topics an authority accepts, and the judgement of a topic by them and by the push type.
///
/// A configured topic is a bundle identifier (or, for mdm, the whole topic); the suffix of the push type is added to
/// it. A topic outside the list gets `TopicDisallowed`. One that belongs to an app of the list, or could, but carries
/// the suffix of another push type gets `DeviceTokenNotForTopic`: no device has a token of that kind for that topic.
struct TopicList: ~Copyable {
    private let topics: UnsafeMutablePointer<Bytes>
    private let count: Int
    private let isAny: Bool

    /// - Parameter topics: nil for any.
    init(_ topics: [String]?) {
        let list = topics ?? []
        isAny = topics == nil
        count = list.count
        self.topics = .allocate(capacity: max(1, list.count))
        for (index, topic) in list.enumerated() {
            let text = Array(topic.utf8)
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, text.count), alignment: 1)
            copy.copyBytes(from: text)
            self.topics[index] = Bytes(start: copy.baseAddress, count: text.count)
        }
    }

    deinit {
        for index in 0..<count {
            topics[index].deallocate()
        }
        topics.deallocate()
    }

    /// `accepted`, `topicDisallowed` or `deviceTokenNotForTopic`.
    func answer(_ topic: Bytes, _ type: PushType) -> FixedAnswer {
        if isAny {
            return topic.count > type.topicSuffix.utf8CodeUnitCount && topic.ends(with: type.topicSuffix)
                ? .accepted : .deviceTokenNotForTopic
        }
        for index in 0..<count
        where topic.count == topics[index].count + type.topicSuffix.utf8CodeUnitCount
            && topic.ends(with: type.topicSuffix) && topic.keeping(topics[index].count).equals(topics[index])
        {
            return .accepted
        }
        return isOfOtherType(topic) ? .deviceTokenNotForTopic : .topicDisallowed
    }

    /// Whether an app is one of the list.
    func holds(_ app: Bytes) -> Bool {
        for index in 0..<count where topics[index].equals(app) {
            return true
        }
        return isAny
    }

    /// Whether the topic is a configured one with the suffix of any push type.
    private func isOfOtherType(_ topic: Bytes) -> Bool {
        for index in 0..<count where topic.count >= topics[index].count {
            let length = topics[index].count
            guard topic.keeping(length).equals(topics[index]) else { continue }
            let rest = topic.dropping(length)
            for type in PushType.allCases where rest.equals(type.topicSuffix) {
                return true
            }
        }
        return false
    }
}
