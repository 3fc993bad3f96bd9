import APNSBatchNotification
import Testing

/// Tests whether the rows of a template are checked, and with which findings.
@Suite struct RowRuleTests {
    private static func rules(
        _ json: String, _ columns: [String], _ type: PushType = .alert, isBroadcast: Bool = false
    ) throws -> PayloadRules {
        PayloadRules(template: try PayloadTemplate(json, columns), pushType: type, isBroadcast: isBroadcast)
    }

    @Test(
        "Rows are not checked where no field can break a rule",
        arguments: [
            #"{"aps":{"alert":"Hi {{a}}"}}"#,
            #"{"aps":{"alert":{"title":"Hello","body":"{{a}}","loc-args":["{{a}}"]}},"x":"{{b:json}}"}"#,
            #"{"aps":{"alert":{"title":"Hello","subtitle":"{{a?}}","body":"{{b?}}"},"thread-id":"{{a?}}"}}"#,
            #"{"aps":{"alert":"x","acme":"{{b:json}}"}}"#,
            #"{"aps":{"badge":"{{a}}"}}"#,
        ])
    func noRows(json: String) throws {
        #expect(try !Self.rules(json, ["a", "b"]).needsRow)
    }

    @Test(
        "A number that fills a key must be within the key's range",
        arguments: [
            ("badge", "5", nil), ("badge", "-1", "expected a whole number of at least 0, found -1"),
            ("badge", "1.5", "expected a whole number of at least 0, found 1.5"),
            ("relevance-score", "0.3", nil), ("relevance-score", "3", "expected a number from 0 to 1, found 3"),
            ("content-available", "1", nil), ("content-available", "0", nil), ("mutable-content", "0", nil),
            ("content-available", "2", "expected 0 or 1, found 2"),
            ("mutable-content", "-1", "expected 0 or 1, found -1"),
            ("stale-date", "1e12", "expected whole seconds since 1970, found 1e12, which may be milliseconds"),
        ] as [(String, String, String?)])
    func ranges(key: String, field: String, expected: String?) throws {
        let wanted = expected.map { ["key-range: [n] aps.\(key): \($0)"] } ?? []
        for mark in ["", "?"] {
            let rules = try Self.rules("{\"aps\":{\"alert\":\"x\",\"\(key)\":\"{{n:number\(mark)}}\"}}", ["a", "n"])
            #expect(rules.needsRow && rules.templateFindings.isEmpty)
            #expect(try rules.row(["", field]) == wanted)
            if mark == "?" { #expect(try rules.row(["", ""]) == []) }
        }
    }

    @Test("The volume of a sound and a level must be in their ranges")
    func others() throws {
        let rules = try Self.rules(
            #"{"aps":{"sound":{"name":"a","volume":"{{v:number}}"},"interruption-level":"{{l}}"}}"#, ["v", "l"])
        #expect(try rules.row(["0.5", "active"]) == [])
        #expect(
            try rules.row(["1.5", "loud"]) == [
                "key-range: [v] aps.sound.volume: expected a number from 0 to 1, found 1.5",
                "key-range: [l] aps.interruption-level: "
                    + "expected passive, active, time-sensitive or critical, found \"loud\"",
            ])
    }

    @Test(
        "A placeholder of the wrong type is an error of the template, whatever the rows contain",
        arguments: [
            (
                #""badge":"{{a}}""#,
                #"key-type: aps.badge: expected a whole number, found "{{a}}""#
                    + "; a placeholder produces text unless it has a type, as in {{name:number}}"
            ),
            (#""badge":"{{a:bool}}""#, "key-type: aps.badge: expected a whole number, found true"),
            (#""category":"{{a:number}}""#, "key-type: aps.category: expected a string, found 1"),
            (
                #""url-args":["{{b}}","{{a:number}}"]"#,
                "key-type: aps.url-args: expected an array of strings, found 1 as element 2"
            ),
        ])
    func wrongType(member: String, expected: String) throws {
        #expect(try PayloadRules.ofTemplate("{\"aps\":{\"alert\":\"x\",\(member)}}", ["a", "b"]) == [expected])
    }

    @Test("A finding in a template has the line and column of the key or value")
    func place() throws {
        let json = "{\n  \"aps\": {\n    \"alert\": \"é\", \"badge\": \"five\",\n    \"thread_id\": 1\n  }\n}"
        for mark in ["", "\u{FEFF}"] {
            let rules = try Self.rules(mark + json, [])
            #expect(
                rules.templateFindings.map { "\($0.file):\($0.line):\($0.column): \($0.rule.rawValue)" } == [
                    "t.json:3:28: key-type", "t.json:4:5: unknown-aps-key",
                ])
        }
    }

    @Test(
        "A row without anything to show is reported, with the column that should hold a text",
        arguments: [
            (#""{{a}}""#, ["", "x"], false), (#""{{a}}""#, ["y", ""], true),
            (#"{"title":"{{a}}","body":"{{b}}"}"#, ["", ""], false),
            (#"{"title":"{{a}}","body":"{{b}}"}"#, ["", "x"], true),
            (#"{"title":"{{a?}}","subtitle":"{{b?}}"}"#, ["", ""], false),
            (#"{"title":"{{a?}}","subtitle":"{{b}}"}"#, ["x", ""], true),
            (#""{{a?}}""#, ["", ""], false), (#""Hi {{a?}}""#, ["x", ""], true), (#""Hi {{a?}}""#, ["", ""], false),
            (#""{{a:json}}""#, [#""""#, ""], false), (#""{{a:json}}""#, [#"{"title":"x"}"#, ""], true),
        ] as [(String, [String], Bool)])
    func shown(alert: String, fields: [String], isShown: Bool) throws {
        let rules = try Self.rules("{\"aps\":{\"alert\":\(alert)}}", ["a", "b"])
        let column = "a"
        let expected = [
            "alert-nothing-to-show: [\(column)] aps: "
                + "expected an alert, a badge or a sound in a push of type alert, found none"
        ]
        #expect(rules.templateFindings == [])
        #expect(try rules.row(fields) == (isShown ? [] : expected))
    }

    @Test(
        "A json field is checked against all rules of its key, and findings of the template are not repeated")
    func json() throws {
        let rules = try Self.rules(
            #"{"aps":{"acme":1,"alert":"{{a:json}}","badge":"{{b:json?}}"}}"#, ["a", "b"])
        #expect(rules.templateFindings.map(\.rule) == [.unknownApsKey])
        #expect(try rules.row([#"{"title":"x"}"#, "1"]) == [])
        #expect(
            try rules.row([#"{"title":1,"subtitel":"y"}"#, #""five""#]) == [
                "key-type: [a] aps.alert.title: expected a string, found 1",
                #"unknown-alert-key: [a] aps.alert.subtitel: unknown key; did you mean "subtitle"?"#,
                #"key-type: [b] aps.badge: expected a whole number, found "five""#,
            ])
        #expect(try rules.row([#"{"body":"x"}"#, ""]) == [])
    }

    @Test("An aps object or arguments from a field are checked against the rules")
    func jsonAround() throws {
        let aps = try Self.rules(#"{"aps":"{{a:json}}"}"#, ["a"])
        #expect(aps.templateFindings == [])
        #expect(try aps.row([#"{"alert":"x"}"#]) == [])
        #expect(
            try aps.row([#"{"alert":"x","badge":-1}"#]) == [
                "key-range: [a] aps.badge: expected a whole number of at least 0, found -1"
            ])
        #expect(try aps.row(["3"]).first == "aps-type: [a] aps: expected an object, found 3")
        let args = try Self.rules(#"{"aps":{"alert":{"loc-key":"A","loc-args":["{{b}}","{{a:json}}"]}}}"#, ["a", "b"])
        #expect(try args.row([#""x""#, "y"]) == [])
        #expect(
            try args.row(["7", "y"]) == [
                "key-type: [b] aps.alert.loc-args: expected an array of strings, found 7 as element 2"
            ])
    }

    @Test(
        "A badge or a sound from a field counts as something to show",
        arguments: [
            (#""badge":"{{b:number?}}""#, "5"), (#""sound":"{{b?}}""#, "x"), (#""sound":{"name":"{{b?}}"}"#, "x"),
            (#""sound":"a{{b?}}""#, "x"),
        ])
    func shownBeside(member: String, field: String) throws {
        let rules = try Self.rules("{\"aps\":{\"alert\":\"{{a}}\",\(member)}}", ["a", "b"])
        #expect(rules.templateFindings == [])
        #expect(try rules.row(["", field]) == [])
        #expect(try rules.row(["x", ""]) == [])
        #expect(try rules.row(["", ""]).map { $0.prefix(26) } == ["alert-nothing-to-show: [a]"])
    }

    @Test("Each row is checked for required content that an empty field can remove")
    func optionalContent() throws {
        let missing = [
            "background-content-available: [c] aps.content-available: "
                + "expected 1 in a push of type background, found nothing"
        ]
        let background = try Self.rules(#"{"aps":{"content-available":"{{c:number?}}"}}"#, ["c"], .background)
        #expect(try background.row(["1"]) == [])
        #expect(try background.row([""]) == missing)
        #expect(try background.row(["0"]) == missing)
        let always = try Self.rules(#"{"aps":{"content-available":"{{c:number}}"}}"#, ["c"], .background)
        #expect(try always.row(["1"]) == [])
        #expect(try always.row(["0"]) == missing)
        let activity = #"{"aps":{"timestamp":"{{t:number}}","event":"{{e}}","content-state":"{{s:json}}"}}"#
        let broadcast = try Self.rules(activity, ["t", "e", "s"], .liveactivity, isBroadcast: true)
        #expect(try broadcast.row(["1", "update", "{}"]) == [])
        #expect(
            try broadcast.row(["-1", "start", "[]"]) == [
                "key-range: [t] aps.timestamp: expected whole seconds since 1970, found -1",
                "key-type: [s] aps.content-state: expected an object, found an array",
                #"broadcast-start: [e] aps.event: expected update or end in a broadcast, found "start""#,
            ])
    }

    @Test(
        "A default is checked when the template is compiled, and an empty field is then valid"
    )
    func defaults() throws {
        let wrong = #"{"aps":{"alert":"{{a|x}}","badge":"{{b:number|-1}}","interruption-level":"{{l|urgent}}"}}"#
        #expect(
            try PayloadRules.ofTemplate(wrong, ["a", "b", "l"]) == [
                "key-range: aps.badge: expected a whole number of at least 0, found -1",
                "key-range: aps.interruption-level: "
                    + "expected passive, active, time-sensitive or critical, found \"urgent\"",
            ])
        let right = try Self.rules(
            #"{"aps":{"alert":"{{a|x}}","badge":"{{b:number|3}}","interruption-level":"{{l|active}}"}}"#,
            ["a", "b", "l"])
        #expect(right.templateFindings == [])
        #expect(try right.row(["", "", ""]) == [])
        #expect(
            try right.row(["", "-1", ""]) == [
                "key-range: [b] aps.badge: expected a whole number of at least 0, found -1"
            ])
    }

    @Test("A text with a default always shows something, so a row without text is valid")
    func shownByDefault() throws {
        let rules = try Self.rules(#"{"aps":{"alert":{"title":"{{a}}","body":"{{b|x}}"}}}"#, ["a", "b"])
        #expect(rules.templateFindings == [] && !rules.needsRow)
        #expect(try rules.row(["", ""]) == [])
    }

    @Test("Defaults count for the size of a row's payload, but not for the minimum size of a template")
    func defaultSize() throws {
        let long = String(repeating: "x", count: 4096)
        let rules = try Self.rules("{\"aps\":{\"alert\":\"{{a|\(long)}}\"}}", ["a"])
        #expect(rules.templateFindings == [])
        #expect(try rules.row(["y"]) == [])
        #expect(rules.template?.rendered("", capacity: 4096) == .tooLarge(4116))
    }

    @Test("Booleans are checked against the keys that take one")
    func bool() throws {
        let widgets = try Self.rules(#"{"aps":{"content-changed":"{{c:bool}}"}}"#, ["c"], .widgets)
        #expect(try widgets.row(["TRUE"]) == [])
        #expect(try widgets.row(["0"]) == ["key-range: [c] aps.content-changed: expected true, found false"])
        let mutable = try Self.rules(#"{"aps":{"alert":"x","mutable-content":"{{c:bool}}"}}"#, ["c"])
        #expect(
            try mutable.row(["1"]) == ["mutable-content-true: [c] aps.mutable-content: expected 0 or 1, found true"])
        #expect(try mutable.row(["0"]) == ["key-type: [c] aps.mutable-content: expected 0 or 1, found false"])
    }

    @Test("An unusable field or template names its rule")
    func failures() throws {
        let template = try PayloadTemplate(#"{"aps":{"badge":"{{n:number}}","x":"{{j:json}}"}}"#, ["n", "j"])
        func rule(_ fields: [String]) -> Rule? {
            let memory = fields.map { GuardedMemory(Array($0.utf8)) }
            let output = GuardedMemory(count: 4096)
            defer { withExtendedLifetime((memory, output)) {} }
            return memory.map { UnsafeRawBufferPointer($0.bytes) }.withUnsafeBufferPointer {
                guard case .invalid(let failure) = template.render(fields: $0, into: output.bytes) else { return nil }
                return failure.rule
            }
        }
        #expect(rule(["five", "1"]) == .columnValueType)
        #expect(rule(["5", "{a}"]) == .jsonSyntax)
        #expect(rule(["5", "1"]) == nil)
        #expect(throws: TemplateError.self) { try PayloadTemplate("{,}") }
        do { _ = try PayloadTemplate("{,}") } catch { #expect(error.rule == .jsonSyntax) }
        do { _ = try PayloadTemplate(#"{"a":"{{b}}"}"#) } catch { #expect(error.rule == .template) }
    }
}
