import Foundation
import Yams

/// Reads YAML files, with the place in every error.
enum CampaignFile {
    static func read(_ path: String) throws -> CampaignSettings {
        let settings = try decode(
            CampaignSettings.self, from: path, keys: CampaignSettings.CodingKeys.allCases.map(\.rawValue))
        let directory = path.contains("/") ? String(path[..<path.lastIndex(of: "/")!]) : ""
        return settings.relative(to: directory)
    }

    /// Decodes a mapping; when `keys` are given, any other key is an error.
    static func decode<T: Decodable>(_ type: T.Type, from path: String, keys: [String]?) throws -> T {
        let text = String(decoding: try bytes(of: path), as: UTF8.self)
        do {
            guard let node = try Yams.compose(yaml: text) else { throw UsageError("\(path): is empty") }
            if let keys { try check(node, keys: keys, path: path) }
            do {
                return try YAMLDecoder().decode(T.self, from: node)
            } catch let error as DecodingError {
                throw UsageError(path + YAMLFault.describe(error, in: node))
            }
        } catch let error as YamlError {
            throw UsageError(path + YAMLFault.describe(error))
        }
    }

    private static func check(_ node: Node, keys: [String], path: String) throws {
        guard let mapping = node.mapping else { throw UsageError("\(path):1:1: expected keys and values") }
        for (key, _) in mapping {
            guard let name = key.string, !keys.contains(name) else { continue }
            let place = key.mark.map { ":\($0.line):\($0.column)" } ?? ""
            throw UsageError("\(path)\(place): unknown key \"\(name)\"; known are \(keys.joined(separator: ", "))")
        }
    }

    /// A file's content, or an error that names it.
    static func bytes(of path: String) throws -> [UInt8] {
        do {
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw UsageError(
                "cannot read \(path): \((error as NSError).localizedFailureReason ?? error.localizedDescription)")
        }
    }
}
