/// Why a disk did not do as asked.
package struct StorageError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What was to be done, such as `write`.
    package var action: String
    /// What was to be done to it: a path.
    package var name: String
    /// Of the system.
    package var code: Int32

    package init(_ action: String, _ name: String, code: Int32) {
        self.action = action
        self.name = name
        self.code = code
    }

    /// In the place of a system's code: the file is no regular file.
    package static let notRegular: Int32 = -1
    /// In the place of a system's code: somebody else changed or removed the file while it was written.
    package static let changed: Int32 = -2

    package var description: String {
        switch code {
        case Self.notRegular: "cannot \(action) \(name): it is not a regular file"
        case Self.changed: "\(name) was changed or removed by another program while it was being written"
        default: "cannot \(action) \(name): \(systemMessage(code))"
        }
    }
}
