import Glibc
import Yams

/// Reads YAML files, with the place in every error.
enum CampaignFile {
    static func read(_ path: String) throws -> CampaignSettings {
        let settings = try decode(CampaignSettings.self, from: path) { try check($0, path: path) }
        let directory = path.contains("/") ? String(path[..<path.lastIndex(of: "/")!]) : ""
        return settings.relative(to: directory)
    }

    /// Decodes a mapping; when `keys` are given, any other key is an error.
    static func decode<T: Decodable>(_ type: T.Type, from path: String, keys: [String]?) throws -> T {
        try decode(type, from: path) { if let keys { try checkKeys(of: $0, keys, path: path) } }
    }

    /// Decodes a mapping, after `check` has looked at it.
    private static func decode<T: Decodable>(
        _ type: T.Type, from path: String, check: (Node) throws -> Void
    ) throws -> T {
        let text = String(decoding: try bytes(of: path), as: UTF8.self)
        do {
            guard let node = try Yams.compose(yaml: text) else { throw UsageError("\(path): is empty") }
            try check(node)
            do {
                return try YAMLDecoder().decode(T.self, from: node)
            } catch let error as DecodingError {
                throw UsageError(path + YAMLFault.describe(error, in: node))
            }
        } catch let error as YamlError {
            throw UsageError(path + YAMLFault.describe(error))
        }
    }

    private static func check(_ node: Node, path: String) throws {
        try checkKeys(of: node, CampaignSettings.CodingKeys.allCases.map(\.rawValue), path: path)
        if let encryption = node.mapping?["encryption"] {
            try checkKeys(of: encryption, EncryptionSettings.CodingKeys.allCases.map(\.rawValue), path: path)
        }
        guard let providers = node.mapping?["providers"] else { return }
        for (key, _) in node.mapping ?? [:] {
            guard let name = key.string, CampaignSettings.keysOfOneProvider.contains(name) else { continue }
            throw UsageError("\(path)\(place(key)): \(name): not together with providers")
        }
        guard let entries = providers.sequence else {
            throw UsageError("\(path)\(place(providers)): providers: expected a list")
        }
        for (number, entry) in entries.enumerated() {
            try checkKeys(
                of: entry, ProviderSettings.CodingKeys.allCases.map(\.rawValue), path: path,
                name: "providers[\(number)]: ")
        }
    }

    private static func checkKeys(of node: Node, _ keys: [String], path: String, name: String = "") throws {
        guard let mapping = node.mapping else {
            throw UsageError("\(path)\(place(node)): \(name)expected keys and values")
        }
        for (key, _) in mapping {
            guard let found = key.string, !keys.contains(found) else { continue }
            throw UsageError(
                "\(path)\(place(key)): \(name)unknown key \"\(found)\"; known are \(keys.joined(separator: ", "))")
        }
    }

    private static func place(_ node: Node) -> String { node.mark.map { ":\($0.line):\($0.column)" } ?? "" }

    /// No template, certificate or campaign file has more.
    private static let lengthMax = 16 << 20

    /// A file's content, or an error that names it. Pipes and process substitutions are files too; devices are not, for some
    /// of them never end.
    static func bytes(of path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unreadable(path) }
        defer { close(file) }
        var facts = stat()
        guard fstat(file, &facts) == 0 else { throw unreadable(path) }
        guard ![S_IFCHR, S_IFBLK].contains(facts.st_mode & S_IFMT) else {
            throw UsageError("cannot read \(path): it is a device, and not a file")
        }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(file, &piece, piece.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += piece[..<count]
                guard bytes.count <= lengthMax else {
                    throw UsageError("cannot read \(path): it has more than \(lengthMax >> 20) MiB")
                }
            } else if errno != EINTR {
                throw unreadable(path)
            }
        }
    }

    private static func unreadable(_ path: String) -> UsageError {
        UsageError("cannot read \(path): \(String(cString: strerror(errno)))")
    }
}
