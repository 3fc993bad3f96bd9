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
