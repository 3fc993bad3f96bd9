import Testing

@testable import APNSBatchNotification

/// The quick looks at texts and JSON, by which nearly all rows are done with.
@Suite struct SuspectLookTests {
    /// Beginnings and ends of all that is looked for, and what resembles them.
    private static let parts = [
        "\\", "N", "NULL", "null", "nil", "nan", "NaN", "NaT", "None", "N/A", "n/a", "#N/A", "#REF!", "undefined",
        "(null)",
        "<null>", "<nil>", "<NA>", "[NULL]", "[object Object]", " ", "\t", "\n", "\u{A0}", "[", "]", "{", "}", "{}",
        "[]",
        "\"", "'", "1", ",", "&", "amp", ";", "&#39;", "<", "b", ">", "</", "br", " /", "a href=", "%", "s", "@", "1$s",
        "(name)s", "%%", "|", "*", "name", "$", "#", "${", "#{", "{{", "}}", "{%", "%}", "Ã", "Â", "Ð", "Ñ", "â", "ï",
        "ð", "©",
        "€", "™", "…", "š", "Å", "£", "°", "»", "¿", "Ÿ", "\u{FFFD}", "！", "é", "日", "😀", "x", "Ann", "fifteen letters",
        "sixteen letters.", "u00e9", "x41", "n", "r", "t", "u", "null,", "ul",
    ]

    private static let mojibake = ["Ã©", "Â£", "Ã…x", "Ð°Ð±", "Ñ€Ð", "â€™", "â‚¬", "ï»¿", "ðŸ˜€", "Ðx", "âx", "ïn"]

    fileprivate static func text(_ random: inout SeededGenerator) -> String {
        let padding = random.chance(30) ? String(repeating: "z", count: random.below(34)) : ""
        if random.chance(10) { return padding + random.pick(mojibake) + random.pick(["", "x", "日"]) }
        return padding + (0..<random.below(5)).map { _ in random.pick(parts) }.joined()
    }

    private static func find(_ text: String, _ setting: SuspectText.Setting) -> SuspectText.Find? {
        SuspectText.search(Array(text.utf8).span, setting)
    }

    @Test("There is a find in a text if and only if the quick look says so", arguments: [true, false])
    func texts(isShown: Bool) {
        var random = SeededGenerator(1)
        var (found, clean) = (0, 0)
        for _ in 0..<8_000 {
            let text = Self.text(&random)
            let setting = SuspectText.Setting(isShown: isShown)
            let find = Self.find(text, setting)
            let memory = GuardedMemory(Array(text.utf8))
            #expect(SuspectText.isHeld(in: UnsafeRawBufferPointer(memory.bytes), setting) == (find != nil), "\(text)")
            if find == nil { clean += 1 } else { found += 1 }
        }
        #expect(found > 500 && clean > 2000)
    }

    @Test("The quick look at JSON misses no find and no null, however a program writes it", arguments: [true, false])
    func json(isShown: Bool) {
        var random = SeededGenerator(2)
        var (found, clean, asked) = (0, 0, 0)
        for _ in 0..<8_000 {
            var json = SuspectRandomJSON(random: random)
            json.value(depth: 0)
            random = json.random
            let setting = SuspectText.Setting(isShown: isShown)
            let isSuspect = json.texts.contains { Self.find($0, setting) != nil }
            let memory = GuardedMemory(Array(json.json.utf8))
            let bytes = UnsafeRawBufferPointer(memory.bytes)
            for nulls in [true, false] {
                let held = SuspectJSON.mayHold(bytes, isShown: isShown, nulls: nulls)
                #expect(held || !isSuspect && !(nulls && json.hasNull), "\(json.json)")
                if held && !isSuspect && !(nulls && json.hasNull) { asked += 1 }
            }
            if isSuspect { found += 1 } else { clean += 1 }
        }
        #expect(found > 500 && clean > 2000 && asked < 100, "\(found) \(clean) \(asked)")
    }

