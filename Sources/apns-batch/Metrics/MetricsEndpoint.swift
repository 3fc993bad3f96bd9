import APNSBatchBasics
import APNSBatchMetrics
import Glibc

/// A small HTTP server that shows the metrics of a run while it works. Nothing that it shows is a secret, and it takes no
/// orders. It answers one request at a time, on a thread of its own, and closes the connection after each.
///
/// Own code, because the libraries that serve HTTP load an HTTP client besides, and with it libcurl into every run.
final class MetricsEndpoint: Sendable {
    /// Returns the answer to a request.
    typealias Answer = @Sendable (HTTPQuestion) -> HTTPReply

    private let descriptor: Int32
    /// Where the server can be reached.
    let url: String

    /// The time that a client has for its request, and for taking the answer, in seconds.
    private static let patience = 5

    /// Creates a server, which listens on return.
    ///
    /// - Throws: ``UsageError`` if the address cannot be used.
    init(_ address: ListeningAddress, _ answer: @escaping Answer) throws {
        let listener = try Self.listener(at: address)
        descriptor = listener
        url = address.url(port: Self.port(of: listener) ?? address.port)
        let isStarted = NamedThread.tryDetached("metrics") { Self.serve(listener, answer) }
        guard isStarted else {
            close(listener)
            throw SystemError("metrics_listen: cannot start a thread")
        }
    }

    private static func listener(at address: ListeningAddress) throws -> Int32 {
        let listener = socket(address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var on: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        guard listener >= 0, address.withSystemAddress({ bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0
        else {
            let cause = String(cString: strerror(errno))
            if listener >= 0 { close(listener) }
            throw UsageError("metrics_listen: \(address.url(port: address.port)): \(cause)")
        }
        return listener
    }

    /// The port that the system has chosen if the address has 0.
    private static func port(of descriptor: Int32) -> UInt16? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) } == 0
                // The port is at the same place in the addresses of both families.
                ? address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    UInt16(bigEndian: $0.pointee.sin_port)
                }
                : nil
        }
    }

    /// Ends the server. A request that has been read may still be answered.
    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    private static func serve(_ descriptor: Int32, _ answer: Answer) {
        defer { close(descriptor) }
        while true {
            let client = accept(descriptor, nil, nil)
            if client < 0 {
                switch errno {
                case EINVAL, EBADF: return  // After `stop`.
                case EMFILE, ENFILE, ENOBUFS, ENOMEM: usleep(100_000)
                default: break
                }
                continue
            }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            serve(client: client, answer)
            close(client)
        }
    }

    private static func serve(client: Int32, _ answer: Answer) {
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard let head = head(from: client) else { return }
        do throws(HTTPQuestion.Fault) {
            let question = try HTTPQuestion(head)
            send(answer(question).bytes(isHead: question.isHead), to: client)
        } catch {
            send(HTTPReply(error).bytes(isHead: false), to: client)
        }
        // The client sees the end of the answer before the connection is gone.
        shutdown(client, Int32(SHUT_WR))
    }

    /// Reads a request up to its empty line. Returns nil if the client does not send all of it in time, and what has come so far
    /// if it is too long.
    private static func head(from client: Int32) -> [UInt8]? {
        var head: [UInt8] = []
        let deadline = SystemClock.monotonicSeconds() + Double(patience)
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), head.count < HTTPQuestion.limit {
            let rest = Int32((deadline - SystemClock.monotonicSeconds()) * 1000)
            var wanted = pollfd(fd: client, events: Int16(POLLIN), revents: 0)
            guard rest > 0, poll(&wanted, 1, rest) > 0 else { return nil }
            var piece = [UInt8](repeating: 0, count: HTTPQuestion.limit - head.count)
            let count = recv(client, &piece, piece.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return nil }
            head += piece[..<count]
        }
        return head
    }

    private static func send(_ bytes: [UInt8], to client: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
