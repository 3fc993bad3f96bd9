import APNSBatchBasics
import Glibc

/// What the history knows of the input of a run, so that a later run can tell whether it was sent before. It has no rows.
package struct KnownInput: Sendable, Equatable, Codable {
    /// One file of the input, or all of an input that is no file.
    package struct File: Sendable, Hashable, Codable {
        /// The absolute path, or the name of an input that is no file.
        package var name: String
        /// The number of bytes as they are stored; unpacked if it is no file.
        package var bytes: UInt64
        /// When it was last modified, in nanoseconds since 1970-01-01 00:00 UTC; nil if it is no file.
        package var modified: UInt64?
        /// The CRC-32C of its unpacked bytes, in hex digits; nil until they have been read.
        package var sum: String?

        package init(name: String, bytes: UInt64, modified: UInt64? = nil, sum: String? = nil) {
            (self.name, self.bytes, self.modified, self.sum) = (name, bytes, modified, sum)
        }

        /// Looks at a file without reading it. Returns nil if there is none, or if it is no regular file.
        package init?(at path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
            self.init(name: RunDirectory.absolute(path), bytes: UInt64(max(0, facts.st_size)))
            modified = UInt64(max(0, facts.st_mtim.tv_sec)) * 1_000_000_000 + UInt64(max(0, facts.st_mtim.tv_nsec))
        }

        /// Whether the other one is the same file and was not written since.
        package func isUnchanged(since other: File) -> Bool {
            name == other.name && bytes == other.bytes && modified != nil && modified == other.modified
        }
    }

    /// The files in the order of their rows; empty if nothing is known.
    package var files: [File]

    package init(_ files: [File]) { self.files = files }

    /// The form of a checksum in the history.
    package static func text(ofSum sum: UInt32) -> String { String(String(UInt64(sum) | 1 << 32, radix: 16).suffix(8)) }
}
