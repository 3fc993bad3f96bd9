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

/// The lists of topics by number: first one for each provider key, then one for each client certificate.
struct TopicLists: ~Copyable {
    private var lists: UnsafeMutablePointer<TopicList>
    private var capacity: Int
    private var count = 0
    /// Numbers of the certificates' lists, by the subject's UID.
    private var certificates: [String: Int32] = [:]

    /// - Parameter topics: of each key; nil for any.
    init(keys topics: [[String]?]) {
        capacity = topics.count + 4
        lists = .allocate(capacity: capacity)
        for list in topics {
            add(list)
        }
    }

    deinit {
        lists.deinitialize(count: count)
        lists.deallocate()
    }

    /// The number of the list of a certificate; such a one may push to the app that it is made out to.
    mutating func certificate(uid: String) -> Int32 {
        if let number = certificates[uid] { return number }
        let number = Int32(count)
        add([uid])
        certificates[uid] = number
        return number
    }

    /// As `TopicList.answer`.
    @inline(__always)
    func answer(_ list: Int32, _ topic: Bytes, _ type: PushType) -> FixedAnswer {
        lists[Int(list)].answer(topic, type)
    }

    /// Whether a list has an app.
    func holds(_ list: Int32, app: Bytes) -> Bool {
        lists[Int(list)].holds(app)
    }

    private mutating func add(_ topics: [String]?) {
        if count == capacity {
            let larger = UnsafeMutablePointer<TopicList>.allocate(capacity: 2 * capacity)
            larger.moveInitialize(from: lists, count: count)
            lists.deallocate()
            lists = larger
            capacity *= 2
        }
        (lists + count).initialize(to: TopicList(topics))
        count += 1
    }
}
