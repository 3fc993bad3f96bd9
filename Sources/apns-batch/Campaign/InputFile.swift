import Glibc

/// Files that are read whole.
enum InputFile {
    /// A file's content, or an error that names it. Process substitutions are files too. Devices are not, for some of them
    /// never end, nor are FIFOs, where nobody may ever write.
    static func bytes(of path: String) throws -> [UInt8] {
        var place = stat()
        if lstat(path, &place) == 0, place.st_mode & S_IFMT == S_IFIFO {
            throw UsageError("cannot read \(path): it is a FIFO, and not a file")
        }
        if stat(path, &place) == 0, [S_IFCHR, S_IFBLK].contains(place.st_mode & S_IFMT) {
            throw UsageError("cannot read \(path): it is a device, and not a file")
        }
        // No template, certificate or campaign file has more.
        return try bytes(of: path, max: 16 << 20)
    }

    /// No copy of the content stays in memory but the one that is returned.
    fileprivate static func bytes(of path: String, max: Int) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unreadable(path) }
        defer { close(file) }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: max + 1, alignment: 16)
        var length = 0
        defer {
            explicit_bzero(room.baseAddress!, length)
            room.deallocate()
        }
        while length <= max {
            let count = read(file, room.baseAddress! + length, room.count - length)
            if count == 0 { return Array(room[..<length]) }
            if count > 0 {
                length += count
            } else if errno != EINTR {
                throw unreadable(path)
            }
        }
        throw UsageError("cannot read \(path): it has more than \(max >> 20) MiB")
    }

    private static func unreadable(_ path: String) -> UsageError {
        UsageError("cannot read \(path): \(String(cString: strerror(errno)))")
    }
}

/// A file that only its owner should read: a key, a passphrase.
enum SecretFile {
    /// Its content, which the caller wipes.
    static func bytes(of path: String) throws -> [UInt8] { try InputFile.bytes(of: path, max: 1 << 20) }

    /// Who besides the owner may use it: for instance `AuthKey.p8 may be used by everybody (mode 644): chmod 600
    /// AuthKey.p8`. Nil when nobody, and for what is no file of a disk.
    static func exposure(of path: String) -> String? {
        var facts = stat()
        guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_mode & 0o077 != 0 else { return nil }
        let others = facts.st_mode & 0o007 != 0 ? "everybody" : "its group"
        let mode = String(facts.st_mode & 0o777, radix: 8)
        return "\(path) may be used by \(others) (mode \(mode)): chmod 600 \(path)"
    }
}

extension [UInt8] {
    /// Overwrites the bytes, if no other array shares them, and empties the array.
    mutating func wipe() {
        withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } }
        self = []
    }
}
