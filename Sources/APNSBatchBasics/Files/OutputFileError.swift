import Glibc

/// The reason why a file could not be written, with its path.
package enum OutputFileError: SystemFailure, Equatable, Sendable, CustomStringConvertible {
    /// A system call failed.
    case system(action: String, path: String, code: Int32)
    /// The existing file is of another kind.
    case foreign(_ path: String, wanted: String)

    /// The object at the path is not a file, but the one that the text names, and is not written to.
    case other(_ path: String, _ found: String)

    /// - Parameter code: The error number; `errno` by default.
    init(_ action: String, _ path: String, code: Int32 = errno) {
        self = .system(action: action, path: path, code: code)
    }

    package var systemCode: Int32? { if case .system(_, _, let code) = self { code } else { nil } }

    package var description: String {
        switch self {
        case .system(let action, let path, let code): "cannot \(action) \(path): \(systemMessage(code))"
        case .other(let path, let found): "cannot write \(path): it is \(found), not a file"
        case .foreign(let path, let wanted):
            "\(path) already exists and does not hold \(wanted); it was not overwritten: name another file"
        }
    }
}
