/// A table of the names that an object's members may have.
protocol PayloadKey: CaseIterable {
    var name: StaticString { get }

    /// The key of this name, written without escapes.
    init?(_ name: Bytes)
}

extension PayloadKey {
    /// The key that a member's name stands for, or nil. An escaped character counts as what it stands for.
    @inline(__always)
    init?(_ name: JSONText) {
        if name.isEscaped {
            self.init(escaped: name)
        } else {
            self.init(name.bytes)
        }
    }

    private init?(escaped name: JSONText) {
        for key in Self.allCases where name.equals(key.name) {
            self = key
            return
        }
        return nil
    }
}

/// The keys of `aps` (Apple, "Generating a remote notification", table 1, and "Starting and updating Live Activities
/// with ActivityKit push notifications"; `url-args` of Safari's push; the last two are of old).
enum ApsKey: UInt8, PayloadKey {
    case alert, badge, sound, event, category, urlArgs, threadID, timestamp, staleDate, attributes, contentState
    case dismissalDate, mutableContent, relevanceScore, filterCriteria, attributesType, contentChanged, inputPushToken
    case contentAvailable, targetContentID, interruptionLevel, inputPushChannel, summaryArg, summaryArgCount

    var name: StaticString {
        switch self {
        case .alert: "alert"
        case .badge: "badge"
        case .sound: "sound"
        case .event: "event"
        case .category: "category"
        case .urlArgs: "url-args"
        case .threadID: "thread-id"
        case .timestamp: "timestamp"
        case .staleDate: "stale-date"
        case .attributes: "attributes"
        case .contentState: "content-state"
        case .dismissalDate: "dismissal-date"
        case .mutableContent: "mutable-content"
        case .relevanceScore: "relevance-score"
        case .filterCriteria: "filter-criteria"
        case .attributesType: "attributes-type"
        case .contentChanged: "content-changed"
        case .inputPushToken: "input-push-token"
        case .contentAvailable: "content-available"
        case .targetContentID: "target-content-id"
        case .interruptionLevel: "interruption-level"
        case .inputPushChannel: "input-push-channel"
        case .summaryArg: "summary-arg"
        case .summaryArgCount: "summary-arg-count"
        }
    }

    init?(_ name: Bytes) {
        switch name.count {
        case 5 where name.equals("alert"): self = .alert
        case 5 where name.equals("badge"): self = .badge
        case 5 where name.equals("sound"): self = .sound
        case 5 where name.equals("event"): self = .event
        case 8 where name.equals("category"): self = .category
        case 8 where name.equals("url-args"): self = .urlArgs
        case 9 where name.equals("thread-id"): self = .threadID
        case 9 where name.equals("timestamp"): self = .timestamp
        case 10 where name.equals("stale-date"): self = .staleDate
        case 10 where name.equals("attributes"): self = .attributes
        case 11 where name.equals("summary-arg"): self = .summaryArg
        case 13 where name.equals("content-state"): self = .contentState
        case 14 where name.equals("dismissal-date"): self = .dismissalDate
        case 15 where name.equals("mutable-content"): self = .mutableContent
        case 15 where name.equals("relevance-score"): self = .relevanceScore
        case 15 where name.equals("filter-criteria"): self = .filterCriteria
        case 15 where name.equals("attributes-type"): self = .attributesType
        case 15 where name.equals("content-changed"): self = .contentChanged
        case 16 where name.equals("input-push-token"): self = .inputPushToken
        case 17 where name.equals("content-available"): self = .contentAvailable
        case 17 where name.equals("target-content-id"): self = .targetContentID
        case 17 where name.equals("summary-arg-count"): self = .summaryArgCount
        case 18 where name.equals("interruption-level"): self = .interruptionLevel
        case 18 where name.equals("input-push-channel"): self = .inputPushChannel
        default: return nil
        }
    }
}

/// The keys of an `alert` dictionary. `sound` is one of a Live Activity's; `action`, `action-loc-key` and the two of
/// summaries are of old.
enum AlertKey: UInt8, PayloadKey {
    case title, subtitle, body, launchImage, titleLocKey, titleLocArgs, subtitleLocKey, subtitleLocArgs, locKey, locArgs
    case actionLocKey, action, sound, summaryArg, summaryArgCount

    var name: StaticString {
        switch self {
        case .title: "title"
        case .subtitle: "subtitle"
        case .body: "body"
        case .launchImage: "launch-image"
        case .titleLocKey: "title-loc-key"
        case .titleLocArgs: "title-loc-args"
        case .subtitleLocKey: "subtitle-loc-key"
        case .subtitleLocArgs: "subtitle-loc-args"
        case .locKey: "loc-key"
        case .locArgs: "loc-args"
        case .actionLocKey: "action-loc-key"
        case .action: "action"
        case .sound: "sound"
        case .summaryArg: "summary-arg"
        case .summaryArgCount: "summary-arg-count"
        }
    }

    init?(_ name: Bytes) {
        switch name.count {
        case 4 where name.equals("body"): self = .body
        case 5 where name.equals("title"): self = .title
        case 5 where name.equals("sound"): self = .sound
        case 6 where name.equals("action"): self = .action
        case 7 where name.equals("loc-key"): self = .locKey
        case 8 where name.equals("subtitle"): self = .subtitle
        case 8 where name.equals("loc-args"): self = .locArgs
        case 11 where name.equals("summary-arg"): self = .summaryArg
        case 12 where name.equals("launch-image"): self = .launchImage
        case 13 where name.equals("title-loc-key"): self = .titleLocKey
        case 14 where name.equals("title-loc-args"): self = .titleLocArgs
        case 14 where name.equals("action-loc-key"): self = .actionLocKey
        case 16 where name.equals("subtitle-loc-key"): self = .subtitleLocKey
        case 17 where name.equals("subtitle-loc-args"): self = .subtitleLocArgs
        case 17 where name.equals("summary-arg-count"): self = .summaryArgCount
        default: return nil
        }
    }
}

/// The keys of a `sound` dictionary.
enum SoundKey: UInt8, PayloadKey {
    case critical, file, volume

    var name: StaticString {
        switch self {
        case .critical: "critical"
        case .file: "name"
        case .volume: "volume"
        }
    }

    init?(_ name: Bytes) {
        switch name.count {
        case 4 where name.equals("name"): self = .file
        case 6 where name.equals("volume"): self = .volume
        case 8 where name.equals("critical"): self = .critical
        default: return nil
        }
    }
}
