import ArgumentParser

/// The words that name a command.
enum CommandWord {
    /// Throws an error if arguments name no command, where the parser would show its help or count them as too many.
    static func check(_ arguments: [String]) throws {
        let (command, rest) = find(arguments)
        let names = command.configuration.subcommands.map { $0._commandName }
        guard !names.isEmpty else { return }
        let name = ([ApnsBatch._commandName] + arguments.prefix(arguments.count - rest.count)).joined(separator: " ")
        guard let word = rest.first else {
            throw UsageError("no command: expected one of \(names.joined(separator: ", ")); see \(name) -h")
        }
        guard !word.hasPrefix("-"), word != "help" else { return }
        throw UsageError("unknown command \"\(word)\"\(WordList.hint(word, in: names)); see \(name) -h")
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
