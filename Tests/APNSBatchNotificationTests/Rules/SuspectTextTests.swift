import APNSBatchNotification
import Testing

/// What betrays a broken export, and what people write.
@Suite struct SuspectTextTests {
    /// Texts of every kind, and the words with which the message begins.
    static let suspects: [(text: String, found: String)] =
        [
            "\\N", "NULL", "null", "None", "nil", "nan", "NaN", "NaT", "undefined", "#N/A", "#REF!", "N/A", "n/a",
            "<null>", "(null)",
            "[NULL]", "<NA>", "[object Object]", "NULL ", " null", "  N/A  ", "'NULL'", " 'null' ", "'\\N'",
            "undefined  ",
            "[NULL] ",
        ].map { ($0, "found \"\($0)\", a word for no value") } + [
            (" ", "found nothing but blanks"), ("\t \u{A0}", "found nothing but blanks"),
            ("                    ", "found nothing but blanks"),
            (#"{"a":1}"#, "found an object or array"), ("{}", "found an object or array"),
            (#"["a","b"]"#, "found an object or array"),
            (#"Optional("Ann")"#, #"found "Optional(""#),
            ("Optional(5)", #"found "Optional(5)", a value as a program"#),
            ("\"NULL\"", "found \"\"NULL\"\", a word for no value"),
            ("[1, 2]", "found an object or array"), ("[]", "found an object or array"),
            (#"[{"a":1}]"#, "found an object or array"),
            (#"line one\nline two"#, #"found the characters "\n", an escape"#),
            (#"a\tb"#, #"found the characters "\t""#),
            (#"caf\u00e9"#, #"found the characters "\u00e9""#), (#"\ud83d\ude00"#, #"found the characters "\ud83d""#),
            (#"say \"hi\""#, #"found the characters "\"""#), (#"it\'s"#, #"found the characters "\'""#),
            (#"\xe9"#, #"found the characters "\xe9""#),
            ("Tom &amp; Jerry", #"found "&amp;", an entity"#), ("it&#39;s", #"found "&#39;""#),
            ("it&#x27;s", #"found "&#x27;""#),
            ("a&nbsp;b", #"found "&nbsp;""#), ("&Eacute;cole", #"found "&Eacute;""#), ("AT&amp;T", #"found "&amp;""#),
            ("ZoÃ«", #"found "Ã«", which is UTF-8"#), ("itâ€™s", #"found "â€"#), ("Â£5", #"found "Â£""#),
            ("Ã…ngstrÃ¶m", #"found "Ã…""#), ("MÃ¼ller", #"found "Ã¼""#), ("Ð°Ð±", #"found "Ð°""#),
            ("ðŸ˜€", #"found "ðŸ""#),
            ("ï»¿Hi", "found \"ï»¿\""), ("GÃ–TTINGEN", #"found "Ã–""#),
            ("M\u{FFFD}ller", "found U+FFFD"), ("Hi {{name}}", #"found "{{name}}", a placeholder"#),
            ("{{ x", #"found "{{""#), ("{% if %}", #"found "{% if %}""#), ("Hi ${name}", #"found "${name}""#),
            ("Hi #{name}", ##"found "#{name}""##), ("Hi %s", #"found "%s""#), ("Hi %@!", #"found "%@""#),
            ("%1$s won", #"found "%1$s""#),
            ("Hi %(name)s", #"found "%(name)s""#), ("Hi *|NAME|*", #"found "*|NAME|*""#),
            ("Hi %%name%%", #"found "%%name%%""#),
            ("<b>Sale</b>", #"found "<b>", a tag"#), ("a<br>b", #"found "<br>""#), ("a<br />b", #"found "<br />""#),
            (#"<a href="x">y</a>"#, "found \"<a href="), ("</p>", #"found "</p>""#),
            ("<STRONG>x", #"found "<STRONG>""#),
        ]

    /// Texts in which nothing is to be found.
    static let plain = [
        "", "Ann", "Null", "Nina", "nilgai", "None of us", "undefined behaviour", "Nan", "NAN", "Na", "-",
        "null and void", "N/A-7", "'Nina'", "Optional", "Optional (new)", "'n", "O", "None of us ", "\"quoted\"",
        "Zoë", "it’s", "£5", "Ångström", "Müller", "NÃO", "MANHÃ…", "AMANHÃ – 9h", "Âge", "«Ñ»", "España", "привет",
        "日本語！", "😀", "שלום",
        "AT&T; more", "Q&A;", "R&D", "Tom & Jerry", "a && b", "a & b;", "50%", "50% s", "100%s", "5%d", "100 %", "%",
        "50%%", "%-d",
        "a < b", "<3", "a <b and c> d", "I <3 you", "x<y>z", "a -> b", "{name}", "{}x", "a {b}", "#1", "# {x}", "$5",
        "$ {x}", "[1]",
        "[new]", "[x] done", "(nulls)", #"C:\Users"#, #"¯\_(ツ)_/¯"#, #"\o/"#, #"\q"#, #"\u12"#, "a | b", "a * b", "*|",
        "|*", "**bold**",
        "line one\nline two", "a \"quote\"", "tab\there", " Ann", "Ann ", "x\u{A0}y", "1,000", "#hashtag", "(sic)",
        "url",
        "https://example.com/?a=1&b=2&c=3", "https://example.com/?a=%20b&amp=1", "e-mail: a@b.example <a@b.example>",
        "A text that is longer than one block of sixteen bytes, and than two of them, too, without any of it.",
    ]

    private func finding(_ text: String, template: String) throws -> [String] {
        let rules = PayloadRules(template: try PayloadTemplate(template, ["t"]), pushType: .alert)
        return try rules.row([text])
    }

    private static func json(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    @Test("A suspect text is found in a field, wherever it is in it", arguments: suspects)
    func fields(text: String, found: String) throws {
        let alert = try finding(text, template: #"{"aps":{"alert":"Hi {{t}}"}}"#)
        #expect(alert.count == 1 && alert[0].hasPrefix("suspect-text: [t] t: \(found)"), "\(alert)")
        #expect(try finding(text, template: #"{"aps":{"alert":{"title":"a","loc-args":["{{t}}"]}}}"#).count == 1)
    }

    @Test("A suspect text is found in a payload of the row's own, too", arguments: suspects)
    func payloads(text: String, found: String) throws {
        let string = Self.json(text)
        for (payload, path) in [
            (#"{"aps":{"alert":"\#(string)"}}"#, "aps.alert"),
            (#"{"aps":{"alert":{"body":"\#(string)"}}}"#, "aps.alert.body"),
            (#"{"aps":{"alert":{"title":"a","loc-args":["a","\#(string)"]}}}"#, "aps.alert.loc-args[1]"),
        ] {
            let findings = try PayloadRules.ofRaw(payload).filter { !$0.hasPrefix("alert-") }
            #expect(findings.count == 1 && findings[0].hasPrefix("suspect-text: \(path): \(found)"), "\(findings)")
        }
    }

    @Test("What people write is not suspect", arguments: plain)
    func people(text: String) throws {
        #expect(try finding(text, template: #"{"aps":{"alert":"Hi {{t}}"},"x":"{{t}}"}"#) == [])
        let string = Self.json(text)
        #expect(
            try PayloadRules.ofRaw(#"{"aps":{"alert":{"title":"a","body":"\#(string)"}},"x":["\#(string)"]}"#) == [])
    }

    @Test("What is inside a longer text is found at every place", arguments: 0..<40)
    func places(count: Int) throws {
        let before = String(repeating: "x", count: count)
        for part in ["&amp;", #"\n"#, "Ã©", "\u{FFFD}", "{{x}}", "<b>", "*|X|*"] {
            let found = try finding("\(before)\(part)yz", template: #"{"aps":{"alert":"{{t}}"}}"#)
            #expect(found.count == 1, "\(count) \(part)")
            let end = try finding("\(before)\(part)", template: #"{"aps":{"alert":"{{t}}"}}"#)
            #expect(end.count == 1, "\(count) \(part)")
            #expect(try PayloadRules.ofRaw(#"{"aps":{"alert":"\#(before)\#(Self.json(part))"}}"#).count == 1)
        }
    }

    @Test("In what only the app reads, fewer forms are suspect")
    func data() throws {
        let template = #"{"aps":{"alert":"a"},"order":{"id":"{{t}}"}}"#
        for text in [
            "\\N", "NULL", "null", "NaN", "undefined", "#N/A", "[object Object]", "ZoÃ«", "\u{FFFD}", "{{name}}",
        ] {
            #expect(try finding(text, template: template).count == 1, "\(text)")
            #expect(
                try PayloadRules.ofRaw(#"{"aps":{"alert":"a"},"order":[{"id":"\#(Self.json(text))"}]}"#).count == 1,
                "\(text)")
            #expect(
                try PayloadRules.ofRaw(#"{"aps":{"alert":"a","category":"\#(Self.json(text))"}}"#).count == 1, "\(text)"
            )
        }
        for text in ["None", "nil", "N/A", " ", "{}", "<b>x</b>", "a&amp;b", #"C:\new"#, "%s", "${x}", #"{"a":1}"#] {
            #expect(try finding(text, template: template) == [], "\(text)")
            #expect(
                try PayloadRules.ofRaw(#"{"aps":{"alert":"a"},"order":[{"id":"\#(Self.json(text))"}]}"#) == [],
                "\(text)")
        }
    }

    @Test("Texts in JSON of a field are looked at like those of a payload")
    func jsonFields() throws {
        let rules = PayloadRules(
            template: try PayloadTemplate(#"{"aps":{"alert":"{{j:json}}"},"x":"{{k:json?}}"}"#, ["j", "k"]),
            pushType: .alert)
        #expect(
            try rules.row([#"{"body":"&lt;b"}"#, ""]) == [
                #"suspect-text: [j] aps.alert.body: found "&lt;", an entity of HTML, which is shown as it is"#
            ])
        #expect(
            try rules.row([#" {"body":"x"}"#, #" { "a" : [ "\\N" ] }"#]).map { $0.prefix(24) } == [
                "suspect-text: [k] x.a[0]"
            ])
        #expect(try rules.row([#""NULL""#, "1"]).map { $0.prefix(30) } == ["suspect-text: [j] aps.alert: f"])
    }

    @Test(
        "What is looked at in JSON first finds all that is in the strings, however they are escaped",
        arguments: suspects)
    func escapes(text: String, found: String) throws {
        let units = text.utf16.map { unit in
            let hex = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
        }
        let rules = PayloadRules(
            template: try PayloadTemplate(#"{"aps":{"alert":"{{t:json}}"}}"#, ["t"]), pushType: .alert)
        // The precondition in row() compares the first look with the findings.
        #expect(try rules.row(["\"\(units.joined())\""]).count == 1)
        for before in ["\\u0001", "\\u000B", "\\n", "A\\u0000"] {
            _ = try PayloadRules.ofRaw(#"{"aps":{"alert":"\#(before)\#(Self.json(text))"}}"#)
            _ = try rules.row(["\"\(before)\(Self.json(text))\""])
        }
        let quotes = String(repeating: "\\\"", count: 80)
        for pair in ["{% \(quotes) %}", "<a href=\(quotes)>", "%(\(quotes))s"] {
            _ = try PayloadRules.ofRaw(#"{"aps":{"alert":"\#(pair)"}}"#)
        }
    }

    @Test("A message shows no card number")
    func cards() throws {
        let found = try finding("<a href=4111111111111111>", template: #"{"aps":{"alert":"{{t}}"}}"#)
        #expect(
            found == [
                "suspect-text: [t] t: found what looks like a card number, a tag of HTML, which is shown as it is"
            ])
    }

    @Test("While sending, texts are not looked at")
    func sending() throws {
        let template = PayloadRules(
            template: try PayloadTemplate(#"{"aps":{"alert":"Hi {{t}}"}}"#, ["t"]), pushType: .alert)
        #expect(!template.needsRow)
        let raw = PayloadRules(template: nil, pushType: .alert)
        let payload = Array(#"{"aps":{"alert":"NULL"},"x":null}"#.utf8)
        payload.withUnsafeBytes { #expect(raw.check($0, fields: UnsafeBufferPointer(start: nil, count: 0)).isClean) }
    }
}

@Suite struct NullValueTests {
    @Test(
        "A null beside aps is reported by its place",
        arguments: [
            (#"{"aps":{"alert":"a"},"order":null}"#, ["order"]),
            (#"{"aps":{"alert":"a"},"data":{"a":null}}"#, ["data.a"]),
            (#"{"data":[1,null,{"b":[null]}],"aps":{"alert":"a"}}"#, ["data[1]", "data[2].b[0]"]),
            (#"{"a":null,"aps":{"alert":"a"},"b":null}"#, ["a", "b"]),
        ])
    func nulls(payload: String, paths: [String]) throws {
        let expected = paths.map { "null-value: \($0): found null, which not every app survives; leave the key out" }
        #expect(try PayloadRules.ofRaw(payload) == expected)
        #expect(try PayloadRules.ofTemplate(payload) == expected)
    }

    @Test(
        "Other values are not",
        arguments: [
            #"{"aps":{"alert":"a"},"x":"n","n":1,"y":[true,false,{"null":"x"}]}"#,
            #"{"aps":{"alert":{"title":"a","title-loc-key":null}},"x":1}"#,
            #"{"aps":{"alert":"a","content-state":{"a":null},"attributes":[null]},"x":{}}"#,
        ])
    func others(payload: String) throws {
        #expect(try PayloadRules.ofRaw(payload).filter { $0.hasPrefix("null-value") } == [])
        #expect(try PayloadRules.ofTemplate(payload).filter { $0.hasPrefix("null-value") } == [])
    }

    @Test("A null under aps stays an error")
    func aps() throws {
        #expect(
            try PayloadRules.ofRaw(#"{"aps":{"alert":"a","badge":null}}"#).map { $0.prefix(19) } == [
                "key-type: aps.badge"
            ])
    }

    @Test("A null in JSON of a field is reported with its column, one in a default with the template")
    func fields() throws {
        let template = try PayloadTemplate(
            #"{"aps":{"alert":"a"},"x":{"y":"{{j:json}}"},"z":"{{k:json|null}}"}"#, ["j", "k"])
        let rules = PayloadRules(template: template, pushType: .alert)
        let message = "found null, which not every app survives; leave the key out"
        #expect(rules.templateFindings.map(\.message) == ["z: \(message)"])
        #expect(try rules.row([" null", "1"]) == ["null-value: [j] x.y: \(message)"])
        #expect(try rules.row([#"{ "a" : [ 1 , null ] }"#, ""]) == ["null-value: [j] x.y.a[1]: \(message)"])
        #expect(try rules.row([#"{"n":"null "}"#, "1"]) == [])
    }
}
