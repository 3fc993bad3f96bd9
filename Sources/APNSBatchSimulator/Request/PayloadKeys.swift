/// The names of the members of an object.
protocol PayloadKey: CaseIterable, Equatable {
    static var names: [(text: StaticString, key: Self)] { get }
}

extension PayloadKey {
    /// Returns the key with this name, or nil. Escaped characters are decoded.
    @inline(__always)
    init?(_ name: JSONText) {
        guard let found = Self.names.first(where: { name.equals($0.text) }) else { return nil }
        self = found.key
    }
}

/// The keys of `aps` (Apple, "Generating a remote notification", table 1, and "Starting and updating Live Activities
/// with ActivityKit push notifications"). `url-args` is for Safari, and the last two are obsolete.
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

/// The keys of an `alert` dictionary. `sound` is for Live Activities. `action`, `action-loc-key` and the two keys of
/// summaries are obsolete.
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
