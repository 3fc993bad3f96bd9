/// Reads `aps` and notes the facts about it. Keys without a rule are passed over. Functions return false where the text
/// is not JSON.
enum ApsReader {
    static func read(_ scanner: inout JSONScanner, _ facts: inout PayloadFacts) -> Bool {
        guard scanner.openObject() else { return false }
        facts.insert(.aps)
        return scanner.members { scanner, name in
            switch ApsKey(name) {
            case .alert:
                facts.subtract(.ofAlert)
                return readAlert(&scanner, &facts)
            case .sound:
                facts.subtract(.ofSound)
                return readSound(&scanner, &facts)
            case .urlArgs: return readStrings(&scanner, allowsNull: false, &facts)
            case let key:
                let value = scanner.value()
                if value.isValid, let key { note(key, value, &facts) }
                return value.isValid
            }
        }
    }

    /// Reads a key whose value needs no further reading.
    @inline(__always)
    private static func note(_ key: ApsKey, _ value: JSONValue, _ facts: inout PayloadFacts) {
        switch key {
        case .badge:
            facts.insert(.badge)
            require(value.kind == .number, &facts)
        case .event: noteEvent(value, &facts)
        case .timestamp:
            set(.timestamp, if: value.kind == .number, &facts)
            require(value.kind == .number, &facts)
        case .contentAvailable:
            unsafe set(.contentAvailable, if: value.kind == .number && value.text.bytes.equals("1"), &facts)
            require(value.kind == .number, &facts)
        case .contentChanged:
            set(.contentChanged, if: value.kind == .true, &facts)
            require(value.kind == .true || value.kind == .false, &facts)
        case .contentState:
            set(.contentState, if: value.kind == .object, &facts)
            require(value.kind == .object, &facts)
        case .attributes:
            set(.attributes, if: value.kind == .object, &facts)
            require(value.kind == .object, &facts)
        case .attributesType:
            set(.attributesType, if: value.kind == .string, &facts)
            require(value.kind == .string, &facts)
        case .relevanceScore:
            require(value.kind == .number, &facts)
            set(.relevanceOutOfRange, if: value.kind == .number && !value.isWithinUnit, &facts)
        case .interruptionLevel: require(value.kind == .string && isInterruptionLevel(value.text), &facts)
        case .mutableContent:
            // A large provider documents `true`, and its pushes are delivered.
            require(value.kind == .number || value.kind == .true, &facts)
        case .staleDate, .dismissalDate, .inputPushToken, .summaryArgCount:
            require(value.kind == .number, &facts)
        case .threadID, .category, .targetContentID, .filterCriteria, .inputPushChannel, .summaryArg:
            require(value.kind == .string, &facts)
        case .alert, .sound, .urlArgs: break
        }
    }

    /// A string, or a dictionary with each member of its type. `title` and `body` may be dictionaries for a Live
    /// Activity.
    private static func readAlert(_ scanner: inout JSONScanner, _ facts: inout PayloadFacts) -> Bool {
        facts.insert(.alert)
        guard scanner.openObject() else {
            return readText(&scanner, shows: .alertShows, &facts)
        }
        return scanner.members { scanner, name in
            facts.insert(.alertShows)
            let key = AlertKey(name)
            if key == .locArgs || key == .titleLocArgs || key == .subtitleLocArgs {
                return readStrings(&scanner, allowsNull: key == .titleLocArgs, &facts)
            }
            let value = scanner.value()
            switch key {
            case .title, .body:
                if value.kind == .object { facts.insert(.textIsObject) }
                require(value.kind == .string || value.kind == .object, &facts)
            case .titleLocKey, .actionLocKey: require(value.kind == .string || value.kind == .null, &facts)
            case .summaryArgCount: require(value.kind == .number, &facts)
            case nil: break
            default: require(value.kind == .string, &facts)
            }
            return value.isValid
        }
    }

    /// A string, or a dictionary with `critical` 0 or 1, `name` and `volume` from 0 to 1.
    private static func readSound(_ scanner: inout JSONScanner, _ facts: inout PayloadFacts) -> Bool {
        facts.insert(.sound)
        guard scanner.openObject() else {
            return readText(&scanner, shows: .soundPlays, &facts)
        }
        return scanner.memberValues { name, value in
            facts.insert(.soundPlays)
            switch SoundKey(name) {
            case .critical:
                let digit = unsafe value.text.bytes
                unsafe require(value.kind == .number && (digit.equals("1") || digit.equals("0")), &facts)
            case .file: require(value.kind == .string, &facts)
            case .volume: require(value.kind == .number && value.isWithinUnit, &facts)
            case nil: break
            }
        }
    }

    /// What is no object under `alert` or `sound`: a string, which shows unless it is empty.
    private static func readText(
        _ scanner: inout JSONScanner, shows fact: PayloadFacts, _ facts: inout PayloadFacts
    ) -> Bool {
        let value = scanner.value()
        guard value.isValid else { return false }
        require(value.kind == .string, &facts)
        set(fact, if: !value.isEmpty, &facts)
        return true
    }

    /// An array of strings.
    private static func readStrings(
        _ scanner: inout JSONScanner, allowsNull: Bool, _ facts: inout PayloadFacts
    ) -> Bool {
        guard scanner.openArray() else {
            let value = scanner.value()
            require(value.kind == .null && allowsNull, &facts)
            return value.isValid
        }
        return scanner.elements { require($0.kind == .string, &facts) }
    }

    private static func noteEvent(_ value: JSONValue, _ facts: inout PayloadFacts) {
        facts.subtract([.event, .eventStart, .eventEnd])
        require(value.kind == .string, &facts)
        guard value.kind == .string else { return }
        if value.text.equals("update") {
            facts.insert(.event)
        } else if value.text.equals("start") {
            facts.insert([.event, .eventStart])
        } else if value.text.equals("end") {
            facts.insert([.event, .eventEnd])
        }
    }

    @inline(__always)
    private static func require(_ isRight: Bool, _ facts: inout PayloadFacts) {
        if !isRight { facts.insert(.wrongType) }
    }

    @inline(__always)
    private static func set(_ fact: PayloadFacts, if holds: Bool, _ facts: inout PayloadFacts) {
        if holds { facts.insert(fact) } else { facts.remove(fact) }
    }

    private static func isInterruptionLevel(_ text: JSONText) -> Bool {
        text.equals("active") || text.equals("passive") || text.equals("time-sensitive") || text.equals("critical")
    }
}
