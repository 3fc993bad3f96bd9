import Glibc

/// A listener that accepts no more connections. Its queue is full, and the kernel does not answer new attempts.
final class FullListener {
    let port: UInt16
    private let listener: Int32
    private var waiting: [Int32] = []

    init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let bound = withLoopback(port: 0) { [listener] in bind(listener, $0, $1) }
        guard bound == 0, listen(listener, 0) == 0 else { throw TransportFailure(status: errno, text: "listen") }
        port = RawPeer.port(of: listener)
        // There is one connection more than the queue holds, and none is ever accepted.
        for _ in 0..<4 {
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            _ = withLoopback(port: port) { Glibc.connect(client, $0, $1) }
            waiting.append(client)
        }
    }

    deinit {
        for socket in waiting + [listener] { close(socket) }
    }
}
