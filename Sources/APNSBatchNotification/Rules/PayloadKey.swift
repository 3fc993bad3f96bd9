/// A key of payloads that Apple defines: one row of the table of keys.
package struct PayloadKey: Sendable {
    /// The object that contains a key.
    package enum Parent: UInt8, CaseIterable, Sendable {
        /// The payload itself, which also contains the app's own keys.
        case payload
        case aps
        case alert
        case sound

        /// The beginning of paths in messages.
        package var path: String {
            switch self {
            case .payload: "payload"
            case .aps: "aps"
            case .alert: "aps.alert"
            case .sound: "aps.sound"
            }
        }
    }

    package let parent: Parent
    package let name: String
    package let form: PayloadKeyForm
    /// The only push type whose payloads have the key; nil for all.
    package let pushType: PushType?
    /// Whether only older systems read it.
    package let isLegacy: Bool
    /// A description of the key.
    package let note: String
    /// The title of a page by Apple.
    package let source: String

    init(
        _ parent: Parent, _ name: String, _ form: PayloadKeyForm, legacy: Bool = false, only pushType: PushType? = nil,
        _ note: String, source: String = "Generating a remote notification"
    ) {
        (self.parent, self.name, self.form) = (parent, name, form)
        (self.pushType, isLegacy, self.note, self.source) = (pushType, legacy, note, source)
    }
}

extension PayloadKey {
    private static let guide = "Creating the Remote Notification Payload (2017)"
    private static let activities = "Starting and updating Live Activities with ActivityKit push notifications"
    private static let safari = "Configuring Safari Push Notifications"
    private static let guide2011 = "The Notification Payload (2011)"

    /// All keys that Apple defines, grouped by parent.
    package static let all = payload + aps + liveActivity + alert + sound

    package static func all(in parent: Parent) -> [PayloadKey] { all.filter { $0.parent == parent } }

    private static let payload = [
        PayloadKey(.payload, "aps", .object, "instructions for the system; custom keys belong beside it")
    ]

    private static let aps = [
        PayloadKey(.aps, "alert", .textOrObject, "the text to show, or an object with its parts"),
        PayloadKey(.aps, "badge", .count, "the number on the app's icon; 0 removes it"),
        PayloadKey(.aps, "sound", .textOrObject, "a sound file of the app, default, or an object for a critical alert"),
        PayloadKey(.aps, "thread-id", .text, "groups notifications"),
        PayloadKey(.aps, "category", .text, "the notification's type, with its actions"),
        PayloadKey(.aps, "content-available", .zeroOrOne, "1: wakes the app in the background"),
        PayloadKey(
            .aps, "mutable-content", .zeroOneOrTrue, "1: lets the app's service extension change the notification"),
        PayloadKey(.aps, "target-content-id", .text, "the window to bring forward"),
        PayloadKey(.aps, "interruption-level", .interruptionLevel, "how much the notification may interrupt"),
        PayloadKey(.aps, "relevance-score", .score, "which notifications the system features first"),
        PayloadKey(.aps, "filter-criteria", .text, "the value that a Focus filter evaluates"),
        PayloadKey(
            .aps, "content-changed", .isTrue, "a widget or control has something new",
            source: "Updating widgets with WidgetKit push notifications"),
        PayloadKey(.aps, "url-args", .texts, "fills the URL of a website's notification", source: safari),
        PayloadKey(.aps, "summary-arg", .text, legacy: true, "a text in a group's summary"),
        PayloadKey(.aps, "summary-arg-count", .count, legacy: true, "how many items a group's summary counts it for"),
    ]

