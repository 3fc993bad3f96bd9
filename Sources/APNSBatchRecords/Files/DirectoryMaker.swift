import APNSBatchBasics
import Glibc

/// Makes a directory and those above it, like `mkdir -p`. Their names are durable on return.
struct DirectoryMaker {
    let mode: mode_t
    /// The directory that is made in place of another one.
    var place: (String) -> String = { $0 }
    /// The directories that were made, in order.
    private(set) var made: [String] = []

    init(mode: mode_t, place: @escaping (String) -> String = { $0 }) { (self.mode, self.place) = (mode, place) }

    /// Returns the path as it was made, without superfluous slashes.
    @discardableResult
    mutating func make(_ path: String) throws(StorageError) -> String {
        var whole = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            let parent = whole.isEmpty ? "." : whole
            whole += (whole.isEmpty || whole.hasSuffix("/") ? "" : "/") + part
            if unsafe mkdir(place(whole), mode) == 0 {
                made.append(place(whole))
                try FileStorage.syncDirectory(place(parent))
            } else if errno != EEXIST {
                throw StorageError("create directory", whole, code: errno)
            }
        }
        return whole.isEmpty ? "." : whole
    }
}
