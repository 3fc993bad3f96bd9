import APNSBatch
import APNSBatchBasics
import Yams

/// Reads YAML files. Every error names its line and column.
enum YAMLFile {
    static func compose(_ path: String) throws -> Node {
        // A byte order mark is no part of the text.
        let text = String(
            String.UnicodeScalarView(
                String(decoding: try InputFile.bytes(of: path), as: UTF8.self).unicodeScalars.drop { $0 == "\u{FEFF}" })
        )
        do {
            guard let root = try Yams.compose(yaml: text) else { throw UsageError("\(path): the file is empty") }
            return root
        } catch let error as YamlError {
            throw UsageError(path + YAMLFault.describe(error, in: text))
        }
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
            near.isEmpty ? "; docs/campaigns.md lists the keys" : "; did you mean \(near.joined(separator: " or "))?"
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
