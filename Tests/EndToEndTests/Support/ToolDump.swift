import Foundation

/// What the parser says of the command, its commands and their flags (`--experimental-dump-help`).
struct ToolDump: Decodable {
    struct Command: Decodable {
        var commandName: String
        var superCommands: [String]?
        var subcommands: [Command]?
        var arguments: [Argument]?

        /// The words that call it, after the name of the program.
        var words: [String] { (superCommands ?? []).dropFirst() + [commandName] }

        /// The commands below it that can be called, all levels together.
        var leaves: [Command] {
            guard let subcommands, !subcommands.isEmpty else { return [self] }
            return subcommands.filter { $0.commandName != "help" }.flatMap(\.leaves)
        }

        /// The flags and options, without those of the parser.
        var flags: [Argument] {
            (arguments ?? []).filter { $0.kind != "positional" && !["help", "version"].contains($0.name) }
        }

        /// A value for each argument that has no name.
        var positional: [String] { (arguments ?? []).filter { $0.kind == "positional" }.map(\.value) }
    }

    struct Argument: Decodable {
        struct Name: Decodable {
            var kind: String
            var name: String
        }

        var kind: String
        var isOptional: Bool
        var isRepeating: Bool
        var names: [Name]?
        var allValues: [String]?
        var abstract: String?
        /// The kind of completion, by its name.
        var completionKind: [String: AnyValue]?

        /// The long name, without hyphens.
        var name: String { names?.first { $0.kind == "long" }?.name ?? "" }
        /// A value that the parser accepts.
        var value: String { allValues?.first ?? "1" }
        /// The flag, and its value if it has one.
        var given: [String] { kind == "option" ? ["--\(name)", value] : ["--\(name)"] }
    }

    /// A value of any form.
    struct AnyValue: Decodable {
        init(from decoder: any Decoder) {}
    }

    var command: Command

    static func read() throws -> ToolDump {
        let finished = try Child.run(
            Tools.command, ["--experimental-dump-help"], name: "dump", in: try Scratch(), seconds: 60)
        return try JSONDecoder().decode(ToolDump.self, from: Data(finished.output.utf8))
    }
}
