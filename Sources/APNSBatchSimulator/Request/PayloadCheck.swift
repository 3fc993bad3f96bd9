/// Parses a payload and checks it against its push type.
///
/// Apple names no reason for a payload that is not JSON. The simulator answers 400 `BadRequestPayload`, the only reason
/// in Apple's tables that speaks of a payload that cannot be read. The same is answered when the top is no object, when
/// `aps` is no object, and when a key of `aps`, of an `alert` or of a `sound` has a value of a wrong type or out of its
/// range.
///
/// A payload that does not fit its push type gets 400 `InvalidPushType`.
enum PayloadCheck {
    /// Checks size, JSON and push type.
    ///
    /// - Parameters:
    ///   - body: what was kept of the body.
    ///   - total: how many bytes the client sent; the body was cut when this is more than `body.count`.
    ///   - facts: gets what was found, when the payload could be read.
    static func answer(_ body: Bytes, total: Int, type: PushType, facts: inout PayloadFacts) -> FixedAnswer {
        guard total > 0 else { return .payloadEmpty }
        guard total <= type.payloadMaximum, total == body.count else { return .payloadTooLarge }
        let refused: PayloadFacts = type == .liveactivity ? .wrongType : .wrongOutsideLiveActivities
        guard unsafe read(body, into: &facts), facts.isDisjoint(with: refused) else { return .badRequestPayload }
        return fits(facts, type) ? .accepted : .invalidPushType
    }

    /// Judges the payload of a broadcast: as of a Live Activity, larger, and it cannot start one.
    static func answer(_ body: Bytes, total: Int, broadcast facts: inout PayloadFacts) -> FixedAnswer {
        guard total > 0 else { return .payloadEmpty }
        guard total <= PushType.payloadMaximumOfAll, total == body.count else { return .payloadTooLarge }
        guard unsafe read(body, into: &facts), facts.isDisjoint(with: [.wrongType, .eventStart]) else {
            return .badRequestPayload
        }
        return fits(facts, .liveactivity) ? .accepted : .invalidPushType
    }

    /// The rules that a push type sets for its payload.
    ///
    /// - alert: an alert, a badge or a sound.
    /// - background: `content-available` 1, and none of the three.
    /// - widgets, controls: `content-changed` true.
    /// - liveactivity: `timestamp`, and `event` one of start, update, end; `content-state` unless it ends; to start,
    ///   `attributes-type` and `attributes` too.
    /// - the others carry what the app likes.
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

    /// Reads the whole payload. False when it is not strict JSON with an object at the top and, where there is one, an
    /// object under `aps`. Of a name that occurs twice, the last value counts.
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

    /// `aps` is there and is an object.
    static let aps = PayloadFacts(rawValue: 1 << 0)
    /// The key is there, whatever its value.
    static let alert = PayloadFacts(rawValue: 1 << 1)
    static let badge = PayloadFacts(rawValue: 1 << 2)
    static let sound = PayloadFacts(rawValue: 1 << 3)
    /// `alert` is a string or a dictionary with something in it.
    static let alertShows = PayloadFacts(rawValue: 1 << 4)
    /// `sound` is a string or a dictionary with something in it.
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
    /// White space outside strings.
    static let blanks = PayloadFacts(rawValue: 1 << 11)
    /// `event` is start, or end.
    static let eventStart = PayloadFacts(rawValue: 1 << 12)
    static let eventEnd = PayloadFacts(rawValue: 1 << 13)
    /// The key is there, with an object or, for the type, a string.
    static let contentState = PayloadFacts(rawValue: 1 << 14)
    static let attributes = PayloadFacts(rawValue: 1 << 15)
    static let attributesType = PayloadFacts(rawValue: 1 << 16)
    /// `relevance-score` is not within 0 and 1.
    static let relevanceOutOfRange = PayloadFacts(rawValue: 1 << 17)
    /// `title` or `body` of an alert is a dictionary.
    static let textIsObject = PayloadFacts(rawValue: 1 << 18)

    /// What no payload may have, but one of a Live Activity.
    static let wrongOutsideLiveActivities: PayloadFacts = [.wrongType, .relevanceOutOfRange, .textIsObject]

    /// The facts about one key, none of which may outlive a second value for the same key.
    static let ofAlert: PayloadFacts = [.alert, .alertShows]
    static let ofSound: PayloadFacts = [.sound, .soundPlays]
}
