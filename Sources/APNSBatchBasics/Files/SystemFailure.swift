import Glibc

/// An error that may come from a system call. Its number says of what kind it is, wherever it was noticed.
package protocol SystemFailure: Error {
    /// The error number of the system; nil if there is none.
    var systemCode: Int32? { get }
}

extension SystemFailure {
    /// Whether a disk is full or fails, so that the same call may succeed later.
    package var isOfDisk: Bool {
        systemCode.map { [ENOSPC, EDQUOT, EIO, ESTALE, ETIMEDOUT, ENODEV, ENXIO].contains($0) } ?? false
    }

    /// Whether the process or the machine lacks memory or file descriptors.
    package var isOfMeans: Bool { systemCode.map { [ENOMEM, EMFILE, ENFILE].contains($0) } ?? false }
}
