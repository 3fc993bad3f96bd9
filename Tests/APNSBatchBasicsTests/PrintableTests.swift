import APNSBatchBasics
import Foundation
import Testing

/// Texts that a terminal obeys or shows in another place, and what is shown instead.
enum HostileText {
    static let all: [(text: String, shown: String)] = [
        ("\u{1B}]0;PWN\u{7}", #"\u001b]0;PWN\u0007"#), ("\u{1B}[2J\u{1B}[H", #"\u001b[2J\u001b[H"#),
        ("a\nOK: 1 of 1", #"a\nOK: 1 of 1"#), ("a\r\nb\tc", #"a\r\nb\tc"#), ("a\0b", #"a\u0000b"#),
        ("\u{9B}31m\u{9D}0;x\u{9C}", #"\u009b31m\u009d0;x\u009c"#), ("\u{7F}\u{85}", #"\u007f\u0085"#),
        ("gpj\u{202E}exe.\u{2066}a\u{2069}", #"gpj\u202eexe.\u2066a\u2069"#),
        ("\u{200F}\u{200E}\u{61C}\u{2028}\u{2029}", #"\u200f\u200e\u061c\u2028\u2029"#),
    ]

    /// Texts of people, which stay as they are.
    static let plain = ["", "rows.csv", "ünï 日本 👩‍👩‍👧 ക്ഷ ‌می", #"C:\new\u001b"#, "שלום", "\u{FFFD}"]
}

@Suite("Printable text") struct PrintableTests {
    @Test("What a terminal obeys is escaped, once", arguments: HostileText.all)
    func hostile(text: String, shown: String) {
        #expect(Printable.text(text) == shown)
        #expect(Printable.text(shown) == shown)
        #expect(Printable.text("x\(text)y") == "x\(shown)y")
        #expect(Printable.text(bytes: text.utf8) == shown)
        #expect(Printable.lines("1\n\(text)\n2\n") == "1\n\(shown.replacing("\\n", with: "\n"))\n2\n")
    }

    @Test("What people write stays as it is", arguments: HostileText.plain)
    func plain(text: String) {
        #expect(Printable.text(text) == text)
        #expect(Printable.text(bytes: text.utf8) == text)
    }

    @Test("No character of the classes that terminals obey is left, and every other one is")
    func classes() {
        for value in 0...0x10FFFF as ClosedRange<UInt32> {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isHarmful: Bool =
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator: true
                case .format:
                    scalar.properties.isBidiControl || (0x206A...0x206F).contains(value)
                        || (0xFFF9...0xFFFB).contains(value)
                default: false
                }
            guard scalar.isHarmful == isHarmful || value == 0x2065 else {
                Issue.record("U+\(String(value, radix: 16))")
                continue
            }
        }
    }

    @Test("Bytes that are not UTF-8 are shown, and what is around them too")
    func bytes() {
        #expect(Printable.text(bytes: [0x61, 0xFF, 0x9B, 0x62]) == #"a\xff\x9bb"#)
        #expect(
            Printable.text(bytes: [0xC3, 0xA9, 0xC3, 0xE2, 0x82, 0xAC, 0xED, 0xA0, 0x80]) == #"é\xc3€\xed\xa0\x80"#)
        #expect(Printable.text(bytes: [0xC2, 0x9B, 0xC2]) == #"\u009b\xc2"#)
    }

    @Test("A document of JSON keeps its meaning", arguments: HostileText.all.map(\.text) + HostileText.plain)
    func json(text: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted]
        let document = String(decoding: try encoder.encode([text]), as: UTF8.self)
        let shown = Printable.lines(document)
        #expect(shown.unicodeScalars.allSatisfy { $0 == "\n" || !$0.isHarmful })
        #expect(try JSONDecoder().decode([String].self, from: Data(shown.utf8)) == [text])
    }

    @Test("Lines of a program are printable, and those that are too long are cut")
    func programs() {
        var (lines, found) = (LineSplitter(), [String]())
        lines.add(Array("a\u{1B}[2J\r\nb".utf8)) { found.append($0) }
        lines.add(Array("c\n\n\r\n".utf8) + [0xFF] + Array(repeating: UInt8(ascii: "x"), count: 5000)) {
            found.append($0)
        }
        lines.finish { found.append($0) }
        #expect(found == [#"a\u001b[2J"#, "bc", #"\xff"# + String(repeating: "x", count: 1023)])
    }

    @Test(
        "A word of a shell command is that word",
        arguments: HostileText.all.map(\.text) + HostileText.plain + ["it's \u{7}7", "a\\n\u{1}'"])
    func shell(text: String) throws {
        let word = text.shellQuoted
        #expect(!word.unicodeScalars.contains { $0.isHarmful })
        // An argument has no NUL.
        guard !text.contains("\0") else { return }
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-c", "printf %s \(word)"]
        process.environment = ["LC_ALL": "C.UTF-8"]
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(Array(output) == Array(text.utf8), "\(word)")
    }
}

@Suite("Names of hosts") struct HostNameTests {
    @Test(
        "Names and addresses",
        arguments: [
            "api.push.apple.com", "localhost", "a", "127.0.0.1", "::1", "fe80::1%eth0", "2001:db8::7", "x_y-z.example.",
            String(repeating: "a", count: 63),
        ])
    func names(text: String) { #expect(HostName.fault(host: text, port: 443) == nil) }

    @Test(
        "What is none",
        arguments: [
            "", ".", "..", "a..b", ".a", "a b", "a/b", "a\r\nhost: b", "a\0b", "[::1]", "1::2::3", ":", "fe80::1%",
            "ü.example", "user@host",
            String(repeating: "a", count: 64), String(repeating: "a.", count: 128), "\u{1B}[2J",
        ])
    func others(text: String) throws {
        let fault = try #require(HostName.fault(host: text, port: 443))
        #expect(
            fault.hasPrefix("expected the name or the address of a host")
                && !fault.unicodeScalars.contains { $0.isHarmful })
    }

    @Test("Port 0 is none") func ports() { #expect(HostName.fault(host: "localhost", port: 0) != nil) }
}
