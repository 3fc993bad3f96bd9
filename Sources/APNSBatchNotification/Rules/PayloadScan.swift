/// The properties of a push on which the rules depend.
struct ScanSetting {
    let pushType: PushType
    let content: PushTypeRule.Content
    let isBroadcast: Bool

    var isLiveActivity: Bool { pushType == .liveactivity }
}

/// One pass over a payload, which checks every key of `aps`, `alert` and `sound`, and at the end what the push type
/// requires.
///
/// It does not allocate. Findings go to the sink.
struct PayloadScan<Sink: FindingSink> {
    private var cursor: CompactCursor<Sink.Mode>
    private let isLiveActivity: Bool
    let setting: ScanSetting
    var facts: PayloadFacts = []
    var sink: Sink
    /// Whether a null was found outside `aps`. Only where the scan looks at texts.
    private(set) var hasNull = false
    /// Whether a text may be suspect. Only where the scan looks at texts.
    var hasSuspectText: Bool { cursor.hasSuspectText }

    /// - Parameter payload: borrowed until ``run()`` returns.
    init(_ payload: UnsafeRawBufferPointer, _ setting: ScanSetting, sink: Sink) {
        cursor = unsafe CompactCursor(payload)
        self.setting = setting
        isLiveActivity = setting.isLiveActivity
        self.sink = sink
    }

    mutating func run() {
        guard cursor.byte == UInt8(ascii: "{") else { return }
        cursor.open()
        while let key = unsafe cursor.nextKey() {
            if unsafe Self.isAps(key) {
                if Sink.Mode.looksAtTexts { cursor.isShown = true }
                unsafe scanAps(key)
                if Sink.Mode.looksAtTexts { (cursor.isShown, cursor.hasNull) = (false, false) }
            } else {
                _ = cursor.value()
                if Sink.Mode.looksAtTexts, cursor.hasNull { hasNull = true }
            }
        }
        judgeContent()
    }

    @inline(__always)
    private static func isAps(_ key: UnsafeRawBufferPointer) -> Bool {
        unsafe key.count == 3 && key[0] == UInt8(ascii: "a") && key[1] == UInt8(ascii: "p")
            && key[2] == UInt8(ascii: "s")
    }

    private mutating func scanAps(_ name: UnsafeRawBufferPointer) {
        if facts.contains(.aps) { unsafe sink.note(.duplicateKey, FoundPlace(parent: .payload, key: name), nil) }
        facts.insert(.aps)
        guard cursor.byte == UInt8(ascii: "{") else {
            let value = cursor.value()
            return unsafe sink.note(.apsType, FoundPlace(parent: .aps, value: value), nil)
        }
        var seen: UInt64 = 0
        let table = KeyTable.aps
        cursor.open()
        while let key = unsafe cursor.nextKey() {
            let index = unsafe find(key, in: table, .aps, .unknownApsKey, &seen)
            if index < 0 { continue }
            let entry = unsafe table.entries + index
            unsafe facts.formUnion(entry.pointee.fact)
            unsafe scanApsValue(key, entry)
        }
    }

    /// A valid event is known by its length: `start`, `end` or `update`.
    private mutating func noteEvent(_ value: PayloadValue) {
        if unsafe value.bytes.count == 5 { facts.insert(.start) }
        if unsafe value.bytes.count == 3 { facts.insert(.end) }
    }

    @inline(__always)
    private mutating func scanApsValue(_ key: UnsafeRawBufferPointer, _ entry: UnsafePointer<KeyEntry>) {
        guard unsafe entry.pointee.isTextOrObject else {
            let value = unsafe judgeValue(key, entry, .aps)
            if unsafe entry.pointee.isEvent { noteEvent(value) }
            // A value of 0 requests nothing.
            if unsafe entry.pointee.fact == .contentAvailable, value.kind == .number,
                unsafe DecimalNumber(value.bytes).isZero
            {
                facts.remove(.contentAvailable)
            }
            return
        }
        if cursor.byte == UInt8(ascii: "{") {
            if unsafe entry.pointee.fact == .alert { scanAlert() } else { scanSound() }
        } else if unsafe !judgeValue(key, entry, .aps).isEmpty {
            facts.insert(.shows)
        }
    }

