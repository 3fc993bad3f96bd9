/// Parses a payload and checks it against its push type.
///
/// Apple names no reason for a payload that is not JSON. The simulator answers 400 `BadRequestPayload`, because this is
/// the only reason in Apple's tables for a payload that cannot be read. It gives the same answer if the payload or
/// `aps` is not an object, and if a key of `aps`, `alert` or `sound` has a value of a wrong type or outside its range.
///
/// A payload that does not fit its push type is answered 400 `InvalidPushType`.
enum PayloadCheck {
    /// Checks the size, the JSON syntax and the push type.
    ///
    /// - Parameters:
    ///   - body: the part of the body that was kept.
    ///   - total: the number of bytes that the client sent. If it is more than `body.count`, the body was cut.
    ///   - facts: gets the facts about the payload if it could be read.
    static func answer(_ body: Bytes, total: Int, type: PushType, facts: inout PayloadFacts) -> FixedAnswer {
        guard total > 0 else { return .payloadEmpty }
        guard total <= type.payloadMaximum, total == body.count else { return .payloadTooLarge }
        let refused: PayloadFacts = type == .liveactivity ? .wrongType : .wrongOutsideLiveActivities
        guard unsafe read(body, into: &facts), facts.isDisjoint(with: refused) else { return .badRequestPayload }
        return fits(facts, type) ? .accepted : .invalidPushType
    }

    /// Checks the payload of a broadcast. It is that of a Live Activity, may be larger, and cannot start an activity.
    static func answer(_ body: Bytes, total: Int, broadcast facts: inout PayloadFacts) -> FixedAnswer {
        guard total > 0 else { return .payloadEmpty }
        guard total <= PushType.payloadMaximumOfAll, total == body.count else { return .payloadTooLarge }
        guard unsafe read(body, into: &facts), facts.isDisjoint(with: [.wrongType, .eventStart]) else {
            return .badRequestPayload
        }
        return fits(facts, .liveactivity) ? .accepted : .invalidPushType
    }

    /// Returns whether the payload meets the requirements of its push type.
    ///
    /// - alert requires an alert, a badge or a sound.
    /// - background requires `content-available` 1, and none of the three.
    /// - widgets and controls require `content-changed` true.
    /// - liveactivity requires `timestamp` and an `event` that is start, update or end. It requires `content-state`
    ///   unless it ends, and `attributes-type` and `attributes` if it starts.
    /// - The other types require nothing.
    static func fits(_ facts: PayloadFacts, _ type: PushType) -> Bool {
        switch type {
        case .alert: !facts.isDisjoint(with: [.alertShows, .badge, .soundPlays])
        case .background: facts.contains(.contentAvailable) && facts.isDisjoint(with: [.alert, .badge, .sound])
        case .widgets, .controls: facts.contains(.contentChanged)
        case .liveactivity: isActivity(facts)
        case .voip, .complication, .fileprovider, .location, .pushtotalk, .mdm: true
        }
    }

    private static func isActivity(_ facts: PayloadFacts) -> Bool {
        guard facts.contains([.timestamp, .event]) else { return false }
        guard !facts.contains(.eventStart) else {
            return facts.contains([.contentState, .attributes, .attributesType])
        }
        return !facts.isDisjoint(with: [.contentState, .eventEnd])
    }

    /// Reads the whole payload. Returns false if it is not strict JSON with an object at the top level and, if there is
    /// an `aps`, an object as its value. If a name occurs twice, the last value counts.
    static func read(_ body: Bytes, into facts: inout PayloadFacts) -> Bool {
        var scanner = unsafe JSONScanner(body)
        guard scanner.openObject() else { return false }
        let isRead = scanner.members { scanner, name in
            guard name.equals("aps") else { return scanner.value().isValid }
            facts = []
            return ApsReader.read(&scanner, &facts)
        }
        guard isRead, scanner.isAtEnd() else { return false }
        if scanner.sawBlanks { facts.insert(.blanks) }
        return true
    }
}

/// The facts about a payload that the rules need, collected in one pass.
struct PayloadFacts: OptionSet {
    var rawValue: UInt32

    /// `aps` exists and is an object.
    static let aps = PayloadFacts(rawValue: 1 << 0)
    /// The key exists, with any value.
    static let alert = PayloadFacts(rawValue: 1 << 1)
    static let badge = PayloadFacts(rawValue: 1 << 2)
    static let sound = PayloadFacts(rawValue: 1 << 3)
    /// `alert` is a string or a dictionary that is not empty.
    static let alertShows = PayloadFacts(rawValue: 1 << 4)
    /// `sound` is a string or a dictionary that is not empty.
    static let soundPlays = PayloadFacts(rawValue: 1 << 5)
    /// `content-available` is 1.
    static let contentAvailable = PayloadFacts(rawValue: 1 << 6)
    /// `content-changed` is true.
    static let contentChanged = PayloadFacts(rawValue: 1 << 7)
    /// `timestamp` is a number.
    static let timestamp = PayloadFacts(rawValue: 1 << 8)
    /// `event` is start, update or end.
    static let event = PayloadFacts(rawValue: 1 << 9)
    /// A key of `aps`, `alert` or `sound` has a value that Apple's tables do not allow.
    static let wrongType = PayloadFacts(rawValue: 1 << 10)
    /// There is white space outside strings.
    static let blanks = PayloadFacts(rawValue: 1 << 11)
    /// `event` is start, or is end.
    static let eventStart = PayloadFacts(rawValue: 1 << 12)
    static let eventEnd = PayloadFacts(rawValue: 1 << 13)
    /// The key exists, with an object as its value or, for the type, a string.
    static let contentState = PayloadFacts(rawValue: 1 << 14)
    static let attributes = PayloadFacts(rawValue: 1 << 15)
    static let attributesType = PayloadFacts(rawValue: 1 << 16)
    /// `relevance-score` is not between 0 and 1.
    static let relevanceOutOfRange = PayloadFacts(rawValue: 1 << 17)
    /// `title` or `body` of an alert is a dictionary.
    static let textIsObject = PayloadFacts(rawValue: 1 << 18)

    /// The facts that are only allowed in a Live Activity.
    static let wrongOutsideLiveActivities: PayloadFacts = [.wrongType, .relevanceOutOfRange, .textIsObject]

    /// The facts about one key, which a second value of the same key replaces.
    static let ofAlert: PayloadFacts = [.alert, .alertShows]
    static let ofSound: PayloadFacts = [.sound, .soundPlays]
}
