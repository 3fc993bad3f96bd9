import Yams

/// A key of a YAML file that is given again, in a later line. The parser refuses it, and reports nothing about the rest of the file.
struct RepeatedKey: CustomStringConvertible {
    let key: String
    /// The place of the later one.
    let line: Int
    let column: Int
    private let first: Int

    /// What the later one is called instead, so that the rest can be read; no key begins with it.
    private static let mark = "again~"

    /// The parser reports the first place, and the other one is searched for in the text. Nil if it is in no other line.
    init?(_ key: String, at mark: Mark, in text: String) {
        let lines = Self.lines(of: text)
        let places = lines.indices.filter { Self.isKey(key, lines[$0], indent: mark.column - 1) }.map { $0 + 1 }
        guard let other = places.first(where: { $0 > mark.line }) ?? places.last(where: { $0 < mark.line }) else {
            return nil
        }
        (self.key, column) = (key, mark.column)
        (first, line) = (min(other, mark.line), max(other, mark.line))
    }

    /// The first one of a text; nil if there is none.
    init?(in text: String) {
        do {
            _ = try Yams.compose(yaml: text)
            return nil
        } catch YamlError.duplicatedKeysInMapping(let keys, let context) {
            self.init(keys.first ?? "", at: context.mark, in: text)
        } catch {
            return nil
        }
    }

    var description: String { "\(key): is given twice, first in line \(first)" }

    /// Whether a key stands for one that was given again.
    static func isOne(_ key: String) -> Bool { key.hasPrefix(mark) }

    /// Returns the text with another name for the later key.
    func renamed(in text: String) -> String {
        var lines = Self.lines(of: text)
        let (before, rest) = (lines[line - 1].prefix(column - 1), lines[line - 1].dropFirst(column - 1))
        let quote = rest.prefix { $0 == "\"" || $0 == "'" }
        lines[line - 1] = Substring("\(before)\(quote)\(Self.mark)\(line)~\(rest.dropFirst(quote.count))")
        return lines.joined(separator: "\n")
    }

    private static func lines(of text: String) -> [Substring] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    }

    private static func isKey(_ key: String, _ line: Substring, indent: Int) -> Bool {
        guard line.prefix(indent).allSatisfy({ $0 == " " || $0 == "-" || $0 == "{" }) else { return false }
        let rest = line.dropFirst(indent)
        return [key, "\"\(key)\"", "'\(key)'"].contains { name in
            rest.hasPrefix(name) && rest.dropFirst(name.count).drop { $0 == " " }.first == ":"
        }
    }
}
