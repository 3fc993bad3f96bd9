import Glibc

/// The socket on which systemd listens for messages of a service.
///
/// Source: sd_notify(3), from which the variables and their forms are.
struct NotifySocket: Sendable {
    private let descriptor: Int32
    /// The address as the variable gives it; a leading `@` stands for a NUL.
    private let path: String

    /// - Parameter path: The value of `NOTIFY_SOCKET`. Returns nil if it is neither an absolute path nor the name of an
    ///   abstract socket.
    init?(_ path: String) {
        guard path.hasPrefix("/") || path.hasPrefix("@"), path.utf8.count > 1,
            path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        // A manager that reads nothing must not stop the run.
        var limit = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Sends assignments such as `READY=1`, one on each line. A failure is ignored: systemd draws its own conclusions from
    /// messages that do not come.
    func send(_ assignments: [String]) {
        let message = Array(assignments.joined(separator: "\n").utf8)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