    @Test("What is looked for in JSON is found at every place", arguments: [#""NULL""#, #""x {{name}} x""#, "null"])
    func places(part: String) {
        for before in 0..<40 {
            let padding = String(repeating: "z", count: before)
            let json = #"["\#(padding)",\#(part),"\#(String(repeating: "z", count: 40))"]"#
            #expect(Array(json.utf8).withUnsafeBytes { SuspectJSON.mayHold($0, isShown: true, nulls: true) }, "\(json)")
        }
    }

    @Test("The look at strings of a payload misses no find and no null")
    func payloads() throws {
        var random = SeededGenerator(3)
        for _ in 0..<3_000 {
            var json = SuspectRandomJSON(random: random)
            json.value(depth: 0)
            random = json.random
            // The comparison is in findings().
            _ = try PayloadRules.ofRaw(#"{"aps":{"alert":\#(json.json)},"x":\#(json.json)}"#)
        }
    }

    @Test(
        "In usual JSON one look at the bytes is enough",
        arguments: [
            #"{"name":"Zoë","note":"Nina","number":12,"user":{"url":"https://example.com/?a=1&b=2","unit":"kg"}}"#,
            #"{ "a" : "x" , "list" : [ "b", "c" ] , "ok" : true, "empty" : "", "n" : -1.5e3 }"#,
            #"{"quote":"say \"hi\"","path":"a\/b","lines":"one\ntwo","caf\u00e9":"\ud83d\ude00 d\u00e9j\u00e0, it\u0027s"}"#,
            ##"["AT&T","50 % off","a < b","#1","$5","(new)","full, all of it","日本語！","Ångström","España","null and void"]"##,
            "[]", "{}", "0", "true", "\"\"", "\"text\"", #" { "order" : 1 } "#,
        ])
    func usual(json: String) {
        let look = SuspectJSON.Look(setting: SuspectText.Setting(isShown: true, isJSON: true), nulls: true)
        #expect(Array(json.utf8).withUnsafeBytes { !look.mayHold($0) })
    }

    @Test("Every number of bytes below 16 is a block with zeros behind it")
    func blocks() {
        for count in 1..<16 {
            let bytes = (1...UInt8(count)).map { $0 }
            let memory = GuardedMemory(bytes)
            let block = UnsafeRawBufferPointer(memory.bytes).start.block(count: count)
            let padded = bytes + Array(repeating: 0, count: 17 - count)
            #expect((0..<16).map { block[$0] } == Array(padded[..<16]))
            #expect((0..<16).map { block.next[$0] } == Array(padded[1...]))
        }
    }

    @Test("Lanes that are set are visited in their order")
    func lanes() {
        var random = SeededGenerator(4)
        for _ in 0..<1000 {
            var block = Bytes16(repeating: 0)
            let set = Set((0..<random.below(17)).map { _ in random.below(16) })
            for lane in set { block[lane] = 1 }
            #expect(Array(SetLanes(block .== Bytes16(repeating: 1))) == set.sorted())
        }
    }
}

/// Random JSON of strings with ``SuspectLookTests`` parts, each character of which is written in one of the ways that JSON allows.
private struct SuspectRandomJSON {
    var random: SeededGenerator
    private(set) var json = ""
    private(set) var texts: [String] = []
    private(set) var hasNull = false

    init(random: SeededGenerator) { self.random = random }

    mutating func value(depth: Int) {
        blank()
        switch random.below(10) {
        case 0...1 where depth < 3:
            json += "["
            for index in 0..<random.below(4) {
                if index > 0 { json += "," }
                value(depth: depth + 1)
            }
            json += "]"
        case 2...3 where depth < 3:
            json += "{"
            for index in 0..<random.below(4) {
                if index > 0 { json += "," }
                blank()
                string(random.pick(["note", "name", "n", "null", "NULL", "url", "a", "#", "{{", "\(index)"]))
                blank()
                json += ":"
                value(depth: depth + 1)
            }
            json += "}"
        case 4:
            let literal = random.chance(20) ? "null" : random.pick(["true", "false", "0", "-1.5e3", "12"])
            hasNull = hasNull || literal == "null"
            json += literal
        default:
            let text = SuspectLookTests.text(&random)
            texts.append(text)
            string(text)
        }
        blank()
    }

    private mutating func blank() { if random.chance(20) { json += random.pick([" ", "\n", "\t ", "\r\n  "]) } }

    private mutating func string(_ text: String) {
        let escapes = random.pick([0, 0, 0, 10, 50, 100])
        json += "\""
        for scalar in text.unicodeScalars {
            if random.chance(escapes) {
                for unit in String(scalar).utf16 { json += unicode(unit) }
                continue
            }
            switch scalar {
            case "\"", "\\": json += "\\\(scalar)"
            case "\n": json += "\\n"
            case "\t": json += "\\t"
            case "/" where random.chance(30): json += "\\/"
            default: json.unicodeScalars.append(scalar)
            }
        }
        json += "\""
    }

    private mutating func unicode(_ unit: UInt16) -> String {
        let hex = String(unit, radix: 16, uppercase: random.chance(50))
        return "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
    }
}
