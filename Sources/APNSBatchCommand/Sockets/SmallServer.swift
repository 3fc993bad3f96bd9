import APNSBatchBasics
import APNSBatchMetrics
import Glibc

/// A server that answers one request of each client, on a thread of its own. It serves several clients at once, so that one that
/// asks nothing delays no other; see ``ClientTable``.
final class SmallServer: Sendable {
    /// Returns the answer to a request, which is not complete if it is as long as it may be; nil to close the connection.
    typealias Answer = @Sendable (_ request: [UInt8]) -> [UInt8]?

    private let listener: Int32
    private let limits: ClientTable.Limits
    private let endOfRequest: [UInt8]
    private let isTrusted: @Sendable (_ client: Int32) -> Bool
    private let answer: Answer

    /// Starts to serve.
    ///
    /// - Parameters:
    ///   - name: The name of the thread.
    ///   - listener: A socket that listens, which the server closes.
    ///   - isTrusted: Whether to hear a client.
    /// - Throws: ``SystemError`` if there can be no thread.
    init(
        _ name: String, at listener: Int32, _ limits: ClientTable.Limits, endOfRequest: String,
        isTrusted: @escaping @Sendable (_ client: Int32) -> Bool = { _ in true }, answer: @escaping Answer
    ) throws {
        (self.listener, self.limits, self.endOfRequest) = (listener, limits, Array(endOfRequest.utf8))
        (self.isTrusted, self.answer) = (isTrusted, answer)
        _ = fcntl(listener, F_SETFL, O_NONBLOCK)
        // The thread keeps this object, and with it the descriptor, until `stop`.
        guard NamedThread.tryDetached(name, { [self] in serve() }) else {
            throw SystemError("cannot start a thread for \(name)")
        }
    }

    deinit { close(listener) }

    /// Ends the server, without waiting for it: its clients have no part in the end of the process.
    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func serve() {
        var table = ClientTable(limits, endOfRequest: endOfRequest)
        defer { for client in table.clients { close(client.id) } }
        // No client is accepted before this time, because descriptors are used up.
        var pausedUntil: UInt64 = 0
        while true {
            let now = SystemClock.monotonic()
            for client in table.expire(now: now) { close(client) }
            var wanted = [pollfd(fd: listener, events: Int16(now < pausedUntil ? 0 : POLLIN), revents: 0)]
            wanted += table.clients.map {
                pollfd(fd: $0.id, events: Int16($0.phase == .answering ? POLLOUT : POLLIN), revents: 0)
            }
            let until = min(table.nextDeadline ?? .max, now < pausedUntil ? pausedUntil : .max)
            if poll(&wanted, nfds_t(wanted.count), Self.milliseconds(until, now)) < 0, errno != EINTR { return }
            for place in wanted.dropFirst() where place.revents != 0 { serve(place.fd, &table) }
            guard wanted[0].revents != 0 else { continue }
            switch acceptAll(&table) {
            case .waiting: break
            case .usedUp: pausedUntil = SystemClock.monotonic() + 100_000_000
            case .ended: return
            }
        }
    }

    private static func milliseconds(_ until: UInt64, _ now: UInt64) -> Int32 {
        until == .max ? -1 : Int32(clamping: (until - min(until, now) + 999_999) / 1_000_000)
    }

    private enum Accepted { case waiting, usedUp, ended }

    private func acceptAll(_ table: inout ClientTable) -> Accepted {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else {
                switch errno {
                case EAGAIN: return .waiting
                case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .usedUp
                case EINVAL, EBADF: return .ended  // After `stop`.
                default: continue
                }
            }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            _ = fcntl(client, F_SETFL, O_NONBLOCK)
            guard isTrusted(client) else {
                close(client)
                continue
            }
            if let surplus = table.accept(client, now: SystemClock.monotonic()) { close(surplus) }
        }
    }

    private func serve(_ client: Int32, _ table: inout ClientTable) {
        guard let phase = table.clients.first(where: { $0.id == client })?.phase else { return }
        let isServed =
            switch phase {
            case .asking: read(client, &table)
            case .answering: write(client, &table)
            case .leaving: discard(client)
            }
        if isServed { return }
        table.remove(client)
        close(client)
    }

    /// Returns false if the client is gone, or gets no answer.
    private func read(_ client: Int32, _ table: inout ClientTable) -> Bool {
        var bytes = [UInt8](repeating: 0, count: table.room(for: client))
        let count = recv(client, &bytes, bytes.count, 0)
        guard count > 0 else { return count < 0 && Self.isPassing(errno) }
        guard let request = table.received(bytes[..<count], from: client) else { return true }
        guard let answer = answer(request) else { return false }
        table.answer(answer, to: client, now: SystemClock.monotonic())
        return write(client, &table)
    }

    private func write(_ client: Int32, _ table: inout ClientTable) -> Bool {
        guard let rest = table.clients.first(where: { $0.id == client })?.answer else { return false }
        let count = rest.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count >= 0 else { return Self.isPassing(errno) }
        if table.sent(count, to: client, now: SystemClock.monotonic()) { shutdown(client, Int32(SHUT_WR)) }
        return true
    }

    private func discard(_ client: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(client, &bytes, bytes.count, 0)
        return count > 0 || count < 0 && Self.isPassing(errno)
    }

    private static func isPassing(_ code: Int32) -> Bool { code == EAGAIN || code == EINTR }
}
