import APNSBatch
import APNSBatchBasics
import Yams

/// Reads YAML files. Every error names its line and column.
enum YAMLFile {
    static func compose(_ path: String) throws -> Node {
        try root(of: try text(of: try InputFile.bytes(of: path)[...], path), path)
    }

    /// Composes a file in which keys may be given again. Each of those is a fault, and has another name.
    static func compose(_ path: String, noting faults: YAMLFaultList) throws -> Node {
        var text = try text(of: try InputFile.bytes(of: path)[...], path)
        while let again = RepeatedKey(in: text) {
            faults.add(again)
            text = again.renamed(in: text)
        }
        return try root(of: text, path)
    }

    private static func root(of text: String, _ path: String) throws -> Node {
        do {
            guard let root = try Yams.compose(yaml: text) else { throw UsageError("\(path): the file is empty") }
            return root
        } catch let error as YamlError {
            throw UsageError(path + YAMLFault.describe(error, in: text))
        }
    }

    /// Returns the text of a file without byte order marks.
    private static func text(of bytes: ArraySlice<UInt8>, _ path: String) throws -> String {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw UsageError("\(path): expected UTF-8, found UTF-16; convert it with iconv -f UTF-16 -t UTF-8")
        }
        var unmarked = bytes
        while unmarked.starts(with: [0xEF, 0xBB, 0xBF]) { unmarked.removeFirst(3) }
        if let text = String(validating: unmarked, as: UTF8.self) { return text }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
        let column = String(decoding: lines[line], as: UTF8.self).unicodeScalars.prefix { $0 != "\u{FFFD}" }.count + 1
        throw UsageError("\(path):\(line + 1):\(column): expected UTF-8, found another byte")
    }

    static func decode<T: Decodable>(_ type: T.Type, from path: String) throws -> T {
        let root = try compose(path)
        do {
            return try YAMLDecoder().decode(T.self, from: root)
        } catch let error as DecodingError {
            throw UsageError(path + YAMLFault.describe(error, in: root))
        }
    }

    /// Says that a key is unknown, and which one was probably meant.
    static func unknown(key: String, _ known: [String]) -> String {
        let near = nearest(key, in: known)
        let hint =
            near.isEmpty
            ? "; docs/reference/settings.md lists the keys" : "; did you mean \(near.joined(separator: " or "))?"
        return "unknown key \(key.quoted)\(hint)"
    }

    /// Returns at most three known keys that a mistyped key most likely means: the nearest ones, or else those that share a
    /// word with it.
    private static func nearest(_ key: String, in known: [String]) -> [String] {
        let wanted = key.lowercased().replacing("-", with: "_")
        let near = NearestName.all(wanted, in: known)
        if !near.isEmpty { return Array(near.prefix(3)) }
        let words = Set(wanted.split(separator: "_"))
        let sharing = known.filter { !words.isDisjoint(with: $0.split(separator: "_")) }
        return sharing.count <= 3 ? sharing : []
    }

    /// Returns the place of a node, such as `campaign.yaml:7:11`.
    static func place(of node: Node, in path: String) -> String {
        node.mark.map { "\(path):\($0.line):\($0.column)" } ?? path
    }
}
