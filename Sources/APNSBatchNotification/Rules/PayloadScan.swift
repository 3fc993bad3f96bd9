/// What a payload is held against, apart from the keys.
struct ScanSetting {
    let pushType: PushType
    let content: PushTypeRule.Content
    let isBroadcast: Bool

    var isLiveActivity: Bool { pushType == .liveactivity }
}

/// A value of a payload, as far as the rules look at it.
struct PayloadValue {
    enum Kind: UInt8 { case string, number, isTrue, isFalse, null, object, array }

    let kind: Kind
    /// For a string what stands between the quotes.
    let bytes: UnsafeRawBufferPointer

    var isEmpty: Bool {
        switch kind {
        case .string: bytes.isEmpty
        case .object, .array: bytes.count <= 2
        default: false
        }
    }
}

/// One pass over a payload: every key of `aps`, `alert` and `sound`, and at the end what the push type asks for.
///
/// Nothing is allocated here; findings go to the sink.
struct PayloadScan<Sink: FindingSink> {
    private var scanner: JSONScanner
    private let isLiveActivity: Bool
    let setting: ScanSetting
    var facts: PayloadFacts = []
    var sink: Sink

    /// - Parameter payload: rendered or compacted, so without white space; borrowed until ``run()`` returns.
    init(_ payload: UnsafeRawBufferPointer, _ setting: ScanSetting, sink: Sink) {
        scanner = JSONScanner(payload, top: .object)
        self.setting = setting
        isLiveActivity = setting.isLiveActivity
        self.sink = sink
    }

    mutating func run() {
        guard scanner.next() == .objectStart else { return }
        while scanner.next() == .key {
            if Self.isAps(scanner.token) { scanAps(scanner.token) } else { scanner.finish(scanner.next()) }
        }
        judgeContent()
    }

    @inline(__always)
    private static func isAps(_ key: UnsafeRawBufferPointer) -> Bool {
        key.count == 3 && key[0] == UInt8(ascii: "a") && key[1] == UInt8(ascii: "p") && key[2] == UInt8(ascii: "s")
    }

    private mutating func scanAps(_ name: UnsafeRawBufferPointer) {
        if facts.contains(.aps) { sink.note(.duplicateKey, FoundPlace(parent: .payload, key: name), nil) }
        facts.insert(.aps)
        let token = scanner.next()
        guard token == .objectStart else {
            return sink.note(.apsType, FoundPlace(parent: .aps, value: value(token)), nil)
        }
        let table = KeyTable.aps
        var seen: UInt64 = 0
        while scanner.next() == .key {
            let key = scanner.token
            let index = find(key, in: table, .aps, .unknownApsKey, &seen)
            if index < 0 { continue }
            let entry = table.entries[index]
            facts.formUnion(entry.fact)
            scanApsValue(key, entry)
        }
    }

    @inline(__always)
    private mutating func scanApsValue(_ key: UnsafeRawBufferPointer, _ entry: KeyEntry) {
        let token = scanner.next()
        if entry.isTextOrObject, token == .objectStart {
            if entry.fact == .alert { scanAlert() } else { scanSound() }
            return
        }
        let value = judgeValue(token, key, entry, .aps)
        if entry.isTextOrObject, !value.isEmpty { facts.insert(.shows) }
        if entry.isEvent { noteEvent(value) }
        // 0 asks for nothing.
        if entry.fact == .contentAvailable, value.kind == .number, DecimalNumber(value.bytes).isZero {
            facts.remove(.contentAvailable)
        }
    }

    /// Of the values that an event may have, the length tells which it is.
    private mutating func noteEvent(_ value: PayloadValue) {
        if value.bytes.count == 5 { facts.insert(.start) }
        if value.bytes.count == 3 { facts.insert(.end) }
    }

