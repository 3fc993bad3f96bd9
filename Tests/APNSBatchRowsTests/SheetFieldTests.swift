import Foundation
import Testing

@testable import APNSBatchRows

@Suite("Fields that can be opened in a sheet") struct SheetFieldTests {
    /// Returns the field without the quotes of CSV.
    private static func written(_ bytes: [UInt8], isKey: Bool = false) -> [UInt8] {
        var line: [UInt8] = []
        bytes.withUnsafeBytes { SheetField.append($0, isKey: isKey, to: &line) }
        #expect(line.count <= SheetField.most(bytes.count))
        guard line.first == UInt8(ascii: "\"") else {
            #expect(!line.contains { ",\"\r\n".utf8.contains($0) })
            return line
        }
        var (bytes, index) = ([UInt8](), 1)
        while index < line.count - 1 {
            bytes.append(line[index])
            index += line[index] == UInt8(ascii: "\"") ? 2 : 1
        }
        return bytes
    }

    private static func written(_ text: String, isKey: Bool = false) -> String {
        String(decoding: written(Array(text.utf8), isKey: isKey), as: UTF8.self)
    }

    private static func plain(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { SheetField.plain($0) } }

    @Test(
        "What a spreadsheet takes for a formula, and a terminal obeys, is altered",
        arguments: [
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("=HYPERLINK(\"http://x\",\"y\")", "'=HYPERLINK(\"http://x\",\"y\")"),
            ("+1+1", "'+1+1"), ("-2+3", "'-2+3"), ("@SUM(A1)", "'@SUM(A1)"), ("=", "'="), ("-", "'-"), ("+A1", "'+A1"),
            ("＝1", "'＝1"), ("＠x", "'＠x"), ("\t=1", #"'\t=1"#), ("\r=1", #"'\r=1"#), ("-1e", "'-1e"), ("--1", "'--1"),
            ("+,", "'+,"),
            ("x\n999999,ab,accepted,200", #"'x\n999999,ab,accepted,200"#), ("a\0b\u{1B}[2J", #"'a\u0000b\u001b[2J"#),
            ("\u{9B}\u{202E}", #"'\u009b\u202e"#), ("C:\\x\n", #"'C:\\x\n"#), ("=\\", #"'=\\"#),
            // What looks altered.
            ("'=1", "''=1"), ("''", "'''"), (#"'a\n"#, #"''a\\n"#),
        ])
    func altered(text: String, written: String) {
        #expect(Self.written(text) == written)
        #expect(Self.plain(Array(written.utf8)) == Array(text.utf8))
        #expect(!Self.written(text, isKey: true).unicodeScalars.contains { $0.value < 0x20 })
    }

    @Test(
        "Every other field stays as it is",
        arguments: [
            "", "Unregistered", "-5", "+5", "-1,234.56", "+49123456789", "-.5", "1e5", "-1e5", "-2.5E-10", "0=1", "a=b",
            "a-b", #"C:\new"#,
            "O'Brien", "'s-Hertogenbosch", "'", "Müller 日本 👩‍👩‍👧", "a,\"b\"", " =1", "00ff",
        ])
    func same(text: String) {
        #expect(Self.written(text) == text)
        #expect(Self.plain(Array(text.utf8)) == Array(text.utf8))
    }

    @Test("A token that may be the id of a channel stays as it is")
    func keys() {
        for id in ["+abcdefghij/AAAA", "+A==", "+AB="] { #expect(Self.written(id, isKey: true) == id) }
        for other in ["+x1", "+abc|def", "=abc", "-abc", "+A=B"] {
            #expect(Self.written(other, isKey: true) == "'" + other)
        }
        #expect(Self.written("+A==") == "'+A==")
    }

    @Test("Bytes that are controls of other character sets are altered, and other bytes are not")
    func strayBytes() {
        #expect(Self.written([0x4D, 0xFC, 0x6C]) == [0x4D, 0xFC, 0x6C])
        let written = Self.written([0x4F, 0x92, 0xFF, 0x5C])
        #expect(written == Array(#"'O\x92"#.utf8) + [0xFF] + Array(#"\\"#.utf8))
        #expect(Self.plain(written) == [0x4F, 0x92, 0xFF, 0x5C])
    }

    @Test("What is written is harmless, and gives back what it was", arguments: 0..<20)
    func random(seed: Int) {
        var random = SystemRandomNumberGenerator()
        let alphabet: [[UInt8]] =
            [
                "=", "+", "-", "@", "'", "\\", "\"", ",", "\n", "\r", "\t", "\0", "\u{1B}", "\u{9B}", "\u{202E}", "＝",
                "é", "😀", "n", "u", "x", "0", "1", "e", ".",
            ]
            .map { Array($0.utf8) } + [[0x80], [0x9F], [0xC2], [0xE2, 0x80], [0xFF]]
        for _ in 0..<2000 {
            let field = (0..<Int.random(in: 0...20, using: &random)).flatMap { _ in
                alphabet.randomElement(using: &random) ?? []
            }
            let written = Self.written(field)
            guard Self.plain(written) == field else {
                Issue.record("\(field) became \(written)")
                return
            }
            let isHarmless =
                written.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
                && !String(decoding: written, as: UTF8.self).unicodeScalars.contains(where: \.isHarmful)
            let isNumber =
                String(decoding: field, as: UTF8.self).wholeMatch(
                    of: #/[+-](?=.*[0-9])[0-9.,]+(e[+-]?[0-9]+)?/#.ignoresCase()) != nil
            let start = written.first.map { "=+-@".utf8.contains($0) } ?? false
            guard isHarmless, !start || isNumber else {
                Issue.record("\(field) became \(written)")
                return
            }
        }
    }

    @Test("A field of 80 characters is never cut, and a longer one between escapes")
    func cuts() {
        let whole = String(repeating: "\u{1B}", count: 80)
        #expect(Self.plain(Self.written(Array(whole.utf8))) == Array(whole.utf8))
        let long = Self.plain(Self.written(Array(repeating: 0x1B, count: 1024)))
        #expect(long.allSatisfy { $0 == 0x1B } && 300...1024 ~= long.count)
        let quotes = Array("=".utf8) + Array(repeating: UInt8(ascii: "\""), count: 1023)
        #expect(Self.plain(Self.written(quotes)) == quotes)
    }
}
