import Testing

extension EndToEnd {
    /// Help is read on terminals of 80 columns, and its examples are pasted.
    @Suite struct Help {
        private static let commands = [
            [], ["send"], ["check"], ["render"], ["broadcast"], ["channels"], ["doctor"], ["simulate"], ["reference"],
        ]

        @Test(arguments: commands)
        func `examples are not wrapped`(command: [String]) throws {
            let finished = try Child.run(
                Tools.command, command + ["--help"], name: "help", in: try Scratch(), seconds: 30)
            #expect(finished.ending == .exited(0), "\(finished)")
            let lines = finished.output.split(separator: "\n", omittingEmptySubsequences: false)
            let start = try #require(lines.firstIndex { $0 == "Examples:" || $0 == "Example:" }, "\(finished.output)")
            let examples = lines[(start + 1)...].prefix { !$0.isEmpty }
            #expect(!examples.isEmpty && examples.allSatisfy { $0.hasPrefix("  ") && $0.count <= 80 }, "\(examples)")
        }
    }
}
