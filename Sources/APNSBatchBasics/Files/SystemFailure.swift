import Glibc

/// An error with the information whether its cause may be temporary, so that the same call may succeed later without a person.
package protocol PassingFailure: Error {
    var mayPass: Bool { get }
}

/// An error that may come from a system call. Its number determines its kind, wherever it was noticed.
package protocol SystemFailure: PassingFailure {
    /// The error number of the system; nil if there is none.
    var systemCode: Int32? { get }
}

extension SystemFailure {
    /// Whether a disk is full or fails, so that the same call may succeed later.
    package var isOfDisk: Bool {
        systemCode.map { [ENOSPC, EDQUOT, EIO, ESTALE, ETIMEDOUT, ENODEV, ENXIO].contains($0) } ?? false
    }

    /// Whether a disk, a lock, an address or another machine is in the way, which passes by itself.
    package var mayPass: Bool { hasPassingCode }

    /// Whether the error number alone shows it.
    package var hasPassingCode: Bool {
        isOfDisk || systemCode.map { Self.passing.contains($0) } ?? false
    }

    private static var passing: [Int32] {
        [
            EAGAIN, EADDRINUSE, EBUSY, ECONNREFUSED, ECONNRESET, EHOSTDOWN, EHOSTUNREACH, ENETDOWN, ENETUNREACH,
            ENOTCONN, ETXTBSY,
        ]
    }

    /// Whether the process or the machine lacks memory or file descriptors.
    package var isOfMeans: Bool { systemCode.map { [ENOMEM, EMFILE, ENFILE].contains($0) } ?? false }
}
