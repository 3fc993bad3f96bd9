import Yams

/// What is wrong with a YAML file, as what follows its name: `:3:8: lanes: expected a whole number, found "two"`.
enum YAMLFault {
    static func describe(_ error: YamlError) -> String {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            ":\(mark.line):\(mark.column): \(problem)"
        default: ": " + "\(error)".split(separator: "\n").joined(separator: " ")
        }
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
        case is Node.Sequence.Type, is [Any].Type: "a list"
        default: "another kind of value"
        }
    }

    private static func shown(_ node: Node?) -> String {
        switch node {
        case .scalar(let scalar): "\"\(scalar.string.prefix(40))\""
        case .sequence: "a list"
        case .mapping: "keys and values"
        default: "nothing"
        }
    }
}
