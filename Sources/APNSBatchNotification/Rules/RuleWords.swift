/// The message of a finding: the key's path, what was expected, what was found.
struct RuleWords {
    let setting: ScanSetting
    let place: FoundPlace

    var path: [String] {
        let above: [String] =
            switch place.parent {
            case .payload: []
            case .aps: ["aps"]
            case .alert: ["aps", "alert"]
            case .sound: ["aps", "sound"]
            }
        guard let key = place.key else { return above }
        return above + [Self.name(key)]
    }

    func message(_ rule: Rule, _ fault: FoundFault?) -> String {
        let start = path.isEmpty ? "payload" : path.joined(separator: ".")
        return "\(start): " + (fault.map(value) ?? explanation(rule))
    }

    private func value(_ found: FoundFault) -> String {
        let shown = place.value.map(Self.shown) ?? "nothing"
        switch found.fault {
        case .type where place.element > 0:
            return "expected \(found.form.expectedType()), found \(shown) as element \(place.element)"
        case .type:
            return "expected \(found.form.expectedType(isLiveActivity: setting.isLiveActivity)), found \(shown)"
        case .range, .trueForOne: return "expected \(found.form.expectedRange), found \(shown)"
        case .milliseconds: return "expected \(found.form.expectedRange), found \(shown), which may be milliseconds"
        }
    }

    private func explanation(_ rule: Rule) -> String {
        let push = "in a push of type \(setting.pushType.name)"
        switch rule {
        case .apsMissing: return "expected an object named aps \(push), found none"
        case .apsType: return "expected an object, found \(place.value.map(Self.shown) ?? "nothing")"
        case .duplicateKey: return "this key stands twice"
        case .unknownApsKey, .unknownAlertKey, .unknownSoundKey: return unknownKey
        case .alertNothingToShow: return "expected an alert, a badge or a sound \(push), found none"
        case .backgroundShows: return "expected no alert, badge or sound \(push)"
        case .backgroundContentAvailable: return "expected 1 \(push), found nothing"
        case .contentChangedMissing: return "expected true \(push), found nothing"
        case .timestampMissing: return "expected whole seconds since 1970 \(push), found nothing"
        case .eventMissing: return "expected start, update or end \(push), found nothing"
        case .contentStateMissing: return "expected an object \(push) that does not end it, found nothing"
        case .startAttributes, .startAlert: return "expected beside event \"start\", found nothing"
        case .broadcastStart: return "expected update or end in a broadcast, found \"start\""
        default: return rule.about
        }
    }

    private var unknownKey: String {
        let hint = place.key.flatMap {
            KeyHint.find(String(decoding: $0, as: UTF8.self), in: place.parent, of: setting.pushType)
        }
        let start = "unknown key" + (hint.map { "; did you mean \($0)?" } ?? "")
        if place.parent != .aps { return start }
        return start + (hint == nil ? "; " : " ") + "custom keys stand beside aps"
    }

    static func name(_ key: UnsafeBufferPointer<UInt8>) -> String {
        String(FoundText.quoted(hidingCards(UnsafeRawBufferPointer(key))).dropFirst().dropLast())
    }

    /// A value as a message may show it: short, and never a card's number.
    static func shown(_ value: PayloadValue) -> String {
        switch value.kind {
        case .string: CardNumber.isHeld(in: value.bytes) ? "a number like a card's" : FoundText.quoted(value.bytes)
        case .number: CardNumber.isHeld(in: value.bytes) ? "a number like a card's" : number(value.bytes)
        case .isTrue: "true"
        case .isFalse: "false"
        case .null: "null"
        case .object: "an object"
        case .array: "an array"
        }
    }

    private static func number(_ bytes: UnsafeRawBufferPointer) -> String {
        String(FoundText.quoted(bytes).dropFirst().dropLast())
    }

    private static func hidingCards(_ key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        CardNumber.isHeld(in: key) ? UnsafeRawBufferPointer(rebasing: key.prefix(0)) : key
    }
}
