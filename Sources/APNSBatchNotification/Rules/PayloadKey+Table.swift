extension PayloadKey {
    private static let guide = "Creating the Remote Notification Payload (2017)"
    private static let activities = "Starting and updating Live Activities with ActivityKit push notifications"
    private static let safari = "Configuring Safari Push Notifications"
    private static let guide2011 = "The Notification Payload (2011)"

    /// Every key that Apple defines, by parent.
    package static let all = payload + aps + liveActivity + alert + sound

    /// Those of one parent.
    package static func all(in parent: Parent) -> [PayloadKey] { all.filter { $0.parent == parent } }

    private static let payload = [
        PayloadKey(.payload, "aps", .object, "what the system is to do; custom keys stand beside it")
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
        PayloadKey(.aps, "interruption-level", .interruptionLevel, "how much it may disturb"),
        PayloadKey(.aps, "relevance-score", .score, "what the system features first"),
        PayloadKey(.aps, "filter-criteria", .text, "what a Focus decides on"),
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
        PayloadKey(.aps, "dismissal-date", .seconds, "when an ended activity goes", source: activities),
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
        PayloadKey(.alert, "title-loc-args", .textsOrNull, "what fills that title", source: guide),
        PayloadKey(.alert, "subtitle-loc-key", .textOrNull, "the subtitle, by its key in the app"),
        PayloadKey(.alert, "subtitle-loc-args", .textsOrNull, "what fills that subtitle"),
        PayloadKey(.alert, "loc-key", .text, "the text, by its key in the app"),
        PayloadKey(.alert, "loc-args", .texts, "what fills that text"),
        PayloadKey(
            .alert, "sound", .text, only: .liveactivity, "the sound that the alert plays", source: activities),
        PayloadKey(
            .alert, "action-loc-key", .textOrNull, legacy: true, "the button, by its key; null for none",
            source: guide2011),
        PayloadKey(
            .alert, "action", .text, legacy: true, "the label of the action button", source: safari),
        // The payload of 2018 had them here.
        PayloadKey(.alert, "summary-arg", .text, legacy: true, "a text in a group's summary"),
        PayloadKey(.alert, "summary-arg-count", .count, legacy: true, "how many items it counts for"),
    ]

    private static let sound = [
        PayloadKey(.sound, "critical", .zeroOrOne, "1: heard even when the device is muted"),
        PayloadKey(.sound, "name", .text, "a sound file of the app, or default"),
        PayloadKey(.sound, "volume", .fraction, "0.0 is silent, 1.0 is full"),
    ]
}