    private mutating func scanAlert() {
        let table = KeyTable.alert
        var seen: UInt64 = 0
        while scanner.next() == .key {
            let key = scanner.token
            let index = find(key, in: table, .alert, .unknownAlertKey, &seen)
            if index < 0 { continue }
            let entry = table.entries[index]
            if entry.isOfActivity, !isLiveActivity {
                let place = FoundPlace(parent: .alert, key: key, value: value(scanner.next()))
                sink.note(.unknownAlertKey, place, nil)
                continue
            }
            let value = judgeValue(scanner.next(), key, entry, .alert)
            if entry.fact.contains(.alertText), !value.isEmpty, value.kind != .null { facts.insert(.shows) }
        }
    }

    private mutating func scanSound() {
        let table = KeyTable.sound
        var seen: UInt64 = 0
        while scanner.next() == .key {
            facts.insert(.shows)
            let key = scanner.token
            let index = find(key, in: table, .sound, .unknownSoundKey, &seen)
            if index >= 0 { _ = judgeValue(scanner.next(), key, table.entries[index], .sound) }
        }
    }

    /// The key's place in the table. An unknown one is told, its value passed, and −1 given.
    @inline(__always)
    private mutating func find(
        _ key: UnsafeRawBufferPointer, in table: KeyTable, _ parent: PayloadKey.Parent, _ unknown: Rule,
        _ seen: inout UInt64
    ) -> Int {
        let index = table.find(key, end: scanner.bytes + scanner.count)
        if index < 0 {
            sink.note(unknown, FoundPlace(parent: parent, key: key, value: value(scanner.next())), nil)
            return index
        }
        let bit: UInt64 = 1 << UInt64(truncatingIfNeeded: index)
        if seen & bit != 0 { sink.note(.duplicateKey, FoundPlace(parent: parent, key: key), nil) }
        seen |= bit
        return index
    }

    @inline(__always)
    private mutating func judgeValue(
        _ token: JSONScanner.Token, _ key: UnsafeRawBufferPointer, _ entry: KeyEntry, _ parent: PayloadKey.Parent
    ) -> PayloadValue {
        if entry.isTexts, token == .arrayStart { return judgeTexts(key, entry.form, parent) }
        let value = value(token)
        if let fault = KeyJudge.fault(value, entry.form, isLiveActivity: isLiveActivity) {
            let place = FoundPlace(parent: parent, key: key, value: value)
            sink.note(fault.rule, place, FoundFault(form: entry.form, fault: fault))
        }
        return value
    }

    /// An array whose elements must be strings; the first that is none is told.
    private mutating func judgeTexts(
        _ key: UnsafeRawBufferPointer, _ form: PayloadKeyForm, _ parent: PayloadKey.Parent
    ) -> PayloadValue {
        let start = scanner.tokenStart
        var element = 0
        var isTold = false
        while case let token = scanner.next(), token != .arrayEnd, token != .fault {
            element += 1
            let value = value(token)
            if value.kind == .string || isTold { continue }
            let place = FoundPlace(parent: parent, key: key, value: value, element: element)
            sink.note(.keyType, place, FoundFault(form: form, fault: .type))
            isTold = true
        }
        return PayloadValue(kind: .array, bytes: scanner.passed(from: start))
    }

    /// The value that began with a token; of an object or array the rest is passed.
    @inline(__always)
    private mutating func value(_ token: JSONScanner.Token) -> PayloadValue {
        let text = scanner.token
        switch token {
        case .string: return PayloadValue(kind: .string, bytes: text)
        case .number: return PayloadValue(kind: .number, bytes: text)
        case .objectStart, .arrayStart:
            let start = scanner.tokenStart
            scanner.finish(token)
            return PayloadValue(kind: token == .objectStart ? .object : .array, bytes: scanner.passed(from: start))
        default:
            let letter = text.first
            let kind: PayloadValue.Kind =
                letter == UInt8(ascii: "t") ? .isTrue : letter == UInt8(ascii: "f") ? .isFalse : .null
            return PayloadValue(kind: kind, bytes: text)
        }
    }
}

