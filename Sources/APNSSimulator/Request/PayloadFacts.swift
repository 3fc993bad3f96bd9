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
    /// A key of `aps` has a value of a type that Apple's tables do not allow.
    static let wrongType = PayloadFacts(rawValue: 1 << 10)
    /// White space outside strings.
    static let blanks = PayloadFacts(rawValue: 1 << 11)
    /// `event` is start.
    static let eventStart = PayloadFacts(rawValue: 1 << 12)

    /// The facts about one key, none of which may outlive a second value for the same key.
    static let ofAlert: PayloadFacts = [.alert, .alertShows]
    static let ofSound: PayloadFacts = [.sound, .soundPlays]
}