    private static let liveActivity = [
        PayloadKey(.aps, "timestamp", .seconds, "when the content was made", source: activities),
        PayloadKey(.aps, "event", .event, "what happens to the activity", source: activities),
        PayloadKey(.aps, "content-state", .object, "the activity's new content", source: activities),
        PayloadKey(.aps, "stale-date", .seconds, "when the content is out of date", source: activities),
        PayloadKey(.aps, "dismissal-date", .seconds, "when an ended activity is removed", source: activities),
        PayloadKey(.aps, "attributes-type", .text, "the type of a new activity's attributes", source: activities),
        PayloadKey(.aps, "attributes", .object, "what stays the same in a new activity", source: activities),
        PayloadKey(.aps, "input-push-token", .one, "asks for the new activity's push token", source: activities),
        PayloadKey(.aps, "input-push-channel", .text, "the channel that updates a new activity", source: activities),
    ]

    private static let alert = [
        PayloadKey(.alert, "title", .title, "the title"),
        PayloadKey(.alert, "subtitle", .text, "a line under the title"),
        PayloadKey(.alert, "body", .title, "the text"),
        PayloadKey(.alert, "launch-image", .text, "shown while the app starts"),
        PayloadKey(.alert, "title-loc-key", .textOrNull, "the title, by its key in the app", source: guide),
        PayloadKey(.alert, "title-loc-args", .textsOrNull, "the arguments of that title", source: guide),
        PayloadKey(.alert, "subtitle-loc-key", .textOrNull, "the subtitle, by its key in the app"),
        PayloadKey(.alert, "subtitle-loc-args", .textsOrNull, "the arguments of that subtitle"),
        PayloadKey(.alert, "loc-key", .text, "the text, by its key in the app"),
        PayloadKey(.alert, "loc-args", .texts, "the arguments of that text"),
        PayloadKey(
            .alert, "sound", .text, only: .liveactivity, "the sound that the alert plays", source: activities),
        PayloadKey(
            .alert, "action-loc-key", .textOrNull, legacy: true, "the button, by its key; null for none",
            source: guide2011),
        PayloadKey(
            .alert, "action", .text, legacy: true, "the label of the action button", source: safari),
        // In the payload of 2018, these keys belonged to the alert.
        PayloadKey(.alert, "summary-arg", .text, legacy: true, "a text in a group's summary"),
        PayloadKey(.alert, "summary-arg-count", .count, legacy: true, "how many items it counts for"),
    ]

    private static let sound = [
        PayloadKey(.sound, "critical", .zeroOrOne, "1: heard even when the device is muted"),
        PayloadKey(.sound, "name", .text, "a sound file of the app, or default"),
        PayloadKey(.sound, "volume", .fraction, "0.0 is silent, 1.0 is full"),
    ]
}

/// The required form of a key's value: its type and its range.
package enum PayloadKeyForm: UInt8, CaseIterable, Sendable {
    case text
    case textOrNull
    case texts
    case textsOrNull
    /// A string, or in a Live Activity's alert an object with `loc-key` and `loc-args`.
    case title
    case textOrObject
    case object
    /// A whole number, 0 or greater.
    case count
    /// A number from 0 to 1.
    case fraction
    /// A number from 0 to 1, or any number for a Live Activity.
    case score
    /// Whole seconds since 1970-01-01 00:00 UTC.
    case seconds
    case one
    case zeroOrOne
    /// 0 or 1; `true` is also in use.
    case zeroOneOrTrue
    case isTrue
    case interruptionLevel
    case event
}

extension PayloadKeyForm {
    /// The required type, for messages.
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

    /// The required range, for messages.
    package var expectedRange: String {
        switch self {
        case .count: "a whole number of at least 0"
        case .fraction, .score: "a number from 0 to 1"
        case .seconds: "whole seconds since 1970"
        case .one: "1"
        case .zeroOrOne, .zeroOneOrTrue: "0 or 1"
        case .isTrue: "true"
        case .interruptionLevel, .event: choices.dropLast().joined(separator: ", ") + " or " + (choices.last ?? "")
        default: expectedType()
        }
    }

    /// The allowed strings, if only some are allowed.
    package var choices: [String] {
        switch self {
        case .interruptionLevel: ["passive", "active", "time-sensitive", "critical"]
        case .event: ["start", "update", "end"]
        default: []
        }
    }
}
