/// Names that an object's members may have.
protocol PayloadKey: CaseIterable, Equatable {
    static var names: [(text: StaticString, key: Self)] { get }
}

extension PayloadKey {
    /// The key that a member's name stands for, or nil. An escaped character counts as what it stands for.
    @inline(__always)
    init?(_ name: JSONText) {
        guard let found = Self.names.first(where: { name.equals($0.text) }) else { return nil }
        self = found.key
    }
}

/// The keys of `aps` (Apple, "Generating a remote notification", table 1, and "Starting and updating Live Activities
/// with ActivityKit push notifications"; `url-args` of Safari's push; the last two are of old).
enum ApsKey: UInt8, PayloadKey {
    case alert, badge, sound, event, category, urlArgs, threadID, timestamp, staleDate, attributes, contentState
    case dismissalDate, mutableContent, relevanceScore, filterCriteria, attributesType, contentChanged, inputPushToken
    case contentAvailable, targetContentID, interruptionLevel, inputPushChannel, summaryArg, summaryArgCount

    static let names: [(text: StaticString, key: ApsKey)] = [
        ("alert", .alert), ("badge", .badge), ("sound", .sound), ("event", .event), ("category", .category),
        ("url-args", .urlArgs), ("thread-id", .threadID), ("timestamp", .timestamp), ("stale-date", .staleDate),
        ("attributes", .attributes), ("content-state", .contentState), ("dismissal-date", .dismissalDate),
        ("mutable-content", .mutableContent), ("relevance-score", .relevanceScore),
        ("filter-criteria", .filterCriteria), ("attributes-type", .attributesType),
        ("content-changed", .contentChanged), ("input-push-token", .inputPushToken),
        ("content-available", .contentAvailable), ("target-content-id", .targetContentID),
        ("interruption-level", .interruptionLevel), ("input-push-channel", .inputPushChannel),
        ("summary-arg", .summaryArg), ("summary-arg-count", .summaryArgCount),
    ]
}

/// The keys of an `alert` dictionary. `sound` is one of a Live Activity's; `action`, `action-loc-key` and the two of
/// summaries are of old.
enum AlertKey: UInt8, PayloadKey {
    case title, subtitle, body, launchImage, titleLocKey, titleLocArgs, subtitleLocKey, subtitleLocArgs, locKey, locArgs
    case actionLocKey, action, sound, summaryArg, summaryArgCount

    static let names: [(text: StaticString, key: AlertKey)] = [
        ("title", .title), ("subtitle", .subtitle), ("body", .body), ("launch-image", .launchImage),
        ("title-loc-key", .titleLocKey), ("title-loc-args", .titleLocArgs), ("subtitle-loc-key", .subtitleLocKey),
        ("subtitle-loc-args", .subtitleLocArgs), ("loc-key", .locKey), ("loc-args", .locArgs),
        ("action-loc-key", .actionLocKey), ("action", .action), ("sound", .sound), ("summary-arg", .summaryArg),
        ("summary-arg-count", .summaryArgCount),
    ]
}

/// The keys of a `sound` dictionary.
enum SoundKey: UInt8, PayloadKey {
    case critical, file, volume

    static let names: [(text: StaticString, key: SoundKey)] = [
        ("critical", .critical), ("name", .file), ("volume", .volume),
    ]
}