    private mutating func scanAlert() {
        let table = KeyTable.alert
        var seen: UInt64 = 0
        cursor.open()
        while let key = unsafe cursor.nextKey() {
            let index = unsafe find(key, in: table, .alert, .unknownAlertKey, &seen)
            if index < 0 { continue }
            let entry = unsafe table.entries + index
            if unsafe entry.pointee.isOfActivity, !isLiveActivity {
                let place = unsafe FoundPlace(parent: .alert, key: key, value: cursor.value())
                sink.note(.unknownAlertKey, place, nil)
                continue
            }
            let value = unsafe judgeValue(key, entry, .alert)
            if unsafe entry.pointee.fact.contains(.alertText), !value.isEmpty, value.kind != .null {
                facts.insert(.shows)
            }
        }
    }

    private mutating func scanSound() {
        let table = KeyTable.sound
        var seen: UInt64 = 0
        cursor.open()
        while let key = unsafe cursor.nextKey() {
            facts.insert(.shows)
            let index = unsafe find(key, in: table, .sound, .unknownSoundKey, &seen)
            if index >= 0 { _ = unsafe judgeValue(key, table.entries + index, .sound) }
        }
    }

    /// Returns the index of a key in the table. For an unknown key it reports a finding, skips the value, and returns −1.
    @inline(__always)
    private mutating func find(
        _ key: UnsafeRawBufferPointer, in table: KeyTable, _ parent: PayloadKey.Parent, _ unknown: Rule,
        _ seen: inout UInt64
    ) -> Int {
        let index = unsafe table.find(key, end: cursor.end)
        if index < 0 {
            unsafe sink.note(unknown, FoundPlace(parent: parent, key: key, value: cursor.value()), nil)
            return index
        }
        let bit: UInt64 = 1 << UInt64(truncatingIfNeeded: index)
        if seen & bit != 0 { unsafe sink.note(.duplicateKey, FoundPlace(parent: parent, key: key), nil) }
        seen |= bit
        return index
    }

    @inline(__always)
    private mutating func judgeValue(
        _ key: UnsafeRawBufferPointer, _ entry: UnsafePointer<KeyEntry>, _ parent: PayloadKey.Parent
    ) -> PayloadValue {
        if unsafe entry.pointee.isTexts, cursor.byte == UInt8(ascii: "[") {
            return unsafe judgeTexts(key, entry.pointee.form, parent)
        }
        let value = cursor.value()
        if let fault = unsafe KeyJudge.fault(value, entry.pointee.form, isLiveActivity: isLiveActivity) {
            let place = unsafe FoundPlace(parent: parent, key: key, value: value)
            unsafe sink.note(fault.rule, place, FoundFault(form: entry.pointee.form, fault: fault))
        }
        return value
    }

    /// Checks an array whose elements must be strings, and reports the first one that is not.
    private mutating func judgeTexts(
        _ key: UnsafeRawBufferPointer, _ form: PayloadKeyForm, _ parent: PayloadKey.Parent
    ) -> PayloadValue {
        let start = unsafe cursor.at
        var element = 0
        var isTold = false
        cursor.open()
        while cursor.hasElement() {
            element += 1
            let value = cursor.value()
            if value.kind == .string || isTold { continue }
            let place = unsafe FoundPlace(parent: parent, key: key, value: value, element: element)
            sink.note(.keyType, place, FoundFault(form: form, fault: .type))
            isTold = true
        }
        return unsafe PayloadValue(.array, start, cursor.at - start)
    }
}

extension PayloadScan {
    /// Checks what the push type requires, once all of `aps` is known.
    mutating func judgeContent() {
        if case .free = setting.content { return }
        guard facts.contains(.aps) else { return unsafe sink.note(.apsMissing, FoundPlace(parent: .payload), nil) }
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
        let name = unsafe key.map { unsafe UnsafeRawBufferPointer(start: $0.utf8Start, count: $0.utf8CodeUnitCount) }
        unsafe sink.note(rule, FoundPlace(parent: .aps, key: name), nil)
    }
}

/// What `aps` contains, as far as push types require something of it. Invalid values count as present, so that a mistake is
/// reported only once.
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
    /// A text of the alert: title, subtitle or body, or a localisation key for one of them.
    static let alertText = PayloadFacts(rawValue: 1 << 12)
    static let contentState = PayloadFacts(rawValue: 1 << 13)
    /// The event is `end`.
    static let end = PayloadFacts(rawValue: 1 << 14)
}

extension PayloadFacts {
    /// The fact that follows from the presence of a key.
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
