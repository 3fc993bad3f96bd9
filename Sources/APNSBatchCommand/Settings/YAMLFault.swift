import APNSBatchBasics
import Yams

/// Describes errors in YAML files. The text follows the file's name: `:3:8: lanes: expected a whole number, found "two"`.
enum YAMLFault {
    static func describe(_ error: YamlError, in text: String) -> String {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return ":\(mark.line):\(mark.column): \(problem)\(hint(at: mark.line, in: text))"
        case .duplicatedKeysInMapping(let keys, let context):
            let (key, mark) = (keys.first ?? "", context.mark)
            return RepeatedKey(key, at: mark, in: text).map { ":\($0.line):\($0.column): \($0)" }
                ?? ":\(mark.line):\(mark.column): \(key): is given twice"
        case .reader(let problem, _, _, _): return "\(placeOfControl(in: text)): \(problem)"
        default: return ": " + "\(error)".split(separator: "\n").joined(separator: " ")
        }
    }

    /// Returns the place of the first control character, none of which but the tab and line breaks is allowed (YAML, 5.1).
    private static func placeOfControl(in text: String) -> String {
        var (line, column) = (1, 1)
        for scalar in text.unicodeScalars {
            if scalar == "\n" { (line, column) = (line + 1, 0) }
            let isAllowed = ["\t", "\n", "\r", "\u{85}"].contains(scalar)
            if scalar.properties.generalCategory == .control, !isAllowed { return ":\(line):\(column)" }
            column += 1
        }
        return ""
    }

    /// In YAML, a value that begins with `*` stands for another one that has a name.
    private static func hint(at line: Int, in text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(line - 1), lines[line - 1].contains(#/(?:: |- )\*/#) else { return "" }
        return "; a value that begins with * must be in quotes"
    }

    static func describe(_ error: DecodingError, in root: Node) -> String {
        switch error {
        case .typeMismatch(let type, let context):
            let found = node(at: context.codingPath, in: root)
            let what = "expected \(expected(type)), found \(shown(found))"
            return text(what, at: context.codingPath, found ?? root)
        case .valueNotFound(_, let context), .dataCorrupted(let context):
            return text(
                context.debugDescription, at: context.codingPath, node(at: context.codingPath, in: root) ?? root)
        case .keyNotFound(let key, let context):
            return text(
                "\(key.stringValue) is missing", at: context.codingPath, node(at: context.codingPath, in: root) ?? root)
        @unknown default: return ": \(error)"
        }
    }

    private static func text(_ what: String, at path: [any CodingKey], _ node: Node) -> String {
        let place = node.mark.map { ":\($0.line):\($0.column)" } ?? ""
        let name = Self.name(path)
        return name.isEmpty ? "\(place): \(what)" : "\(place): \(name): \(what)"
    }

    /// `rules[0].share`.
    private static func name(_ path: [any CodingKey]) -> String {
        path.reduce("") { name, key in
            if let index = key.intValue { return "\(name)[\(index)]" }
            return name.isEmpty ? key.stringValue : "\(name).\(key.stringValue)"
        }
    }

    private static func node(at path: [any CodingKey], in root: Node) -> Node? {
        var found = root
        for key in path {
            let next: Node? =
                if let index = key.intValue, let sequence = found.sequence {
                    sequence.indices.contains(index) ? sequence[index] : nil
                } else {
                    found.mapping?[key.stringValue]
                }
            guard let next else { return found }
            found = next
        }
        return found
    }

    private static func expected(_ type: any Any.Type) -> String {
        switch type {
        case is any BinaryInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is Bool.Type: "true or false"
        case is String.Type: "a text"
        case is any Lists.Type: "a list"
        case is Node.Scalar.Type: "a single value"
        default: "keys and values"
        }
    }

    static func shown(_ node: Node?) -> String {
        switch node {
        case .scalar(let scalar): isText(scalar) ? "the text \(scalar.string.prefix(40).quoted)" : bare(scalar)
        case .sequence: "a list"
        case .mapping: "keys and values"
        default: "nothing"
        }
    }

    /// Whether the scalar is quoted, which makes even a number a text.
    private static func isText(_ scalar: Node.Scalar) -> Bool {
        [.singleQuoted, .doubleQuoted].contains(scalar.style)
    }

    private static func bare(_ scalar: Node.Scalar) -> String {
        scalar.string.isEmpty ? "nothing" : scalar.string.prefix(40).quoted
    }
}

private protocol Lists {}
extension Array: Lists {}
extension Node.Sequence: Lists {}
