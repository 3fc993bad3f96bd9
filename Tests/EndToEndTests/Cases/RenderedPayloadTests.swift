import Foundation
import Testing

extension EndToEnd {
    /// Tests that compare the output of `render` for generated rows with that of Python's csv and json modules.
    @Suite struct RenderedPayloads {
        static let rows = Tools.sanitizer == nil ? 10_000 : 2_000

        @Test(arguments: ["1", "2", "3"])
        func `filled templates read back in Python as the same values`(seed: String) throws {
            let sender = try Sender()
            let input = try sender.makeRows(Self.rows, "--seed", seed)
            try compare(sender, input, template: Sender.template)
        }

        @Test(arguments: ["1", "2", "3"])
        func `raw payloads read back in Python as the same values, without whitespace`(seed: String) throws {
            let sender = try Sender()
            let input = try sender.makeRows(Self.rows, "--raw", "--seed", seed)
            try compare(sender, input, template: nil)
        }

        private func compare(_ sender: Sender, _ input: String, template: String?) throws {
            let rendered = try sender.command(
                ["render", "--input", input, "--to", "localhost:1", "--rows", "0", "--json"]
                    + sender.credentials.flags + (template.map { ["--template", $0] } ?? []))
            try #require(rendered.ending == .exited(0), "\(rendered)")
            let path = try sender.scratch.write(rendered.output, to: "rendered.jsonl")
            let checked = try Child.run(
                Tools.python, [Tools.peer("check_rendered.py"), input, path] + (template.map { [$0] } ?? []),
                name: "check", in: sender.scratch)
            #expect(checked.ending == .exited(0), "\(checked)")
            #expect(checked.output == "\(Self.rows)\n")
        }

        @Test func `the plain form shows headers, then the payload`() throws {
            let sender = try Sender()
            let input = try sender.scratch.write(
                "token,first_name,badge,vip,note,extras\n00aa,Ada,5,true,,{}\n", to: "one.csv")
            let shown = try sender.command(
                ["render", "--input", input, "--to", "localhost:1", "--template", Sender.template]
                    + sender.credentials.flags)
            #expect(shown.ending == .exited(0))
            #expect(shown.output.contains("/3/device/00aa"))
            #expect(shown.output.contains("apns-topic: com.example.app\n"))
            let payload = """
                {"aps":{"alert":{"title":"Hi Ada","body":"Ada, you have 5 new messages – \\"don't miss them\\""},\
                "badge":5,"sound":"default"},"vip":true,"extras":{}}
                """
            #expect(shown.output.contains("\n\(payload)\n"), "\(shown)")
        }

        @Test func `the provider token is never shown`() throws {
            let sender = try Sender()
            let input = try sender.makeRows(3)
            let shown = try sender.command(
                ["render", "--input", input, "--to", "localhost:1", "--template", Sender.template]
                    + sender.credentials.flags)
            #expect(!shown.output.contains("eyJ") && !shown.errors.contains("eyJ"))
        }
    }
}