extension PayloadScan {
    /// What the push type asks for, once all of `aps` is known.
    mutating func judgeContent() {
        if case .free = setting.content { return }
        guard facts.contains(.aps) else { return sink.note(.apsMissing, FoundPlace(parent: .payload), nil) }
        switch setting.content {
        case .visible: if !facts.contains(.shows) { tell(.alertNothingToShow) }
        case .silent: judgeSilent()
        case .contentChanged: if !facts.contains(.contentChanged) { tell(.contentChangedMissing, "content-changed") }
        case .activity: judgeActivity()
        case .free: break
        }
    }

    private mutating func judgeSilent() {
        if facts.contains(.alert) { tell(.backgroundShows, "alert") }
        if facts.contains(.badge) { tell(.backgroundShows, "badge") }
        if facts.contains(.sound) { tell(.backgroundShows, "sound") }
        if !facts.contains(.contentAvailable) { tell(.backgroundContentAvailable, "content-available") }
    }

    private mutating func judgeActivity() {
        if !facts.contains(.timestamp) { tell(.timestampMissing, "timestamp") }
        if !facts.contains(.event) { tell(.eventMissing, "event") }
        if facts.contains(.start), setting.isBroadcast { return tell(.broadcastStart, "event") }
        if facts.isDisjoint(with: [.contentState, .end]) { tell(.contentStateMissing, "content-state") }
        guard facts.contains(.start) else { return }
        if !facts.contains(.attributesType) { tell(.startAttributes, "attributes-type") }
        if !facts.contains(.attributes) { tell(.startAttributes, "attributes") }
        if !facts.contains(.alert) { tell(.startAlert, "alert") }
    }

    private mutating func tell(_ rule: Rule, _ key: StaticString? = nil) {
        let name = key.map { UnsafeRawBufferPointer(start: $0.utf8Start, count: $0.utf8CodeUnitCount) }
        sink.note(rule, FoundPlace(parent: .aps, key: name), nil)
    }
}

/// What a push type asks about: what stands in `aps`. Values that are wrong in themselves count as there, so that one
/// mistake is told once.
struct PayloadFacts: OptionSet {
    let rawValue: UInt16

    static let aps = PayloadFacts(rawValue: 1 << 0)
    static let alert = PayloadFacts(rawValue: 1 << 1)
    static let badge = PayloadFacts(rawValue: 1 << 2)
    static let sound = PayloadFacts(rawValue: 1 << 3)
    /// There is something to see or to hear.
    static let shows = PayloadFacts(rawValue: 1 << 4)
    static let contentAvailable = PayloadFacts(rawValue: 1 << 5)
    static let contentChanged = PayloadFacts(rawValue: 1 << 6)
    static let timestamp = PayloadFacts(rawValue: 1 << 7)
    static let event = PayloadFacts(rawValue: 1 << 8)
    /// The event is `start`.
    static let start = PayloadFacts(rawValue: 1 << 9)
    static let attributes = PayloadFacts(rawValue: 1 << 10)
    static let attributesType = PayloadFacts(rawValue: 1 << 11)
    /// A text of the alert: title, subtitle, body or a key for one of them.
    static let alertText = PayloadFacts(rawValue: 1 << 12)
    static let contentState = PayloadFacts(rawValue: 1 << 13)
    /// The event is `end`.
    static let end = PayloadFacts(rawValue: 1 << 14)

    init(rawValue: UInt16) { self.rawValue = rawValue }

    /// What a key says by being there.
    init(_ key: PayloadKey) {
        let known: [String: PayloadFacts] =
            switch key.parent {
            case .aps: Self.ofAps
            case .alert: Self.ofAlert
            case .payload, .sound: [:]
            }
        self = known[key.name] ?? []
    }

    private static let ofAps: [String: PayloadFacts] = [
        "alert": .alert, "badge": [.badge, .shows], "sound": .sound, "content-available": .contentAvailable,
        "content-changed": .contentChanged, "timestamp": .timestamp, "event": .event, "attributes": .attributes,
        "attributes-type": .attributesType, "content-state": .contentState,
    ]

    private static let ofAlert: [String: PayloadFacts] = [
        "title": .alertText, "subtitle": .alertText, "body": .alertText, "title-loc-key": .alertText,
        "subtitle-loc-key": .alertText, "loc-key": .alertText,
    ]
}
