import APNSBatchMetrics
import Glibc

/// A small HTTP server that shows the metrics of a run while it works. Nothing that it shows is a secret, and it takes no
/// orders. It closes each connection after one answer.
///
/// Own code, because the libraries that serve HTTP load an HTTP client besides, and with it libcurl into every run.
final class MetricsEndpoint: Sendable {
    /// Returns the answer to a request.
    typealias Answer = @Sendable (HTTPQuestion) -> HTTPReply

    private let server: SmallServer
    /// Where the server can be reached.
    let url: String

    /// A client has five seconds for its request, and for taking the answer.
    private static let limits = ClientTable.Limits(
        clients: 64, request: HTTPQuestion.limit, patience: 5_000_000_000)

    /// Creates a server, which listens on return.
    ///
    /// - Throws: ``UsageError`` if the address cannot be used.
    init(_ address: ListeningAddress, _ answer: @escaping Answer) throws {
        let listener = try Self.listener(at: address)
        url = address.url(port: Self.port(of: listener) ?? address.port)
        server = try SmallServer("metrics", at: listener, Self.limits, endOfRequest: "\r\n\r\n") { head in
            do throws(HTTPQuestion.Fault) {
                let question = try HTTPQuestion(head)
                return answer(question).bytes(isHead: question.isHead)
            } catch {
                return HTTPReply(error).bytes(isHead: false)
            }
        }
    }

    /// Throws what ``init(_:_:)`` would throw because of the address. Nothing listens there on return.
    static func attempt(at address: ListeningAddress) throws { close(try listener(at: address)) }

    private static func listener(at address: ListeningAddress) throws -> Int32 {
        let listener = socket(address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var on: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        guard listener >= 0, address.withSystemAddress({ bind(listener, $0, $1) }) == 0, listen(listener, 64) == 0
        else {
            let code = errno
            if listener >= 0 { close(listener) }
            let cause = String(cString: strerror(code))
            throw UsageError("metrics_listen: \(address.url(port: address.port)): \(cause)", systemCode: code)
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
    func stop() { server.stop() }
}
