/// What the value of a payload's key must be: its type and its range.
package enum PayloadKeyForm: UInt8, CaseIterable, Sendable {
    case text
    case textOrNull
    case texts
    case textsOrNull
    /// A string; in a Live Activity's alert an object with `loc-key` and `loc-args` too.
    case title
    case textOrObject
    case object
    /// A whole number from 0 up.
    case count
    /// A number from 0 to 1.
    case fraction
    /// The same, and any number for a Live Activity.
    case score
    /// Whole seconds since 1970.
    case seconds
    case one
    case zeroOrOne
    /// 0 or 1; `true` is in use too.
    case zeroOneOrTrue
    case isTrue
    case interruptionLevel
    case event
}

extension PayloadKeyForm {
    /// The type asked for, for a message.
    package func expectedType(isLiveActivity: Bool = false) -> String {
        switch self {
        case .text: "a string"
        case .title: isLiveActivity ? "a string or an object" : "a string"
        case .textOrNull: "a string or null"
        case .texts: "an array of strings"
        case .textsOrNull: "an array of strings or null"
        case .textOrObject: "a string or an object"
        case .object: "an object"
        case .count: "a whole number"
        case .fraction, .score: "a number"
        case .seconds, .one, .zeroOrOne, .zeroOneOrTrue, .isTrue, .interruptionLevel, .event: expectedRange
        }
    }

    /// The range asked for, for a message.
    package var expectedRange: String {
        switch self {
        case .count: "a whole number from 0 up"
        case .fraction, .score: "a number from 0 to 1"
        case .seconds: "whole seconds since 1970"
        case .one: "1"
        case .zeroOrOne, .zeroOneOrTrue: "0 or 1"
        case .isTrue: "true"
        case .interruptionLevel, .event: choices.dropLast().joined(separator: ", ") + " or " + (choices.last ?? "")
        default: expectedType()
        }
    }

    /// The strings allowed, where only some are.
    package var choices: [String] {
        switch self {
        case .interruptionLevel: ["passive", "active", "time-sensitive", "critical"]
        case .event: ["start", "update", "end"]
        default: []
        }
    }
}
