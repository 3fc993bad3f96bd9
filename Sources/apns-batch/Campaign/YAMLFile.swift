import Glibc
import Yams

/// Reads YAML files, with the place in every error.
enum YAMLFile {
    /// Decodes a mapping, after `prepare` has looked at it.
    static func decode<T: Decodable>(
        _ type: T.Type, from path: String, prepare: (Node) throws -> Node = { $0 }
    ) throws -> T {
        let text = String(decoding: try InputFile.bytes(of: path), as: UTF8.self)
        do {
            guard let root = try Yams.compose(yaml: text) else { throw UsageError("\(path): is empty") }
            let node = try prepare(root)
            do {
                return try YAMLDecoder().decode(T.self, from: node)
            } catch let error as DecodingError {
                throw UsageError(path + YAMLFault.describe(error, in: node))
            }
        } catch let error as YamlError {
            throw UsageError(path + YAMLFault.describe(error, in: text))
        }
    }

    /// Refuses keys that are not known.
    static func checkKeys(of node: Node, _ keys: [String], path: String, name: String = "") throws {
        guard let mapping = node.mapping else {
            throw UsageError(
                "\(place(of: node, in: path)): \(name)expected keys and values, found \(YAMLFault.shown(node))")
        }
        for (key, _) in mapping {
            guard let found = key.string, !keys.contains(found) else { continue }
            let near = NearestKeys.find(found, in: keys)
            let hint =
                near.isEmpty
                ? "; docs/campaigns.md lists the keys"
                : "; did you mean \(near.joined(separator: " or "))?"
            throw UsageError("\(place(of: key, in: path)): \(name)unknown key \"\(found)\"\(hint)")
        }
    }

    /// `campaign.yaml:7:11`.
    static func place(of node: Node, in path: String) -> String {
        node.mark.map { "\(path):\($0.line):\($0.column)" } ?? path
    }
}

/// Files that are read whole.
enum InputFile {
    /// No template, certificate or campaign file has more.
    private static let lengthMax = 16 << 20

    /// A file's content, or an error that names it. Process substitutions are files too. Devices are not, for some of them
    /// never end, nor are FIFOs, where nobody may ever write.
    static func bytes(of path: String) throws -> [UInt8] {
        var place = stat()
        if lstat(path, &place) == 0, place.st_mode & S_IFMT == S_IFIFO {
            throw UsageError("cannot read \(path): it is a FIFO, and not a file")
        }
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
