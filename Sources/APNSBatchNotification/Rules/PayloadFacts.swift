/// What a push type asks about: what stands in `aps`. Values that are wrong in themselves count as there, so that one
/// mistake is told once.
struct PayloadFacts: OptionSet {
    let rawValue: UInt16

    static let aps = PayloadFacts(rawValue: 1 << 0)
    static let alert = PayloadFacts(rawValue: 1 << 1)
    static let badge = PayloadFacts(rawValue: 1 << 2)
    static let sound = PayloadFacts(rawValue: 1 << 3)
    /// There is something to see or to hear.
    static let shows = PayloadFacts(rawValue: 1 << 4)
    static let contentAvailable = PayloadFacts(rawValue: 1 << 5)
    static let contentChanged = PayloadFacts(rawValue: 1 << 6)
    static let timestamp = PayloadFacts(rawValue: 1 << 7)
    static let event = PayloadFacts(rawValue: 1 << 8)
    /// The event is `start`.
    static let start = PayloadFacts(rawValue: 1 << 9)
    static let attributes = PayloadFacts(rawValue: 1 << 10)
    static let attributesType = PayloadFacts(rawValue: 1 << 11)
    /// A text of the alert: title, subtitle, body or a key for one of them.
    static let alertText = PayloadFacts(rawValue: 1 << 12)
    static let contentState = PayloadFacts(rawValue: 1 << 13)
    /// The event is `end`.
    static let end = PayloadFacts(rawValue: 1 << 14)

    init(rawValue: UInt16) { self.rawValue = rawValue }

    /// What a key says by being there.
    init(_ key: PayloadKey) {
        let known: [String: PayloadFacts] =
            switch key.parent {
            case .aps: Self.ofAps
            case .alert: Self.ofAlert
            case .payload, .sound: [:]
            }
        self = known[key.name] ?? []
    }

    private static let ofAps: [String: PayloadFacts] = [
        "alert": .alert, "badge": [.badge, .shows], "sound": .sound, "content-available": .contentAvailable,
        "content-changed": .contentChanged, "timestamp": .timestamp, "event": .event, "attributes": .attributes,
        "attributes-type": .attributesType, "content-state": .contentState,
    ]

    private static let ofAlert: [String: PayloadFacts] = [
        "title": .alertText, "subtitle": .alertText, "body": .alertText, "title-loc-key": .alertText,
        "subtitle-loc-key": .alertText, "loc-key": .alertText,
    ]
}
