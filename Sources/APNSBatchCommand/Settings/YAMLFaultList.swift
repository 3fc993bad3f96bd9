import Yams

/// The faults of a YAML file, each with its place. All of them are found before the file is refused.
final class YAMLFaultList {
    private let path: String
    private var found: [(mark: (line: Int, column: Int)?, text: () -> String)] = []
    /// More lines do not help, as with a file that is not a campaign file at all.
    private static let shown = 50

    init(of path: String) { self.path = path }

    var isEmpty: Bool { found.isEmpty }
    var count: Int { found.count }

    func add(_ text: @autoclosure @escaping () -> String, at node: Node) {
        found.append((mark: node.mark.map { (line: $0.line, column: $0.column) }, text: text))
    }

    /// Adds that a key is given again.
    func add(_ again: RepeatedKey) {
        found.append((mark: (line: again.line, column: again.column), text: { again.description }))
    }

    /// Adds that a node is not what it must be.
    func add(_ name: String, expected: String, at node: Node) {
        add("\(name.isEmpty ? "" : "\(name): ")expected \(expected), found \(YAMLFault.shown(node))", at: node)
    }

    /// Throws an error if there are any, in the order of their places.
    func throwAny() throws {
        guard !isEmpty else { return }
        let sorted = found.enumerated().sorted {
            let (one, other) = ($0.element.mark, $1.element.mark)
            return (one?.line ?? 0, one?.column ?? 0, $0.offset) < (other?.line ?? 0, other?.column ?? 0, $1.offset)
        }
        var faults = sorted.prefix(Self.shown).map { fault in
            let place = fault.element.mark.map { ":\($0.line):\($0.column)" } ?? ""
            return "\(path)\(place): \(fault.element.text())"
        }
        if found.count > faults.count {
            let place = sorted[faults.count].element.mark.map { ":\($0.line):\($0.column)" } ?? ""
            faults.append("\(path)\(place): and \(found.count - faults.count) more faults from here on")
        }
        throw UsageError(faults: faults)
    }
}
