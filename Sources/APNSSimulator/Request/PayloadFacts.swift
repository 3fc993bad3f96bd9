/// What the rules need to know of a payload, noted in one pass.
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
