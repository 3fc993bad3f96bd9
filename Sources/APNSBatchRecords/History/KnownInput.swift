import APNSBatchBasics
import APNSBatchRows
import Glibc

/// What the history stores of the input of a run, so that a later run can decide whether it was sent before. It has no rows.
package struct KnownInput: Sendable, Equatable, Codable {
    /// One file of the input, or all of an input that is no file.
    package struct File: Sendable, Hashable, Codable {
        /// The absolute path, or the name of an input that is no file.
        package var name: String
        /// The number of bytes as they are stored; unpacked if it is no file.
        package var bytes: UInt64
        /// When it was last modified, in nanoseconds since 1970-01-01 00:00 UTC; nil if it is no file.
        package var modified: UInt64?
        /// The number of its unpacked bytes; nil until they are known.
        package var length: UInt64?
        /// The CRC-32C of its unpacked bytes, in hex digits; nil until they have been read.
        package var sum: String?
        /// Its first unpacked bytes; nil if they were not looked at.
        package var head: Piece?
        /// Its last bytes; nil if they were not looked at, or if the file is packed.
        package var tail: Piece?
        /// True if it has at most a header row; otherwise nil.
        package var isBare: Bool?
        /// Where its bytes can be read, if that is not its name. The history does not have it.
        package var copy: String?

        enum CodingKeys: String, CodingKey {
            case name, bytes, modified, length, head, tail
            case sum = "crc32c"
            case isBare = "bare"
        }

        package init(name: String, bytes: UInt64, modified: UInt64? = nil, sum: String? = nil) {
            (self.name, self.bytes, self.modified, self.sum) = (name, bytes, modified, sum)
        }

        /// Looks at a file without reading it. Returns nil if there is none, or if it is no regular file.
        package init?(at path: String) {
            var facts = stat()
            guard unsafe stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
            self.init(name: RunDirectory.absolute(path), bytes: UInt64(max(0, facts.st_size)))
            modified = facts.modifiedNanoseconds
        }

        /// Whether the other one is the same file and was not written since, judged by its edges, too.
        package func isUnchanged(since other: File) -> Bool {
            name == other.name && bytes == other.bytes && modified != nil && modified == other.modified
                && (head == nil || other.head == nil || head == other.head)
                && (tail == nil || other.tail == nil || tail == other.tail)
        }

        /// Whether its bytes can be read.
        package var isReadable: Bool { modified != nil || copy != nil }

        /// Whether what is known of both without reading them permits that they have the same unpacked bytes.
        package func mayEqual(_ other: File) -> Bool {
            if let head, let its = other.head {
                guard head == its, tail == nil || other.tail == nil || tail == other.tail else { return false }
                if let length, let other = other.length { return length == other }
                // One of them is packed, and begins like the other one.
                return true
            }
            return bytes == other.bytes
        }

        /// Takes what was read of the whole file.
        package mutating func take(_ found: InputFingerprint) {
            (length, sum) = (found.bytes, KnownInput.text(ofSum: found.sum))
            take(edge: found)
        }

        /// Takes what was read of its beginning.
        package mutating func take(edge found: InputFingerprint) {
            head = Piece(bytes: found.headBytes, sum: KnownInput.text(ofSum: found.headSum))
            isBare = found.isBare ? true : nil
        }
    }

    /// Some bytes of a file.
    package struct Piece: Sendable, Hashable, Codable {
        package var bytes: UInt64
        /// Their CRC-32C in hex digits.
        package var sum: String

        package init(bytes: UInt64, sum: String) { (self.bytes, self.sum) = (bytes, sum) }

        enum CodingKeys: String, CodingKey {
            case bytes
            case sum = "crc32c"
        }
    }

    /// All unpacked bytes of a file.
    package struct Content: Sendable, Equatable, Codable {
        /// Their number; nil if it is not known.
        package var length: UInt64?
        /// Their CRC-32C in hex digits.
        package var sum: String

        package init(length: UInt64?, sum: UInt32) { (self.length, self.sum) = (length, KnownInput.text(ofSum: sum)) }

        package init(sum: String) { self.sum = sum }

        enum CodingKeys: String, CodingKey {
            case length
            case sum = "crc32c"
        }
    }

    /// The files in the order of their rows; empty if nothing is known.
    package var files: [File]

    package init(_ files: [File]) { self.files = files }

    /// Whether it is no file.
    package var isStream: Bool { files.allSatisfy { $0.modified == nil } }

    /// The form of a checksum in the history.
    package static func text(ofSum sum: UInt32) -> String { String(String(UInt64(sum) | 1 << 32, radix: 16).suffix(8)) }
}
