import Foundation
import Synchronization

/// Listens for messages to systemd, in place of it.
final class NotifyListener: Sendable {
    private let descriptor: Int32
    private let received = Mutex<[String]>([])
    private let isOver = Atomic(false)
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter path: As in `NOTIFY_SOCKET`: a leading `@` stands for an abstract socket.
    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = path.hasPrefix("@") ? [0] + Array(path.utf8.dropFirst()) : Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        // A process that another test starts has the descriptor of an earlier listener until it runs its program.
        var code: Int32 = 0
        _ = eventually(seconds: 10) {
            withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    code = bind(descriptor, $0, length) == 0 ? 0 : errno
                }
            }
            return code != EADDRINUSE
        }
        guard code == 0 else {
            close(descriptor)
            throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        }
        Thread.detachNewThread { [self] in listen() }
    }

    private func listen() {
        while true {
            // All that has come is read before the end.
            let wasOver = isOver.load(ordering: .acquiring)
            var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&wanted, 1, 20) > 0 else {
                if wasOver { break }
                continue
            }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count > 0 { received.withLock { $0.append(String(decoding: bytes[..<count], as: UTF8.self)) } }
        }
        // Closed before the end is told: the caller may listen at the same path again.
        close(descriptor)
        ended.signal()
    }

    /// The messages so far.
    var messages: [String] { received.withLock { $0 } }

    /// Returns all messages of processes that have ended. Call it once.
    func stop() -> [String] {
        isOver.store(true, ordering: .releasing)
        ended.wait()
        return messages
    }
}
