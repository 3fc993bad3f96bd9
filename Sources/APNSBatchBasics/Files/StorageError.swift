/// A failed operation on a file.
package struct StorageError: SystemFailure, Equatable, Sendable, CustomStringConvertible {
    /// The operation, such as `write`.
    package var action: String
    /// The path of the file.
    package var name: String
    /// The error number of the system, ``notRegular``, ``changed`` or ``released``.
    package var code: Int32

    package var systemCode: Int32? { code > 0 ? code : nil }

    package init(_ action: String, _ name: String, code: Int32) {
        (self.action, self.name, self.code) = (action, name, code)
    }

    /// A value of ``code``: the file is not a regular file.
    package static let notRegular: Int32 = -1
    /// A value of ``code``: another program changed or removed the file while it was being written.
    package static let changed: Int32 = -2
    /// A value of ``code``: the lock under which the file may be changed is not held any more.
    package static let released: Int32 = -3

    package var description: String {
        switch code {
        case Self.notRegular: "cannot \(action) \(name): it is not a regular file"
        case Self.changed: "\(name) was changed or removed by another program while it was being written"
        case Self.released: "cannot \(action) \(name): its lock was released"
        default: "cannot \(action) \(name): \(systemMessage(code))"
        }
    }
}
