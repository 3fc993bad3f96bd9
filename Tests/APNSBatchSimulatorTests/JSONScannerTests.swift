import APNSBatchBasics
import Foundation
import Testing

@testable import APNSBatchSimulator

@Suite("JSON scanner")
struct JSONScannerTests {
    static func isValid(_ json: [UInt8]) -> Bool {
        return json.withUnsafeBytes { bytes in
            // The copy ends where its memory ends, so that a sanitizer detects a read beyond it.
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            defer { copy.deallocate() }
            copy.copyMemory(from: bytes)
            var scanner = JSONScanner(Bytes(copy))
            return scanner.value().isValid && scanner.isAtEnd()
        }
    }

    static let valid = [
        "0", "-0", "10", "-1.5", "1e5", "1E+5", "0.0e-0", "123456789012345678901234567890", "true", "false", "null",
        "\"\"", "{}", "[]", " [ ] ", "\t{\r\n}\n", "[1,2,3]", "[[],[[]],{}]", #"{"a":1,"b":[true,false,null]}"#,
        #"{"":""}"#, #""\"\\\/\b\f\n\r\t\u00e9""#, #""\ud83d\ude00""#, #""\uD83D\uDE00x""#, "\"héllo wörld 😀\"",
        "\"\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}\"", #"{"a":{"b":{"c":[{"d":[]}]}}}"#,
        "[\"a\" , \"b\"]",
        #"{ "a" : 1 , "b" : 2 }"#, #""0123456789abcdef0123456789abcdef""#, #"[{"a":1},{"a":1}]"#,
    ]

    static let invalid = [
        "", " ", "00", "01", "-", "+1", ".5", "1.", "1.e5", "1e", "1e+", "0x10", "NaN", "Infinity", "tru", "True",
        "nul",
        "\"", "\"a", "'a'", "{", "}", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}",
        "{\"a\":1,}",
        "{,}", "{a:1}", "{\"a\":1 \"b\":2}", "{\"a\" 1}", "{1:2}", "[1}", "{\"a\":1]", "[[1}]", "[{]}", "1 2", "{}{}",
        "[]]", "{}}", #""\x""#, #""\U0001F600""#, #""\u12""#, #""\u12g4""#, #""\ud83d""#, #""\ud83dx""#, #""\ude00""#,
        #""\ud83d\u0041""#, "\"a\nb\"", "\"a\tb\"", "\"\u{0}\"", "\"01234567\u{1F}\"", "\u{FEFF}{}", "\u{A0}{}",
        "“a”", "{“a”:1}", "/* c */{}", "{}//", "{\"a\":1,\"a\"}", "\"\\", "\"\\u", "\"\\ud83d\\",
    ]

    @Test("Texts that RFC 8259 allows are accepted", arguments: valid)
    func takes(_ json: String) {
        #expect(Self.isValid(Array(json.utf8)))
    }

    @Test("Texts that RFC 8259 forbids are refused", arguments: invalid)
    func refuses(_ json: String) {
        #expect(!Self.isValid(Array(json.utf8)))
    }

    @Test(
        "Bytes that are not UTF-8 are refused",
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x9F, 0xBF], [0xE2, 0x82],
            [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98],
            [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xFE], [0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0xE2, 0x82],
        ] as [[UInt8]])
    func notUTF8(_ bytes: [UInt8]) {
        #expect(!Self.isValid([0x22] + bytes + [0x22]))
        #expect(!Self.isValid([0x22] + bytes))
    }

    @Test(
        "A text that is cut anywhere is refused", arguments: valid.filter { "{[\"".contains($0.first!) })
    func cut(_ json: String) {
        let bytes = Array(json.utf8)
        for length in 0..<bytes.count {
            #expect(!Self.isValid(Array(bytes[..<length])), "cut at \(length)")
        }
    }

    @Test("A special byte is found at every place of a word", arguments: 0..<24)
    func places(_ place: Int) {
        for special in [0x00, 0x1F, 0x0A, 0x22, 0x5C, 0x80, 0xFF] as [UInt8] {
            for filler in [0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7F] as [UInt8] {
                var bytes = [UInt8](repeating: filler, count: 26)
                bytes[0] = 0x22
                bytes[25] = 0x22
                #expect(Self.isValid(bytes))
                bytes[1 + place] = special
                #expect(!Self.isValid(bytes), "byte \(special) among \(filler)")
            }
        }
    }

    @Test("Nesting is limited only by the payload length and does not use the stack")
    func depth() {
        let depth = PushType.payloadMaximumOfAll / 2
        let open = [UInt8](repeating: UInt8(ascii: "["), count: depth)
        let close = [UInt8](repeating: UInt8(ascii: "]"), count: depth)
        #expect(Self.isValid(open + close))
        #expect(!Self.isValid(open))
        #expect(!Self.isValid(open + close.dropLast()))
        #expect(!Self.isValid(open + close + [UInt8(ascii: "]")]))
        let deeper = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
        #expect(!Self.isValid(deeper + [UInt8](repeating: UInt8(ascii: "]"), count: 100_000)))
        let objects = Array(String(repeating: #"{"a":["#, count: 1000).utf8)
        #expect(Self.isValid(objects + Array(String(repeating: "]}", count: 1000).utf8)))
        #expect(!Self.isValid(objects + Array(String(repeating: "}]", count: 1000).utf8)))
    }

    @Test("The scanner agrees with Foundation on texts with one changed byte")
    func mutations() throws {
        // Foundation accepts an escaped lone surrogate, a null byte at the end and other encodings. The texts do not
        // contain these.
        let text = Array(#"{"a":[1,-2.5e3,"x\ty",{"b":null}],"c":true, "d":{}}"#.utf8)
        var random = SplitMix64(seed: 1)
        var refused = 0
        for _ in 0..<4000 {
            var changed = text
            changed[Int(random.next() % UInt64(text.count))] = UInt8(0x20 + random.next() % 0x5F)
            let theirs = (try? JSONSerialization.jsonObject(with: Data(changed), options: .fragmentsAllowed)) != nil
            #expect(Self.isValid(changed) == theirs, "\(String(decoding: changed, as: UTF8.self))")
            refused += theirs ? 0 : 1
        }
        #expect(refused > 1000)
    }
}
