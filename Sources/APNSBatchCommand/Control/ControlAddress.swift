import APNSBatch
import APNSBatchBasics
import Glibc

/// The address of the control socket of a run: the file `control` in its directory.
struct ControlAddress: ~Copyable {
    static let name = "control"
    private let directory: Int32

    /// - Throws: ``SystemError`` if the directory cannot be opened.
    init(_ directory: String) throws {
        do {
            self.directory = try OpenFile(directory, O_RDONLY | O_DIRECTORY, .directory).release()
        } catch {
            throw SystemError("\(directory): \(error)")
        }
    }

    deinit { close(directory) }

    /// Calls `body` with the address of the socket. It names the directory by its descriptor, because an address has room for
    /// 107 bytes of a path only.
    func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) {
            $0.copyBytes(from: "/proc/self/fd/\(directory)/\(Self.name)".utf8)
        }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    /// The user to whom the directory belongs; nil if it cannot be determined.
    var owner: uid_t? {
        var facts = stat()
        return fstat(directory, &facts) == 0 ? facts.st_uid : nil
    }

    /// The number of the file of that name if it is a socket; nil otherwise.
    var file: ino_t? {
        var facts = stat()
        let isSocket =
            fstatat(directory, Self.name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && facts.st_mode & S_IFMT == S_IFSOCK
        return isSocket ? facts.st_ino : nil
    }

    /// Removes a socket of that name, which a process that was killed leaves behind. Other files stay.
    ///
    /// - Parameter wanted: the only file to remove; nil for any.
    func removeSocket(_ wanted: ino_t? = nil) {
        guard let file, wanted == nil || file == wanted else { return }
        unlinkat(directory, Self.name, 0)
    }
}
