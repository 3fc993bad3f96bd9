import APNSBatchBasics
import Glibc

/// Reads complete files.
enum InputFile {
    /// Reads a file, or throws an error that names it. Process substitutions are accepted. Devices and FIFOs are refused,
    /// because reading them may never end.
    static func bytes(of path: String) throws -> [UInt8] {
        // Templates, certificates and campaign files are smaller than this.
        try bytes(of: path, max: 16 << 20)
    }

    /// Reads a file. The returned copy of its content is the only one that stays in memory.
    fileprivate static func bytes(of path: String, max: Int) throws -> [UInt8] {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: max + 1, alignment: 16)
        var length = 0
        defer {
            explicit_bzero(room.baseAddress!, length)
            room.deallocate()
        }
        do {
            let file = try OpenFile(path, O_RDONLY, [.file, .pipe])
            file.makeBlocking()
            length = try file.read(into: room)
        } catch .system(let code) {
            let error = StorageError("read", path, code: code)
            throw UsageError("\(error)", cause: error)
        } catch {
            throw UsageError("cannot read \(path): \(error)")
        }
        guard length <= max else { throw UsageError("cannot read \(path): it is larger than \(max >> 20) MiB") }
        return Array(room[..<length])
    }
}

/// A file that only its owner should be able to read: a key or a passphrase.
enum SecretFile {
    /// Reads the file. The caller wipes the bytes.
    static func bytes(of path: String) throws -> [UInt8] { try InputFile.bytes(of: path, max: 1 << 20) }

    /// Returns a warning if others than the owner can access the file: `AuthKey.p8 is accessible to everybody (mode 644): run
    /// chmod 600 AuthKey.p8`. Returns nil if not, and for anything but a regular file.
    static func exposure(of path: String) -> String? {
        var facts = stat()
        guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_mode & 0o077 != 0 else { return nil }
        let others = facts.st_mode & 0o007 != 0 ? "everybody" : "its group"
        let mode = String(facts.st_mode & 0o777, radix: 8)
        return "\(path) is accessible to \(others) (mode \(mode)): run chmod 600 \(path)"
    }
}

extension [UInt8] {
    /// Overwrites the bytes, if no other array shares them, and empties the array.
    mutating func wipe() {
        withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } }
        self = []
    }
}
