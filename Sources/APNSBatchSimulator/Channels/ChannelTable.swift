import APNSBatchBasics

struct Channel {
    /// The `message-storage-policy`: false is 0, nothing is stored; true is 1, the last message is.
    var storesLast: Bool
    /// The number of broadcasts that passed every check.
    var passed: UInt32 = 0
}

struct ChannelTable {
    private struct App {
        var channels: [String: Channel] = [:]
        /// Ids in order of creation.
        var order: [String] = []
    }

    private var apps: [String: App] = [:]
    private var random: SplitMix64
    /// The most channels of one app.
    private let maximum: Int

    init(maximum: Int, seed: UInt64) {
        self.maximum = maximum
        random = SplitMix64(seed: seed)
    }

    var count: Int {
        apps.values.reduce(0) { $0 + $1.order.count }
    }

    /// The channels of an app, in order of creation.
    func ids(of app: String) -> [String] {
        apps[app]?.order ?? []
    }

    /// Makes a channel and returns its id, base64 of 16 random bytes; nil when the app has as many as it may.
    mutating func create(app: String, storesLast: Bool) -> String? {
        guard apps[app]?.order.count ?? 0 < maximum else { return nil }
        var bytes: [UInt8] = []
        for word in [random.next(), random.next()] {
            unsafe withUnsafeBytes(of: word) { unsafe bytes.append(contentsOf: $0) }
        }
        let id = String(decoding: Base64.encode(bytes), as: UTF8.self)
        apps[app, default: App()].channels[id] = Channel(storesLast: storesLast)
        apps[app, default: App()].order.append(id)
        return id
    }

    func channel(_ id: String, of app: String) -> Channel? {
        apps[app]?.channels[id]
    }

    /// Removes a channel. Returns false when there is none of that id.
    mutating func remove(_ id: String, of app: String) -> Bool {
        guard apps[app]?.channels.removeValue(forKey: id) != nil else { return false }
        apps[app]?.order.removeAll { $0 == id }
        return true
    }

    /// Counts one more broadcast that passed every check. Returns how many did before.
    mutating func pass(_ id: String, of app: String) -> UInt32 {
        guard let channel = channel(id, of: app) else { return 0 }
        apps[app]?.channels[id]?.passed &+= 1
        return channel.passed
    }
}
