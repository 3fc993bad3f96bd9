import Glibc

/// The other end of a connection. It uses plain blocking system calls on a socket that belongs to no reactor. A call
/// that blocks for ten seconds fails.
final class Peer: @unchecked Sendable {
    private var descriptor: Int32

    init(descriptor: Int32) throws {
        guard descriptor >= 0 else { throw Refused(code: -errno) }
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        let length = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, length)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, length)
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        close()
    }

    private static func open() -> Int32 {
        socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    /// Returns a peer bound to a port of the loopback interface, listening or not, with a small receive buffer if one
    /// is given.
    static func bound(listening: Bool = true, receiveBuffer: Int32? = nil) throws -> Peer {
        let peer = try Peer(descriptor: open())
        if var bytes = receiveBuffer {
            setsockopt(peer.descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
        }
        guard withLoopback(port: 0, { bind(peer.descriptor, $0, $1) }) == 0 else { throw Refused(code: -errno) }
        if listening {
            guard listen(peer.descriptor, 64) == 0 else { throw Refused(code: -errno) }
        }
        return peer
    }

    static func connected(port: UInt16) throws -> Peer {
        let peer = try Peer(descriptor: open())
        let status = withLoopback(port: port) { connect(peer.descriptor, $0, $1) }
        guard status == 0 || (errno == EINTR && peer.finishesConnecting) else { throw Refused(code: -errno) }
        return peer
    }

    /// Whether a connect that was interrupted by a signal completes later (connect(2)).
    private var finishesConnecting: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return retrying { poll(&entry, 1, 10_000) } == 1
    }

    /// Repeats a call that a signal interrupted. The kernel does not restart calls on sockets with a time limit
    /// (signal(7)).
    private func retrying<R: FixedWidthInteger>(_ call: () -> R) -> R {
        while true {
            let status = call()
            if status >= 0 || errno != EINTR {
                return status
            }
        }
    }

    func accept() throws -> Peer {
        try Peer(descriptor: retrying { Glibc.accept(descriptor, nil, nil) })
    }

    var port: UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    func write(_ bytes: [UInt8]) throws {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                retrying { send(descriptor, buffer.baseAddress! + done, bytes.count - done, Int32(MSG_NOSIGNAL)) }
            }
            guard count > 0 else { throw Refused(code: -errno) }
            done += count
        }
    }

    /// Returns the bytes that are available, up to `limit`. It returns none at the end of the stream.
    func read(upTo limit: Int = 65536) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = bytes.withUnsafeMutableBytes { buffer in
            retrying { recv(descriptor, buffer.baseAddress, limit, 0) }
        }
        guard count >= 0 else { throw Refused(code: -errno) }
        return Array(bytes.prefix(count))
    }

    func read(exactly count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = try read(upTo: min(count - bytes.count, 65536))
            guard !more.isEmpty else { break }
            bytes += more
        }
        return bytes
    }

    func readToEnd() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while case let more = try read(), !more.isEmpty {
            bytes += more
        }
        return bytes
    }

    /// Whether bytes can be read at once.
    var hasBytes: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

    func endWriting() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes the connection with a reset instead of an orderly end.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    func close() {
        if descriptor >= 0 {
            Glibc.close(descriptor)
            descriptor = -1
        }
    }
}
