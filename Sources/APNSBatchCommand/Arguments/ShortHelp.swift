import ArgumentParser
import Foundation

/// What `-h` prints: usage, the flags that are needed most, and examples. `--help` prints everything.
enum ShortHelp {
    private static let flagCount = 10
    private static let width = 80

    /// The flags that are shown first, where a command has more than ten.
    private static let common = [
        "input", "template", "to", "topic", "key-file", "key-id", "team-id", "expiration", "run-dir", "rate", "rows",
        "row",
        "findings", "lock-wait", "json",
    ]

    /// Returns the command that arguments ask for, if they contain `-h`.
    static func command(of arguments: [String]) -> (any ParsableCommand.Type)? {
        arguments.prefix { $0 != "--" }.contains("-h") ? CommandWord.find(arguments).command : nil
    }

    static func lines(of command: any ParsableCommand.Type) throws -> [String] {
        let description = try CommandDescription(of: command)
        let name = ([ApnsBatch._commandName] + path(to: command, from: ApnsBatch.self)).joined(separator: " ")
        let all = (description.arguments ?? []).filter {
            $0.shouldDisplay && $0.kind != "positional" && $0.longName != "help" && $0.longName != "version"
        }
        let flags = all.count <= flagCount ? all : shown(of: all)
        let positional = (description.arguments ?? []).filter { $0.kind == "positional" }
        let subcommands = command.configuration.subcommands
        var usage = [name] + positional.map(\.usage)
        if !subcommands.isEmpty { usage.append("COMMAND") }
        if !all.isEmpty { usage.append("[FLAGS]") }
        var lines = wrapped(description.abstract ?? "", indent: 0) + ["", "Usage: \(usage.joined(separator: " "))"]
        lines += section("Commands", subcommands.map { ($0._commandName, firstSentence($0.configuration.abstract)) })
        lines += section("Arguments", positional.map { ($0.usage, firstSentence($0.abstract ?? "")) })
        lines += section(
            flags.count < all.count ? "Flags (\(flags.count) of \(all.count))" : "Flags",
            flags.map { ($0.usage, firstSentence($0.abstract ?? "")) })
        lines += examples(in: description.discussion ?? "")
        return lines + ["", "\(name) --help shows everything."]
    }

    private static func path(to command: any ParsableCommand.Type, from: any ParsableCommand.Type) -> [String] {
        for next in from.configuration.subcommands {
            if next == command { return [next._commandName] }
            let rest = path(to: command, from: next)
            if !rest.isEmpty { return [next._commandName] + rest }
        }
        return []
    }

    private static func shown(of all: [CommandDescription.Argument]) -> [CommandDescription.Argument] {
        let ordered = common.compactMap { name in all.first { $0.longName == name } }
        let rest = all.filter { flag in !common.contains { $0 == flag.longName } }
        return Array((ordered + rest).prefix(flagCount))
    }

    private static func section(_ title: String, _ rows: [(name: String, text: String)]) -> [String] {
        guard !rows.isEmpty else { return [] }
        let column = min(28, (rows.map(\.name.count).max() ?? 0) + 4)
        return ["", "\(title):"]
            + rows.flatMap { row -> [String] in
                let texts = wrapped(row.text, indent: column)
                let head = "  " + row.name
                guard head.count + 1 < column, let first = texts.first else { return [head] + texts }
                return [head + first.dropFirst(head.count)] + texts.dropFirst()
            }
    }

    private static func firstSentence(_ text: String) -> String {
        let text = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        guard let end = text.range(of: ". ") else { return text }
        return String(text[..<end.lowerBound]) + "."
    }

    private static func wrapped(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(margin + word)
            }
        }
        return lines
    }

    /// The part of a discussion from `Examples:` to the next empty line.
    private static func examples(in discussion: String) -> [String] {
        let lines = discussion.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let start = lines.firstIndex(where: { $0 == "Examples:" || $0 == "Example:" }) else { return [] }
        return [""] + lines[start...].prefix { !$0.isEmpty }
    }
}

extension CommandDescription.Argument {
    fileprivate var longName: String? { names?.first { $0.kind == "long" }?.name }

    /// `--key-file FILE`, `-q, --quiet` or `[campaign]`.
    fileprivate var usage: String {
        guard kind != "positional" else {
            let name = valueName ?? "value"
            return (isOptional ? "[\(name)]" : "<\(name)>") + (isRepeating ? " ..." : "")
        }
        let names = (names ?? []).map(\.text).joined(separator: ", ")
        return kind == "option" ? "\(names) <\(valueName ?? "value")>" : names
    }
}
