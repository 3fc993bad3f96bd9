import APNSBatchBasics

/// A finding in a row's payload.
package struct PayloadFinding: Equatable, Sendable {
    package let rule: Rule
    /// The index of the column with the faulty field; nil for a raw payload, or if no field is at fault.
    package let column: Int?
    /// For example `aps.badge: expected a whole number, found "five"`. It never contains a card number.
    package let message: String
}

/// A finding in a template, which holds for all rows.
package struct TemplateFinding: Equatable, Sendable {
    package let rule: Rule
    package let file: String
    /// Counted from 1.
    package let line: Int
    /// Counted from 1, in characters (Unicode scalars).
    package let column: Int
    package let message: String
}

/// The result of checking a payload against the rules. A trivial type without references.
@usableFromInline package struct PayloadVerdict: Equatable, Sendable {
    package var hasError = false
    package var hasWarning = false

    @inlinable package init() {}

    package var isClean: Bool { !hasError && !hasWarning }
}

/// The place of a finding in a payload, and the value there.
@safe struct FoundPlace {
    var parent: PayloadKey.Parent
    /// The member's name as in the payload; nil for the parent itself.
    var key: UnsafeRawBufferPointer?
    var value: PayloadValue?
    /// The number of the faulty element of the value, counted from 1; 0 if it is not about an element.
    var element = 0
}

/// The form that a key's value should have, and its fault, for the message.
struct FoundFault {
    var form: PayloadKeyForm
    var fault: KeyFault
}

/// Receives the findings of the scan. `VerdictSink` keeps only the verdict, `FindingCollector` makes messages.
protocol FindingSink {
    /// Whether the scan looks at texts, too.
    associatedtype Mode: CursorMode
    mutating func note(_ rule: Rule, _ place: FoundPlace, _ fault: FoundFault?)
}

/// Keeps only whether there are errors and warnings.
struct VerdictSink<Mode: CursorMode>: FindingSink {
    var verdict = PayloadVerdict()

    @inline(never)
    mutating func note(_ rule: Rule, _ place: FoundPlace, _ fault: FoundFault?) {
        if rule.severity == .error { verdict.hasError = true } else { verdict.hasWarning = true }
    }
}

/// A finding with its place in the payload, whether it belongs to the template or to a row.
struct LocatedFinding: Equatable {
    let rule: Rule
    /// The keys from the top of the payload on: `aps`, `alert`, `body`. An element of an array is `[0]`.
    let path: [String]
    let message: String
}

/// Collects the findings of the scan with their messages.
struct FindingCollector: FindingSink {
    typealias Mode = PassingTexts

    let setting: ScanSetting
    private(set) var findings: [LocatedFinding] = []

    init(_ setting: ScanSetting) { self.setting = setting }

    mutating func note(_ rule: Rule, _ place: FoundPlace, _ fault: FoundFault?) {
        let words = RuleWords(setting: setting, place: place)
        findings.append(LocatedFinding(rule: rule, path: words.path, message: words.message(rule, fault)))
    }
}

/// Makes the message of a finding: the key's path, what was expected, and what was found.
struct RuleWords {
    let setting: ScanSetting
    let place: FoundPlace

    var path: [String] {
        let above = place.parent == .payload ? [] : place.parent.path.split(separator: ".").map(String.init)
        return unsafe above + (place.key.map { unsafe [Self.name($0)] } ?? [])
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
        case .duplicateKey: return "this key occurs twice"
        case .unknownApsKey, .unknownAlertKey, .unknownSoundKey: return unknownKey
        case .alertNothingToShow: return "expected an alert, a badge or a sound \(push), found none"
        case .backgroundShows: return "expected no alert, badge or sound \(push)"
        case .backgroundContentAvailable: return "expected 1 \(push), found nothing"
        case .contentChangedMissing: return "expected true \(push), found nothing"
        case .timestampMissing: return "expected whole seconds since 1970 \(push), found nothing"
        case .eventMissing: return "expected start, update or end \(push), found nothing"
        case .contentStateMissing: return "expected an object \(push) that does not end the activity, found nothing"
        case .startAttributes, .startAlert: return "required with event \"start\", found nothing"
        case .broadcastStart: return "expected update or end in a broadcast, found \"start\""
        default: return rule.about
        }
    }

    private var unknownKey: String {
        let hint = unsafe place.key.flatMap {
            unsafe KeyHint.find(String(decoding: $0, as: UTF8.self), in: place.parent, of: setting.pushType)
        }
        let start = "unknown key" + (hint.map { "; did you mean \($0)?" } ?? "")
        if place.parent != .aps { return start }
        return start + (hint == nil ? "; " : " ") + "custom keys belong beside aps"
    }

    static func name(_ key: UnsafeRawBufferPointer) -> String {
        unsafe CardNumber.isHeld(in: key) ? "" : String(FoundText.quoted(key).dropFirst().dropLast())
    }

    /// Returns a value for a message: short, and never a card number.
    static func shown(_ value: PayloadValue) -> String {
        switch value.kind {
        case .string: unsafe FoundText.quoted(value.bytes)
        case .number where unsafe CardNumber.isHeld(in: value.bytes): unsafe FoundText.quoted(value.bytes)
        case .number: unsafe String(FoundText.quoted(value.bytes).dropFirst().dropLast())
        case .isTrue: "true"
        case .isFalse: "false"
        case .null: "null"
        case .object: "an object"
        case .array: "an array"
        }
    }
}

/// Suggests the key that an unknown key most likely stands for.
enum KeyHint {
    /// Returns for example `"thread-id"`, or `"thread-id" in aps`; nil if no key is similar.
    static func find(_ name: String, in parent: PayloadKey.Parent, of pushType: PushType) -> String? {
        let dashed = dashed(name)
        let wanted = aliases[dashed] ?? dashed
        let own = names(in: parent, of: pushType)
        if own.contains(wanted) { return "\"\(wanted)\"" }
        for other in [PayloadKey.Parent.aps, .alert, .sound] where other != parent {
            if names(in: other, of: pushType).contains(wanted) { return "\"\(wanted)\" in \(other.path)" }
        }
        return NearestName.find(wanted, in: own).map { "\"\($0)\"" }
    }

    private static func names(in parent: PayloadKey.Parent, of pushType: PushType) -> [String] {
        PayloadKey.all(in: parent).filter { $0.pushType == nil || $0.pushType == pushType }.map(\.name)
    }

    /// Returns `thread-identifier` for `thread_identifier` and `threadIdentifier`.
    private static func dashed(_ name: String) -> String {
        var result = ""
        for letter in name.unicodeScalars {
            switch letter {
            case "_", " ": result += "-"
            case "A"..."Z":
                if let last = result.last, last != "-" { result += "-" }
                unsafe result.unicodeScalars.append(Unicode.Scalar(letter.value + 0x20).unsafelyUnwrapped)
            default: result.unicodeScalars.append(letter)
            }
        }
        return result
    }

    /// Names from Apple's classes and from guides, and the corresponding keys of payloads.
    private static let aliases = [
        "thread-identifier": "thread-id", "thread": "thread-id", "category-identifier": "category",
        "target-content-identifier": "target-content-id", "launch-image-name": "launch-image", "message": "body",
        "text": "body", "loc-arg": "loc-args", "localized-key": "loc-key", "sub-title": "subtitle",
    ]
}
