import APNSBatchBasics
import ArgumentParser

/// The words that name a command.
enum CommandWord {
    /// Throws an error if arguments name no command, where the parser would show its help or count them as too many.
    static func check(_ arguments: [String]) throws {
        // `help send` is `send --help`.
        let isHelp = arguments.first == "help"
        let words = isHelp ? arguments.dropFirst().filter { !$0.hasPrefix("-") } : arguments
        let (command, rest) = find(words)
        let names = command.configuration.subcommands.map { $0._commandName }
        let name = ([ApnsBatch._commandName] + words.prefix(words.count - rest.count)).joined(separator: " ")
        guard let word = rest.first, rest.contains(where: { $0 != "--" }) else {
            if isHelp || names.isEmpty { return }
            throw UsageError("no command: expected one of \(names.joined(separator: ", ")); see \(name) -h")
        }
        if isHelp, names.isEmpty { throw UsageError("help: \(name) has no command \(word.quoted)") }
        guard !names.isEmpty, !word.hasPrefix("-"), word != "help" else { return }
        throw UsageError("unknown command \(word.quoted)\(WordList.hint(word, in: names)); see \(name) -h")
    }

    /// Returns the command that the first arguments name, and the arguments after them.
    static func find(_ arguments: [String]) -> (command: any ParsableCommand.Type, rest: ArraySlice<String>) {
        var (command, rest): (any ParsableCommand.Type, ArraySlice<String>) = (ApnsBatch.self, arguments[...])
        while let word = rest.first,
            let next = command.configuration.subcommands.first(where: { $0._commandName == word })
        {
            (command, rest) = (next, rest.dropFirst())
        }
        return (command, rest)
    }
}
