/// What a payload is held against, apart from the keys.
struct ScanSetting {
    let pushType: PushType
    let content: PushTypeRule.Content
    let isBroadcast: Bool

    var isLiveActivity: Bool { pushType == .liveactivity }
}

/// One pass over a payload: every key of `aps`, `alert` and `sound`, and at the end what the push type asks for.
///
/// Nothing is allocated here; findings go to the sink.
struct PayloadScan<Sink: FindingSink> {
    private var cursor: CompactCursor
    private let isLiveActivity: Bool
    let setting: ScanSetting
    var facts: PayloadFacts = []
    var sink: Sink

    /// - Parameter payload: borrowed until ``run()`` returns.
    init(_ payload: UnsafeRawBufferPointer, _ setting: ScanSetting, sink: Sink) {
        cursor = CompactCursor(payload)
        self.setting = setting
        isLiveActivity = setting.isLiveActivity
        self.sink = sink
    }

    mutating func run() {
        guard cursor.byte == UInt8(ascii: "{") else { return }
        cursor.open()
        while let key = cursor.nextKey() {
            if Self.isAps(key) { scanAps(key) } else { _ = cursor.value() }
        }
        judgeContent()
    }

    @inline(__always)
    private static func isAps(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        key.count == 3 && key[0] == UInt8(ascii: "a") && key[1] == UInt8(ascii: "p") && key[2] == UInt8(ascii: "s")
    }

    private mutating func scanAps(_ name: UnsafeBufferPointer<UInt8>) {
        if facts.contains(.aps) { sink.note(.duplicateKey, FoundPlace(parent: .payload, key: name), nil) }
        facts.insert(.aps)
        guard cursor.byte == UInt8(ascii: "{") else {
            let value = cursor.value()
            return sink.note(.apsType, FoundPlace(parent: .aps, value: value), nil)
        }
        var seen: UInt64 = 0
        let table = KeyTable.aps
        cursor.open()
        while let key = cursor.nextKey() {
            let index = find(key, in: table, .aps, .unknownApsKey, &seen)
            if index < 0 { continue }
            let entry = table.entries + index
            facts.formUnion(entry.pointee.fact)
            scanApsValue(key, entry)
        }
    }

    /// Of the values that an event may have, the length tells which it is.
    private mutating func noteEvent(_ value: PayloadValue) {
        if value.count == 5 { facts.insert(.start) }
        if value.count == 3 { facts.insert(.end) }
    }

    @inline(__always)
    private mutating func scanApsValue(_ key: UnsafeBufferPointer<UInt8>, _ entry: UnsafePointer<KeyEntry>) {
        guard entry.pointee.isTextOrObject else {
            let value = judgeValue(key, entry, .aps)
            if entry.pointee.isEvent { noteEvent(value) }
            // 0 asks for nothing.
            if entry.pointee.fact == .contentAvailable, Self.isZero(value) { facts.remove(.contentAvailable) }
            return
        }
        if cursor.byte == UInt8(ascii: "{") {
            if entry.pointee.fact == .alert { scanAlert() } else { scanSound() }
        } else if !judgeValue(key, entry, .aps).isEmpty {
            facts.insert(.shows)
        }
    }

    private static func isZero(_ value: PayloadValue) -> Bool {
        guard value.kind == .number else { return false }
        return value.count == 1 ? value.start[0] == UInt8(ascii: "0") : DecimalNumber(value.start, value.count).isZero
    }

    private mutating func scanAlert() {
        let table = KeyTable.alert
        var seen: UInt64 = 0
        cursor.open()
        while let key = cursor.nextKey() {
            let index = find(key, in: table, .alert, .unknownAlertKey, &seen)
            if index < 0 { continue }
            let entry = table.entries + index
            if entry.pointee.isOfActivity, !isLiveActivity {
                let place = FoundPlace(parent: .alert, key: key, value: cursor.value())
                sink.note(.unknownAlertKey, place, nil)
                continue
            }
            let value = judgeValue(key, entry, .alert)
            if entry.pointee.fact.contains(.alertText), !value.isEmpty, value.kind != .null { facts.insert(.shows) }
        }
    }

    private mutating func scanSound() {
        let table = KeyTable.sound
        var seen: UInt64 = 0
        cursor.open()
        while let key = cursor.nextKey() {
            facts.insert(.shows)
            let index = find(key, in: table, .sound, .unknownSoundKey, &seen)
            if index >= 0 { _ = judgeValue(key, table.entries + index, .sound) }
        }
    }

    /// The key's place in the table. An unknown one is told, its value passed, and −1 given.
    @inline(__always)
    private mutating func find(
        _ key: UnsafeBufferPointer<UInt8>, in table: KeyTable, _ parent: PayloadKey.Parent, _ unknown: Rule,
        _ seen: inout UInt64
    ) -> Int {
        let index = table.find(key, end: cursor.end)
        if index < 0 {
            sink.note(unknown, FoundPlace(parent: parent, key: key, value: cursor.value()), nil)
            return index
        }
        let bit: UInt64 = 1 << UInt64(truncatingIfNeeded: index)
        if seen & bit != 0 { sink.note(.duplicateKey, FoundPlace(parent: parent, key: key), nil) }
        seen |= bit
        return index
    }

    @inline(__always)
    private mutating func judgeValue(
        _ key: UnsafeBufferPointer<UInt8>, _ entry: UnsafePointer<KeyEntry>, _ parent: PayloadKey.Parent
    ) -> PayloadValue {
        if entry.pointee.isTexts, cursor.byte == UInt8(ascii: "[") {
            return judgeTexts(key, entry.pointee.form, parent)
        }
        let value = cursor.value()
        if let fault = KeyJudge.fault(value, entry.pointee.form, isLiveActivity: isLiveActivity) {
            let place = FoundPlace(parent: parent, key: key, value: value)
            sink.note(fault.rule, place, FoundFault(form: entry.pointee.form, fault: fault))
        }
        return value
    }

    /// An array whose elements must be strings; the first that is none is told.
    private mutating func judgeTexts(
        _ key: UnsafeBufferPointer<UInt8>, _ form: PayloadKeyForm, _ parent: PayloadKey.Parent
    ) -> PayloadValue {
        let start = cursor.at
        var element = 0
        var isTold = false
        cursor.open()
        while cursor.hasElement() {
            element += 1
            let value = cursor.value()
            if value.kind == .string || isTold { continue }
            let place = FoundPlace(parent: parent, key: key, value: value, element: element)
            sink.note(.keyType, place, FoundFault(form: form, fault: .type))
            isTold = true
        }
        return PayloadValue(kind: .array, start: start, count: cursor.at - start)
    }
}
