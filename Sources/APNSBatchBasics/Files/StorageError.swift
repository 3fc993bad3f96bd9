/// A failed operation on a file.
package struct StorageError: SystemFailure, Equatable, Sendable, CustomStringConvertible {
    /// The operation, such as `write`.
    package var action: String
    /// The path of the file.
    package var name: String
    /// The error number of the system, ``notRegular``, ``changed``, ``notOwn``, ``shared`` or ``released``.
    package var code: Int32

    package var systemCode: Int32? { code > 0 ? code : nil }

    package init(_ action: String, _ name: String, code: Int32) {
        (self.action, self.name, self.code) = (action, name, code)
    }

    /// A value of ``code``: the file is not a regular file.
    package static let notRegular: Int32 = -1
    /// A value of ``code``: another program changed or removed the file while it was being written.
    package static let changed: Int32 = -2
    /// A value of ``code``: the file belongs to another user.
    package static let notOwn: Int32 = -3
    /// A value of ``code``: others than its owner may write to the file.
    package static let shared: Int32 = -4
    /// A value of ``code``: the lock under which the file may be changed is not held any more.
    package static let released: Int32 = -5

    /// Opens a file, as ``OpenFile`` does.
    package static func opening(
        _ path: String, _ flags: Int32, _ kinds: OpenFile.Kinds = .file
    ) throws(StorageError) -> OpenFile {
        do {
            return try OpenFile(path, flags, kinds)
        } catch .system(let code) {
            throw StorageError("open", path, code: code)
        } catch {
            throw StorageError("open", path, code: notRegular)
        }
    }

    package var description: String {
        switch code {
        case Self.notRegular: "cannot \(action) \(name): it is not a regular file"
        case Self.changed: "\(name) was changed or removed by another program while it was being written"
        case Self.released: "cannot \(action) \(name): its lock was released"
        case Self.notOwn: "cannot \(action) \(name): it belongs to another user"
        case Self.shared: "cannot \(action) \(name): others may write to it; run chmod 600 \(name)"
        default: "cannot \(action) \(name): \(systemMessage(code))"
        }
    }
}
