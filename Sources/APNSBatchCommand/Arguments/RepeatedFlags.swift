import ArgumentParser

/// Flags that are given several times. The parser would take the last one without a message that the others have no effect.
enum RepeatedFlags {
    /// Throws an error with all flags that are given several times and are not repeatable.
    ///
    /// - Parameter arguments: arguments that the parser has accepted, without the name of the program.
    static func check(_ arguments: [String], of command: any ParsableCommand.Type) throws {
        let given = flags(in: arguments)
        // The parser's description takes a while to write, and is needed if there may be something to report.
        guard Set(given).count < given.count || given.contains(where: { !$0.hasPrefix("--") }) else { return }
        let names = repeated(in: given, of: try CommandDescription(of: command))
        guard !names.isEmpty else { return }
        throw UsageError(
            faults: names.map { "\($0): is given twice; only a flag whose setting is a list may be repeated" })
    }

    /// Returns the flags that are given again although they are not repeatable, as they are spelled the second time.
    private static func repeated(in given: [String], of command: CommandDescription) -> [String] {
        var options: [String: Int] = [:]
        let arguments = command.arguments ?? []
        for (number, argument) in arguments.enumerated() where !argument.isRepeating {
            for name in argument.names ?? [] { options[name.text] = number }
        }
        var times: [Int: Int] = [:]
        return given.filter { name in
            guard let option = options[name] else { return false }
            times[option, default: 0] += 1
            return times[option] == 2
        }
    }

    /// Returns the names of all flags: `--name`, and `-a` and `-b` of `-ab`. No value begins with a hyphen, except after `=`.
    private static func flags(in arguments: [String]) -> [String] {
        arguments.prefix { $0 != "--" }.flatMap { argument -> [String] in
            let name = argument.prefix { $0 != "=" }
            if name.hasPrefix("--") { return [String(name)] }
            return name.count > 1 && name.hasPrefix("-") ? name.dropFirst().map { "-\($0)" } : []
        }
    }
}
