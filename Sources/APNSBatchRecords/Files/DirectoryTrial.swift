import APNSBatchBasics
import Glibc

/// Finds out whether a directory can be made and files in it, and leaves nothing there. What is missing is made under another name, so
/// that another process never finds a directory that is removed again.
package struct DirectoryTrial {
    private let path: String
    private let mode: mode_t

    package init(_ path: String, mode: mode_t) { (self.path, self.mode) = (path, mode) }

    /// Makes the directory, calls `body` with the path at which it is, and removes what was made.
    func attempt(_ body: (String) throws -> Void) throws {
        let missing = Self.firstMissing(of: path)
        let other = missing.map { "\(Self.parent(of: $0))/\(Self.newName())" }
        var maker = DirectoryMaker(mode: mode) { path in
            guard let missing, let other, path == missing || path.hasPrefix(missing + "/") else { return path }
            return other + path.dropFirst(missing.count)
        }
        defer { for directory in maker.made.reversed() { unsafe rmdir(directory) } }
        let whole = try maker.make(path)
        try body(maker.place(whole))
    }

    /// Creates a file in a directory and removes it.
    ///
    /// - Parameter path: The path that an error names.
    static func makeFile(in directory: String, for path: String) throws(StorageError) {
        let name = "\(directory)/\(newName())"
        do throws(StorageError) {
            _ = try FileStorage(name, .new)
        } catch {
            throw StorageError(error.action, path, code: error.code)
        }
        unsafe unlink(name)
    }

    /// The bytes that this user may still write to the disk that a path is on, or will be on; nil if that is not known.
    package static func freeBytes(at path: String) -> UInt64? {
        var place = path
        var facts = statvfs()
        while unsafe statvfs(place, &facts) != 0 {
            guard errno == ENOENT, place != ".", place != "/" else { return nil }
            place = parent(of: place)
        }
        let blocks = geteuid() == 0 ? facts.f_bfree : facts.f_bavail
        return UInt64(blocks) * UInt64(facts.f_frsize)
    }

    /// The directory that has a path as its entry; a path without a slash is one of the current directory.
    static func parent(of path: String) -> String {
        guard let slash = path.dropLast(path.hasSuffix("/") ? 1 : 0).lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The first directory of a path that is not there; nil if all are.
    private static func firstMissing(of path: String) -> String? {
        var whole = path.hasPrefix("/") ? "/" : ""
        var facts = stat()
        for part in path.split(separator: "/") {
            whole += (whole.isEmpty || whole.hasSuffix("/") ? "" : "/") + part
            if unsafe lstat(whole, &facts) != 0, errno == ENOENT { return whole }
        }
        return nil
    }

    /// A name that no other trial has, also not that of a process of the same id in another container, which may have been killed.
    private static func newName() -> String {
        ".apns-batch-trial-\(String(UInt64.random(in: .min ... .max), radix: 16))"
    }
}
