/// Reads a payload and judges it by its push type.
///
/// Apple names no reason for a payload that is not JSON. The simulator answers 400 `BadRequestPayload`, the only reason
/// in Apple's tables that speaks of a payload that cannot be read. The same is answered when the top is no object, when
/// `aps` is no object, and when a key of `aps` has a value of a wrong type.
///
/// A payload that does not fit its push type gets 400 `InvalidPushType`.
struct PayloadCheck: ~Copyable {
    private let nesting = JSONNesting(textMaximum: PushType.payloadMaximumOfAll)

    deinit {
        nesting.deallocate()
    }

    /// Judges size, JSON and push type.
    ///
    /// - Parameters:
    ///   - body: what was kept of the body.
    ///   - total: how many bytes the client sent; the body was cut when this is more than `body.count`.
    ///   - facts: gets what was found, when the payload could be read.
    func answer(_ body: Bytes, total: Int, type: PushType, facts: inout PayloadFacts) -> FixedAnswer {
        guard total > 0 else { return .payloadEmpty }
        guard total <= type.payloadMaximum, total == body.count else { return .payloadTooLarge }
        guard read(body, into: &facts), !facts.contains(.wrongType) else { return .badRequestPayload }
        return Self.fits(facts, type) ? .accepted : .invalidPushType
    }

    /// Judges the payload of a broadcast: as of a Live Activity, larger, and it cannot start one.
    func answer(_ body: Bytes, total: Int, broadcast facts: inout PayloadFacts) -> FixedAnswer {
        guard total > 0 else { return .payloadEmpty }
        guard total <= PushType.payloadMaximumOfAll, total == body.count else { return .payloadTooLarge }
        guard read(body, into: &facts), facts.isDisjoint(with: [.wrongType, .eventStart]) else {
            return .badRequestPayload
        }
        return Self.fits(facts, .liveactivity) ? .accepted : .invalidPushType
    }

    /// The rules that tie a payload to its push type.
    ///
    /// - alert: an alert, a badge or a sound.
    /// - background: `content-available` 1, and none of the three.
    /// - widgets, controls: `content-changed` true.
    /// - liveactivity: `timestamp`, and `event` one of start, update, end.
    /// - the others carry what the app likes.
    static func fits(_ facts: PayloadFacts, _ type: PushType) -> Bool {
        switch type {
        case .alert: !facts.isDisjoint(with: [.alertShows, .badge, .soundPlays])
        case .background: facts.contains(.contentAvailable) && facts.isDisjoint(with: [.alert, .badge, .sound])
        case .widgets, .controls: facts.contains(.contentChanged)
        case .liveactivity: facts.contains([.timestamp, .event])
        case .voip, .complication, .fileprovider, .location, .pushtotalk, .mdm: true
        }
    }

    /// Reads the whole payload. False when it is not strict JSON with an object at the top and, where there is one, an
    /// object under `aps`. Of a name that occurs twice, the last value counts.
    func read(_ body: Bytes, into facts: inout PayloadFacts) -> Bool {
        var scanner = JSONScanner(body, nesting: nesting)
        guard scanner.openObject() else { return false }
        var isFirst = true
        while true {
            let step = scanner.nextMember(isFirst: &isFirst)
            guard step.outcome == .member else {
                guard step.outcome == .end, scanner.isAtEnd() else { return false }
                if scanner.sawBlanks {
                    facts.insert(.blanks)
                }
                return true
            }
            if step.name.equals("aps") {
                facts = []
                guard Self.readAps(&scanner, &facts) else { return false }
            } else {
                guard scanner.value().isValid else { return false }
            }
        }
    }

    private static func readAps(_ scanner: inout JSONScanner, _ facts: inout PayloadFacts) -> Bool {
        guard scanner.openObject() else { return false }
        facts.insert(.aps)
        var isFirst = true
        while true {
            let step = scanner.nextMember(isFirst: &isFirst)
            guard step.outcome == .member else { return step.outcome == .end }
            let value = scanner.value()
            guard value.isValid else { return false }
            note(step.name, value, &facts)
        }
    }

    /// Notes one member of `aps`. Keys without a rule are passed over.
    @inline(__always)
    private static func note(_ name: JSONText, _ value: JSONValue, _ facts: inout PayloadFacts) {
        if name.isEscaped {
            noteAny(name, value, &facts)
            return
        }
        switch name.bytes.count {
        case 5, 9, 15, 17, 18: noteAny(name, value, &facts)
        default: return
        }
    }

    private static func noteAny(_ name: JSONText, _ value: JSONValue, _ facts: inout PayloadFacts) {
        if name.equals("alert") {
            facts.subtract(.ofAlert)
            facts.insert(value.isEmpty ? .alert : .ofAlert)
            require(value.kind == .string || value.kind == .object, &facts)
        } else if name.equals("badge") {
            facts.insert(.badge)
            require(value.kind == .number, &facts)
        } else if name.equals("sound") {
            facts.subtract(.ofSound)
            facts.insert(value.isEmpty ? .sound : .ofSound)
            require(value.kind == .string || value.kind == .object, &facts)
        } else if name.equals("event") {
            set(.event, if: value.kind == .string && isEvent(value.text), &facts)
            set(.eventStart, if: value.kind == .string && value.text.equals("start"), &facts)
            require(value.kind == .string, &facts)
        } else if name.equals("timestamp") {
            set(.timestamp, if: value.kind == .number, &facts)
            require(value.kind == .number, &facts)
        } else if name.equals("content-available") {
            set(.contentAvailable, if: value.kind == .number && value.text.bytes.equals("1"), &facts)
            require(value.kind == .number, &facts)
        } else if name.equals("mutable-content") {
            require(value.kind == .number, &facts)
        } else if name.equals("relevance-score") {
            require(value.kind == .number, &facts)
        } else if name.equals("content-changed") {
            set(.contentChanged, if: value.kind == .true, &facts)
            require(value.kind == .true || value.kind == .false, &facts)
        } else if name.equals("interruption-level") {
            require(value.kind == .string && isInterruptionLevel(value.text), &facts)
        }
    }

    @inline(__always)
    private static func require(_ isRight: Bool, _ facts: inout PayloadFacts) {
        if !isRight {
            facts.insert(.wrongType)
        }
    }

    @inline(__always)
    private static func set(_ fact: PayloadFacts, if holds: Bool, _ facts: inout PayloadFacts) {
        if holds {
            facts.insert(fact)
        } else {
            facts.remove(fact)
        }
    }

    private static func isEvent(_ text: JSONText) -> Bool {
        text.equals("update") || text.equals("start") || text.equals("end")
    }

    private static func isInterruptionLevel(_ text: JSONText) -> Bool {
        text.equals("active") || text.equals("passive") || text.equals("time-sensitive") || text.equals("critical")
    }
}
