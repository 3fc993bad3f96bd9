import ArgumentParser
import Foundation

/// The parser's description of a command, in the form for other programs.
struct CommandDescription: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable, Hashable {
            let kind: String
            let name: String

            /// `--key-file` or `-q`.
            var text: String { kind == "long" ? "--\(name)" : "-\(name)" }
        }

        /// `positional`, `option` or `flag`.
        let kind: String
        let shouldDisplay: Bool
        let isOptional: Bool
        let isRepeating: Bool
        let names: [Name]?
        let valueName: String?
        let abstract: String?
    }

    let abstract: String?
    let discussion: String?
    let arguments: [Argument]?

    /// - Parameter command: a command, which is described without those below it.
    init(of command: any ParsableCommand.Type) throws {
        struct Tool: Decodable { let command: CommandDescription }
        self = try JSONDecoder().decode(Tool.self, from: Data(command._dumpHelp().utf8)).command
    }
}
