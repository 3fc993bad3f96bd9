import APNSBatchBasics
import Foundation
import Testing

@Suite("Quoted texts") struct QuotedTests {
    @Test(
        "What cannot be seen, or looks like a blank, is shown by its code point",
        arguments: [
            ("\u{200B}token", #""\u{200B}token""#), ("token\u{A0}", #""token\u{A0}""#), ("\u{FEFF}a", #""\u{FEFF}a""#),
            ("a\u{2009}b\u{3000}c", #""a\u{2009}b\u{3000}c""#), ("a\u{AD}b\u{2060}", #""a\u{AD}b\u{2060}""#),
            ("\u{180E}\u{115F}\u{3164}\u{FFA0}\u{2800}", #""\u{180E}\u{115F}\u{3164}\u{FFA0}\u{2800}""#),
            ("a\u{200D}b", #""a\u{200D}b""#), ("\u{200C}", #""\u{200C}""#), ("a\u{FE0F}", #""a\u{FE0F}""#),
            ("x\u{E0041}", #""x\u{E0041}""#), ("a\u{1B}[2J\n\u{202E}\u{200B}", #""a\u001b[2J\n\u202e\u{200B}""#),
        ])
    func unseen(text: String, shown: String) {
        #expect(text.quoted == shown)
        #expect(text[...].quoted == shown)
        // A message passes the printers of the command as well.
        #expect(Printable.text(shown) == shown)
    }

    @Test(
        "What joins characters of other scripts and emoji stays",
        arguments: ["", "token", "ünï 日本", "👩‍👩‍👧", "❤️‍🔥", "می‌خواهم", "ക്ഷ‌", "שלום", #"C:\new"#].dropLast(0))
    func joined(text: String) {
        let isLoose = text.unicodeScalars.last?.value == 0x200C
        #expect((text.quoted == "\"\(text)\"") == !isLoose)
    }

    @Test("No character is left that is not shown, except where it joins")
    func all() {
        for value in 0...0x10FFFF as ClosedRange<UInt32> {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let shown = "a\(Character(scalar))b".quoted
            let isUnseen =
                scalar.isHarmful || value == 0x2800 || scalar.properties.isDefaultIgnorableCodePoint
                || scalar.properties.generalCategory == .spaceSeparator && value != 0x20
            guard shown.unicodeScalars.contains(scalar) == !isUnseen else {
                Issue.record("U+\(String(value, radix: 16))")
                continue
            }
        }
    }

    /// Files that write quotes for a program and not for people, or quote words of their own.
    private static let others: Set<String> = [
        "SVGPlot.swift", "MetricText.swift", "PostRequest.swift", "ChannelDesk.swift", "WebhookEvent.swift",
        "Findings.swift",
        "RunMonitor.swift", "RunWebhooks.swift", "Quoted.swift", "QueryCopy.swift",
    ]

    /// Whether every message that puts something in quotes does it by the one function. A text that is inserted between quotes by hand
    /// shows nothing of what cannot be seen.
    @Test("Messages quote by one function")
    func sources() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var (found, quoting) = (0, 0)
        for case let file as URL in files where file.pathExtension == "swift" {
            found += 1
            let text = try String(contentsOf: file, encoding: .utf8)
            quoting += text.split(separator: ".quoted").count - 1
            if Self.others.contains(file.lastPathComponent) { continue }
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let isKeyOfYAML = line.contains("return [key, ")
                #expect(
                    !line.contains(#"\"\("#) || isKeyOfYAML,
                    "\(file.lastPathComponent):\(number + 1): \(line); use .quoted")
            }
        }
        #expect(found > 400 && quoting > 50)
    }
}
