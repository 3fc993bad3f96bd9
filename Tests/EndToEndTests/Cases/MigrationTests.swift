import Foundation
import Testing

extension EndToEnd {
    /// The settings of docs/guide/migration.md, each with the rows that stand there.
    @Suite struct Migration {
        private struct Example {
            let service: String
            let settings: String
            let rows: String
        }

        /// Each section has a block of rows, which is `json` or `csv`, and one of settings, which is `yaml`.
        private static func examples() throws -> [Example] {
            let page = try String(contentsOf: Tools.root.appending(path: "docs/guide/migration.md"), encoding: .utf8)
            return page.components(separatedBy: "\n## ").dropFirst().compactMap { section in
                let title = section.prefix { $0 != "\n" }
                guard let rows = section.firstMatch(of: #/```(?:json|csv)\n((?:.*\n)*?)```/#),
                    let settings = section.firstMatch(of: #/```yaml\n((?:.*\n)*?)```/#)
                else { return nil }
                return Example(service: String(title), settings: String(settings.1), rows: String(rows.1))
            }
        }

        @Test func `the export of each service is sent with the settings of the page`() throws {
            let examples = try Self.examples()
            #expect(
                examples.map(\.service) == [
                    "From Amazon Pinpoint", "From OneSignal", "From Braze", "From Firebase",
                ])
            for example in examples {
                let sender = try Sender()
                // Each shortened token stands for a device token.
                var number = 0
                let rows = example.rows.replacing(#/[0-9a-f]{4}…/#) { _ in
                    number += 1
                    return String(format: "%064x", number)
                }
                #expect(number >= 2, "\(example.service)")
                let input = try sender.scratch.write(rows, to: "export")
                try sender.scratch.write(#"{"aps":{"alert":"Hi {{user_id}}"}}"#, to: "payload.json")
                let kept = example.settings.split(separator: "\n").filter {
                    !["input:", "key_", "team_id:", "to:", "topic:"].contains(where: $0.hasPrefix)
                }
                let file = try sender.scratch.write(kept.joined(separator: "\n") + "\n", to: "c.yaml")
                let directory = sender.newRunDirectory()
                let sent = try sender.command(
                    ["send", file, "--input", input, "--to", "simulator", "--run-dir", directory])
                #expect(sent.ending == .exited(0), "\(example.service): \(sent)")
                // Each page shows one row that is sent, and others that are not.
                let lines = try String(contentsOfFile: directory + "/results.csv", encoding: .utf8)
                    .split(separator: "\n").dropFirst()
                #expect(lines.count { $0.contains(",accepted,") } == 1, "\(example.service)")
                #expect(
                    lines.count { $0.contains(",suppressed,,NotSelected,") } == lines.count - 1, "\(example.service)")
                #expect(lines.count >= 2)
            }
        }
    }
}
