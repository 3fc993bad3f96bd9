import APNSBatchNotification
import Testing

/// Random payloads with keys of Apple's and other keys, which have valid and invalid values.
struct RandomPayload {
    var json: RandomJSON
    /// Whether strings may be placeholders of the columns t, u (text), n (number), b (bool) and j (json).
    let hasFields: Bool

    init(_ seed: UInt64, hasFields: Bool = false) {
        json = RandomJSON(seed)
        self.hasFields = hasFields
    }

    static let columns = ["t", "u", "n", "b", "j"]

    mutating func object(_ parent: PayloadKey.Parent) -> String {
        var names = PayloadKey.all(in: parent).map(\.name)
        if parent == .payload { names += ["custom", "order"] } else { names += ["thread_id", "acme"] }
        // These are often the keys that together decide which content is missing.
        if json.random.chance(40) {
            names =
                switch parent {
                case .payload: ["aps", "custom"]
                case .aps: ["alert", "badge", "event", "attributes", "attributes-type", "content-available"]
                case .alert: ["title", "body"]
                case .sound: ["name"]
                }
        }
        var members: [String] = []
        var used: Set<String> = []
        for _ in 0..<json.random.below(7) {
            let name = json.random.pick(names)
            // A template with a duplicate key is refused.
            if !used.insert(name).inserted { continue }
            members.append("\"\(name)\":\(value(parent, name))")
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    mutating func payload() -> String {
        json.random.chance(90) ? "{\"aps\":\(object(.aps)),\"custom\":\(value(.payload, "custom"))}" : object(.payload)
    }

    private mutating func value(_ parent: PayloadKey.Parent, _ name: String) -> String {
        if parent == .payload, name == "aps", json.random.chance(80) { return object(.aps) }
        if parent == .aps, name == "alert", json.random.chance(60) { return object(.alert) }
        if parent == .aps, name == "sound", json.random.chance(40) { return object(.sound) }
        let kinds = hasFields ? 14 : 8
        switch json.random.below(kinds) {
        case 0: return json.random.pick(["0", "1", "-1", "0.5", "7", "1e1", "1700000000", "1700000000000", "1.0"])
        case 1: return json.random.pick(["true", "false", "null"])
        case 2: return json.random.pick(["[]", "[\"a\"]", "[\"a\",1]", "[[]]"])
        case 3: return json.random.pick(["{}", "{\"loc-key\":\"a\"}", "{\"a\":[{\"b\":\"]\"}]}"])
        case 4: return json.random.pick(["\"start\"", "\"update\"", "\"active\"", "\"default\"", "\"\""])
        case 5, 6, 7: return json.random.pick(["\"a\"", "\"1\"", "\"a \\\" b\"", "\"é\"", "1", "true"])
        default: return field()
        }
    }

    private mutating func field() -> String {
        let mark = json.random.chance(40) ? "?" : ""
        let pick = json.random.pick([
            "{{t\(mark)}}", "{{t\(mark)}}", "{{u\(mark)}}", "{{t\(mark)}}{{u}}", "a {{u\(mark)}}",
            "{{n:number\(mark)}}",
            "{{b:bool\(mark)}}", "{{j:json\(mark)}}",
        ])
        return json.random.chance(20) ? "[\"x\",\"\(pick)\"]" : "\"\(pick)\""
    }

    mutating func row() -> [String] {
        [
            json.random.pick(["", "a", "active", "start", "end"]), json.random.pick(["", "b"]),
            json.random.pick(["0", "1", "-1", "0.5", "9", "1700000000000", "1"]), json.random.pick(["true", "false"]),
            value(.payload, "custom").replacing("{{", with: "x"),
        ]
    }
}

@Suite struct RulePropertyTests {
    @Test("A payload and a template without placeholders get the same findings")
    func agreement() throws {
        for seed in 0..<UInt64(1000) {
            var random = RandomPayload(seed)
            let payload = random.payload()
            let type = random.json.random.pick(PushType.allCases)
            let isBroadcast = type == .liveactivity && random.json.random.chance(50)
            let raw = try PayloadRules.ofRaw(payload, type, isBroadcast: isBroadcast, cardNumbers: true)
            let template = try PayloadRules.ofTemplate(payload, [], type, isBroadcast: isBroadcast)
            #expect(raw.sorted() == template.sorted(), "seed \(seed) \(type): \(payload)")
        }
    }

    @Test("The findings of a template and a row together equal those of the row's payload")
    func rows() throws {
        var asked = 0
        for seed in 0..<UInt64(1500) {
            var random = RandomPayload(seed, hasFields: true)
            let json = random.payload()
            let type = random.json.random.pick([PushType.alert, .alert, .background, .liveactivity, .widgets, .voip])
            let template = try PayloadTemplate(json, RandomPayload.columns)
            let rules = PayloadRules(template: template, pushType: type)
            if rules.needsRow { asked += 1 }
            for _ in 0..<4 {
                let fields = random.row()
                guard let payload = template.rendered(fields.map { Array($0.utf8) }).string else { continue }
                let raw = PayloadRules(template: nil, pushType: type).findings(Array(payload.utf8))
                // The precondition in row() also compares the verdict with the messages.
                let row = try rules.row(fields).map { $0.replacing(#/: \[[tunbj]\] /#, with: ": ") }
                let settled = rules.templateFindings.map { "\($0.rule.rawValue): \($0.message)" }
                let (rawKeys, rowKeys) = (Self.keys(raw), Self.keys(row))
                let settledKeys = Self.keys(settled)
                #expect(rawKeys.isSubset(of: rowKeys.union(settledKeys)), "seed \(seed) \(type): \(json) \(fields)")
                #expect(rowKeys.isSubset(of: rawKeys), "seed \(seed) \(type): \(json) \(fields)")
                #expect(rowKeys.isDisjoint(with: settledKeys))
                // A finding about a template also holds for every row, unless its key is omitted because its field is
                // empty. A finding about missing content remains in any case.
                let missing = settledKeys.filter { $0.contains("-missing") || $0.contains("nothing-to-show") }
                #expect(missing.isSubset(of: rawKeys), "seed \(seed) \(type): \(json) \(fields)")
                if !json.contains("?}}") {
                    #expect(settledKeys.isSubset(of: rawKeys), "seed \(seed) \(type): \(json) \(fields)")
                }
            }
        }
        #expect(asked > 200 && asked < 1400)
    }

    /// Returns rule and path of each finding. The found values differ, since a finding about a template shows the
    /// placeholder.
    private static func keys(_ findings: [String]) -> Set<String> {
        Set(findings.map { $0.split(separator: ": ").prefix(2).joined(separator: ": ") })
    }

    @Test("Arbitrary bytes cause no crash")
    func anyBytes() {
        let rules = PushType.allCases.map { PayloadRules(template: nil, pushType: $0) }
        for seed in 0..<UInt64(500) {
            var random = RandomPayload(seed)
            var bytes = Array(random.payload().utf8)
            for _ in 0..<20 {
                if bytes.isEmpty { break }
                let place = random.json.random.below(bytes.count)
                bytes[place] = random.json.random.pick(Array("\"\\{}[],:0-eu \n\0\u{7F}".utf8))
                if random.json.random.chance(20) { bytes.removeSubrange(random.json.random.below(bytes.count)...) }
                _ = rules[Int(seed) % rules.count].findings(bytes)
            }
        }
    }

    @Test("Random JSON is scanned to its end, so a key after it is found")
    func walked() throws {
        for seed in 0..<UInt64(500) {
            var json = RandomJSON(seed)
            json.value(depth: 1)
            let payload =
                "{\"a\":\(json.text),\"aps\":{\"alert\":\"x\",\"content-state\":{\"a\":\(json.text)},\"badge\":-1}}"
            #expect(
                try PayloadRules.ofRaw(payload).filter { !$0.hasPrefix("null-value") && !$0.hasPrefix("suspect-text") }
                    == [
                        "key-range: aps.badge: expected a whole number of at least 0, found -1"
                    ], "\(payload)")
        }
    }
}
