import APNSBatchNotification
import Foundation
import Testing

@Suite struct CompactorTests {
    @Test(
        "Valid JSON is written in its shortest form",
        arguments: [
            ("{}", "{}"),
            ("\r\n\t { \"a\" : 1 } \n", #"{"a":1}"#),
            (#"{"a":[],"b":{},"c":[[],{}]}"#, #"{"a":[],"b":{},"c":[[],{}]}"#),
            (#"{"a":"\u00e9\u20AC\uD83D\uDE00"}"#, #"{"a":"é€😀"}"#),
            (#"{"a":"\/\"\\\b\f\n\r\t"}"#, #"{"a":"/\"\\\b\f\n\r\t"}"#),
            (
                #"{"a":"\u0022\u005C\u0008\u000a\u000B\u001F\u0000\u007F"}"#,
                "{\"a\":\"\\\"\\\\\\b\\n\\u000b\\u001f\\u0000\u{7F}\"}"
            ),
            (#"{"\u0061\/":1}"#, #"{"a/":1}"#),
            (#"{"a" : 1 , "a" : 2}"#, #"{"a":1,"a":2}"#),
            (#"{"n":[0,-0,10,1.0,1e5,1E+5,1e-05,-12.340e0]}"#, #"{"n":[0,-0,10,1.0,1e5,1E+5,1e-05,-12.340e0]}"#),
            (#"{"n":123456789012345678901234567890.123456789}"#, #"{"n":123456789012345678901234567890.123456789}"#),
            (#"{"l":[ true , false , null ]}"#, #"{"l":[true,false,null]}"#),
            ("{\"t\":\"\u{2028}\u{FFFF}\u{10FFFF}\u{7F}\"}", "{\"t\":\"\u{2028}\u{FFFF}\u{10FFFF}\u{7F}\"}"),
            (
                "{\"long string without escapes, over 16 bytes\" : \"and  one  with  spaces  and  é\"}",
                "{\"long string without escapes, over 16 bytes\":\"and  one  with  spaces  and  é\"}"
            ),
        ])
    func valid(json: String, expected: String) {
        let result = compacted(json)
        #expect(result == .text(expected), "\(result.string ?? "\(result)")")
    }

    @Test(
        "Invalid JSON is refused with its place and cause",
        arguments: [
            ("", "payload: expected JSON, found an empty field"),
            (" \n ", "2:2: expected JSON, found nothing"),
            ("[]", #"1:1: expected an object in braces, found "[""#),
            ("\"x\"", "1:1: expected an object in braces, found a quote"),
            ("\u{FEFF}{}", "1:1: expected an object in braces, found \"\\u{FEFF}\""),
            ("{", "1:2: the JSON ends too early"),
            ("{\"a\"", "1:5: the JSON ends too early"),
            ("{\"a\":", "1:6: the JSON ends too early"),
            ("{\"a\":1", "1:7: the JSON ends too early"),
            ("{\"a\":1,", "1:8: the JSON ends too early"),
            ("{\"a\":[", "1:7: the JSON ends too early"),
            ("{\"a\":\"b", "1:6: this string is never closed"),
            ("{\"a\":\"b\\", "1:6: this string is never closed"),
            ("{\"a\":\"b\\\"}", "1:6: this string is never closed"),
            ("{a:1}", #"1:2: expected a key in quotes, found "a""#),
            ("{1:1}", #"1:2: expected a key in quotes, found "1""#),
            ("{'a':1}", "1:2: single quote, JSON needs the double one"),
            ("{\"a\":'b'}", "1:6: single quote, JSON needs the double one"),
            ("{“a”:1}", "1:2: typographic quote \"“\", JSON needs the straight one"),
            ("{\"a\": «b»}", "1:7: typographic quote \"«\", JSON needs the straight one"),
            ("{\"a”:1}", "1:2: this string is never closed"),
            ("{\"a\" 1}", #"1:6: expected ":" after the key, found "1""#),
            ("{\"a\"}", #"1:5: expected ":" after the key, found "}""#),
            ("{\"a\":}", #"1:6: expected a value, found "}""#),
            ("{\"a\":1,}", "1:7: trailing comma"),
            ("{\"a\":[1, ]}", "1:8: trailing comma"),
            ("{,}", #"1:2: expected a key in quotes, found ",""#),
            ("{\"a\":[,1]}", #"1:7: expected a value, found ",""#),
            ("{\"a\":1,,\"b\":2}", #"1:8: expected a key in quotes, found ",""#),
            ("{\"a\":1\n\"b\":2}", "2:1: missing comma before a quote"),
            ("{\"a\":[1 true]}", #"1:9: missing comma before "t""#),
            ("{\"a\":[{} {}]}", #"1:10: missing comma before "{""#),
            ("{\"a\":1]", #"1:7: expected "," or "}", found "]""#),
            ("{\"a\":[1}", #"1:8: expected "," or "]", found "}""#),
            ("{\"a\":[1:2]}", #"1:8: expected "," or "]", found ":""#),
            ("{\"a\":01}", #"1:6: "01" is not a JSON number"#),
            ("{\"a\":-}", #"1:6: "-" is not a JSON number"#),
            ("{\"a\":1.}", #"1:6: "1." is not a JSON number"#),
            ("{\"a\":.5}", #"1:6: ".5" is not a JSON number"#),
            ("{\"a\":+1}", #"1:6: "+1" is not a JSON number"#),
            ("{\"a\":1e+}", #"1:6: "1e+" is not a JSON number"#),
            ("{\"a\":0x1F}", #"1:6: "0x1F" is not a JSON number"#),
            ("{\"a\":1_000}", #"1:6: "1_000" is not a JSON number"#),
            ("{\"a\":True}", #"1:6: "True" is not a JSON value"#),
            ("{\"a\":nul}", #"1:6: "nul" is not a JSON value"#),
            ("{\"a\":nulll}", #"1:6: "nulll" is not a JSON value"#),
            ("{\"a\":NaN}", #"1:6: "NaN" is not a JSON value"#),
            ("{\"a\":-Infinity}", #"1:6: "-Infinity" is not a JSON number"#),
            ("{\"a\":\"\\x41\"}", #"1:7: "\x" is not a JSON escape"#),
            ("{\"a\":\"\\U0001F600\"}", #"1:7: "\U" is not a JSON escape"#),
            ("{\"a\":\"\\u12g4\"}", #"1:7: "\u" needs four hex digits"#),
            ("{\"a\":\"\\u12\"}", #"1:7: "\u" needs four hex digits"#),
            ("{\"a\":\"\\ud83d\"}", #"1:7: "\ud83d" is half of a surrogate pair"#),
            ("{\"a\":\"\\ud83d\\u0041\"}", #"1:7: "\ud83d" is half of a surrogate pair"#),
            ("{\"a\":\"é\\ude00\"}", #"1:8: "\ude00" is half of a surrogate pair"#),
            ("{\"a\":\"x\ny\"}", "1:8: a line break inside a string"),
            ("{\"a\":\"x\ty\"}", "1:8: a tab inside a string"),
            ("{\"a\":\"x\0y\"}", "1:8: control character 0x00 inside a string"),
            ("{\"a\":1}}", #"1:8: "}" after the end of the JSON"#),
            ("{} {}", #"1:4: "{" after the end of the JSON"#),
            ("{}\u{0}", "1:3: control character 0x00 after the end of the JSON"),
            ("{}\u{A0}", "1:3: \"\\u{A0}\" after the end of the JSON"),
            ("{\"a\":1 // x\n}", #"1:8: found the comment "//", JSON has no comments: remove it"#),
            ("{\"a\":1, /* x */ \"b\":2}", #"1:9: found the comment "/*", JSON has no comments: remove it"#),
            ("{ # x\n\"a\":1}", ##"1:3: found the comment "#", JSON has no comments: remove it"##),
            ("{\"a\":/b}", #"1:6: expected a value, found "/""#),
        ])
    func invalid(json: String, expected: String) {
        #expect(compacted(json) == .invalid(Self.message(expected)))
    }

    /// Converts `1:7: cause` to the sentence in the message about a failed row.
    static func message(_ short: String) -> String {
        let parts = short.split(separator: ":", maxSplits: 2)
        guard parts.count == 3, let line = Int(parts[0]), let column = Int(parts[1]) else { return short }
        return "payload: not valid JSON at line \(line), column \(column):\(parts[2])"
    }

    @Test(
        "Invalid UTF-8 is refused at the first invalid byte",
        arguments: [
            ([0x80], 0), ([0xC3], 0), ([0x41, 0xFF], 1), ([0xC0, 0x80], 0), ([0xC1, 0xBF], 0), ([0xE0, 0x9F, 0xBF], 0),
            ([0xED, 0xA0, 0x80], 0), ([0xED, 0xBF, 0xBF], 0), ([0xF0, 0x8F, 0xBF, 0xBF], 0),
            ([0xF4, 0x90, 0x80, 0x80], 0), ([0xF5, 0x80, 0x80, 0x80], 0), ([0xC3, 0xA9, 0xE2, 0x82], 2),
            ([0xF0, 0x9F, 0x98], 0), ([0xE2, 0x28, 0xA1], 0),
        ] as [([UInt8], Int)])
    func invalidUTF8(bytes: [UInt8], offset: Int) {
        for (before, after) in [(0, 0), (1, 4), (7, 20), (8, 0), (15, 9), (16, 3), (17, 1), (40, 30)] {
            let filler = [UInt8](repeating: 0x78, count: before)
            let text =
                Array("{\"a\":\"".utf8) + filler + bytes + [UInt8](repeating: 0x79, count: after) + Array("\"}".utf8)
            let column = 7 + before + offset - bytes[..<offset].count { $0 & 0xC0 == 0x80 }
            #expect(compacted(text) == .invalid(Self.message("1:\(column): invalid UTF-8")))
        }
    }

    @Test("Characters of all planes pass, as themselves and as escapes")
    func scalars() {
        let blocks = (0..<UInt32(0x440)).filter { $0 < 0x40 || $0 % 16 == 0 || $0 == 0x43F }
        for start in blocks.map({ $0 * 0x400 }) {
            let scalars = (start..<start + 0x400).compactMap(Unicode.Scalar.init)
                .filter { $0.value >= 0x20 && $0 != "\"" && $0 != "\\" }
            if scalars.isEmpty { continue }
            let text = String(String.UnicodeScalarView(scalars))
            let plain = "{\"a\":\"\(text)\"}"
            let escaped = text.utf16.map { "\\u" + String(UInt32($0) + 0x10000, radix: 16).suffix(4) }.joined()
            #expect(compacted(plain) == .text(plain))
            #expect(compacted("{\"a\":\"\(escaped)\"}") == .text(plain))
        }
    }

    @Test("JSON of 64 levels passes, and of 65 levels is refused")
    func depth() {
        func nested(_ levels: Int) -> String {
            "{\"a\":" + String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels - 1) + "}"
        }
        #expect(compacted(nested(64)) == .text(nested(64)))
        #expect(
            compacted(nested(65))
                == .invalid(
                    "payload: line 1, column 69: more than 64 levels of objects and arrays, the limit of apns-batch"))
        let objects = String(repeating: "{\"a\":", count: 65)
        #expect(
            compacted(objects)
                == .invalid(
                    "payload: line 1, column 321: more than 64 levels of objects and arrays, the limit of apns-batch"))
        let alternating = String(repeating: "{\"a\":[", count: 32) + String(repeating: "]}", count: 32)
        #expect(compacted(alternating) == .text(alternating))
    }

    @Test("An output buffer that is too small reports the exact size at every capacity")
    func capacity() {
        let json = Array(
            "{ \"a\" : \"\\u00e9\\u0001 \\ud83d\\ude00 long enough for blocks\" , \"b\" : [ 1.5e3 , null ] }".utf8)
        guard case .payload(let expected) = compacted(json, capacity: 200) else { return #expect(Bool(false)) }
        for capacity in 0..<100 {
            let result = compacted(json, capacity: capacity)
            #expect(result == (capacity < expected.count ? .tooLarge(expected.count) : .payload(expected)))
        }
    }

    @Test("An invalid payload is reported as invalid whatever the capacity")
    func capacityOfInvalid() {
        let json = Array("{\"a\": [1, 2, ]}".utf8)
        for capacity in 0..<20 {
            #expect(compacted(json, capacity: capacity) == .invalid(Self.message("1:12: trailing comma")))
        }
    }
}

@Suite struct PayloadFixtureTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures/payloads")

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appendingPathComponent(name)))
    }

    @Test(
        "Published payloads are compacted to the expected bytes, as raw payload and as template",
        arguments: [
            "guide-2011-1", "guide-2011-2", "guide-2011-3", "guide-2011-4", "guide-2011-5",
            "guide-today-1", "guide-today-2", "guide-today-3",
            "tutorial-title-body", "tutorial-localised", "tutorial-badge", "tutorial-sound",
            "tutorial-critical-sound", "tutorial-custom-data", "tutorial-grouped", "tutorial-grouped-corrected",
            "tutorial-collapse", "encrypted", "encrypted-content",
        ])
    func compact(name: String) throws {
        let expected = try Self.bytes(name + ".compact.json")
        let source = try Self.bytes(name + ".json")
        #expect(compacted(source) == .payload(expected))
        #expect(compacted(expected) == .payload(expected))
        let template = try PayloadTemplate(json: source, columns: [], file: name)
        #expect(template.rendered([]) == .payload(expected))
    }

    @Test(
        "Known mistakes of published payloads are reported by name and place",
        arguments: [
            ("guide-2011-2-broken-line", "3:65: a line break inside a string"),
            ("guide-2011-4-as-printed", "5:26: trailing comma"),
            ("guide-today-1-as-printed", "2:1: typographic quote \"“\", JSON needs the straight one"),
            ("guide-today-1-straight-quotes", "6:1: missing comma before a quote"),
            ("guide-today-1-with-comma", "6:35: trailing comma"),
            ("guide-today-2-as-printed", "2:1: typographic quote \"“\", JSON needs the straight one"),
            ("guide-today-2-straight-quotes", "4:1: missing comma before a quote"),
        ])
    func mistakes(name: String, expected: String) throws {
        let source = try Self.bytes(name + ".json")
        #expect(compacted(source) == .invalid(CompactorTests.message(expected)))
        do {
            _ = try PayloadTemplate(json: source, columns: [], file: name)
            #expect(Bool(false))
        } catch {
            #expect(error.description == "\(name):\(expected)")
        }
    }
}
