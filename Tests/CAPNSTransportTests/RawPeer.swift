import APNSBatchCredentials
import APNSBatchIdentities
import CAPNSTLS
import CAPNSTransportServer
import Glibc

/// A server that does exactly what a test specifies. It receives every frame of the client and sends frames as given.
/// It uses our own TLS engine and nothing else of the core.
final class RawPeer {
    let port: UInt16
    private(set) var frames: [Frame] = []
    private var listener: Int32
    private var socket: Int32 = -1
    private let context: OpaquePointer
    private var session: OpaquePointer?
    private let output: UnsafeMutablePointer<apns_tls_output>
    private var established = false
    private var prefaceLeft = 24
    private var plain: [UInt8] = []
    /// What it sends first.
    private let greeting: [Frame]
    /// Replace what it sends at first and in answer to a frame, each element as a TLS record of its own.
    var greet: (() -> [[UInt8]])?
    var answer: ((Frame) -> [[UInt8]])?
    /// Whether it reads from its socket.
    var reads = true
    /// Whether the client has closed its side, with close_notify or without.
    private(set) var hasClosed = false
    /// Whether the client has sent close_notify.
    private(set) var hasCloseNotify = false
    /// Whether it closes its socket after the client's close_notify.
    var hangsUp = true

    convenience init(settings: [UInt16: UInt32] = [3: 100]) throws {
        try self.init(greeting: [.settings(settings)])
    }

    init(greeting: [Frame]) throws {
        self.greeting = greeting
        context = try RawPeer.context()
        let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        let bound = withLoopback(port: 0) { bind(listener, $0, $1) }
        guard bound == 0, Glibc.listen(listener, 4) == 0 else { throw TransportFailure(status: errno, text: "listen") }
        self.listener = listener
        port = RawPeer.port(of: listener)
        output = .allocate(capacity: 1)
        output.initialize(to: apns_tls_output(bytes: .allocate(capacity: 1 << 22), length: 0, capacity: 1 << 22))
    }

    deinit {
        apns_tls_session_destroy(session)
        apns_tls_context_destroy(context)
        output.pointee.bytes.deallocate()
        output.deallocate()
        close()
    }

    private static func context() throws -> OpaquePointer {
        let identity = ServerIdentity.test
        var made: OpaquePointer?
        var error = apns_error()
        identity.certificatePEM.withUnsafeBufferPointer { certificate in
            identity.keyPEM.withUnsafeBufferPointer { key in
                var options = apns_tls_context_options()
                options.certificate_pem = certificate.baseAddress
                options.certificate_length = UInt32(certificate.count)
                options.key_pem = key.baseAddress
                options.key_length = UInt32(key.count)
                _ = apns_tls_server_context_create(&options, &made, &error)
            }
        }
        guard let made else { throw TransportFailure(status: -1, text: "tls") }
        return made
    }

    static func port(of socket: Int32) -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(socket, $0, &length) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Closes the sockets without close_notify.
    func close() {
        if socket >= 0 { Glibc.close(socket) }
        if listener >= 0 { Glibc.close(listener) }
        (socket, listener) = (-1, -1)
    }

    /// Sends close_notify.
    func closeInOrder() {
        if let session { apns_tls_session_close(session) }
        flush()
    }

    func send(_ frames: [Frame]) {
        send(bytes: frames.flatMap(\.bytes))
    }

    /// Sends any bytes as one TLS record.
    func send(bytes: [UInt8]) {
        guard let session, !bytes.isEmpty else { return }
        _ = apns_tls_session_write(session, bytes, bytes.count)
        flush()
    }

    func frames(_ type: UInt8) -> [Frame] {
        frames.filter { $0.type == type }
    }

    /// Accepts a connection and processes the bytes that have arrived.
    func step() {
        if socket < 0 && listener >= 0 { accept() }
        guard socket >= 0, reads, session != nil else { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 65_536) { bytes in
            let count = recv(socket, bytes.baseAddress!, bytes.count, Int32(MSG_DONTWAIT))
            hasClosed = hasClosed || count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
            if count > 0 { take(UnsafeBufferPointer(rebasing: bytes.prefix(count))) }
        }
        flush()
    }

    private func accept() {
        socket = Glibc.accept(listener, nil, nil)
        guard socket >= 0 else { return }
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        // Pieces are sent one by one, and none waits for the acknowledgement of the one before.
        var isOn: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        session = apns_tls_session_create(context, nil, output)
    }

    private func take(_ bytes: UnsafeBufferPointer<UInt8>) {
        var input = apns_tls_input(bytes: bytes.baseAddress, length: bytes.count)
        if !established {
            established = apns_tls_session_handshake(session, &input) == APNS_TLS_OK.rawValue
            if established { greet.map { $0().forEach { send(bytes: $0) } } ?? send(greeting) }
        }
        guard established else { return }
        var room = [UInt8](repeating: 0, count: 16_384)
        var length = 0
        var result = APNS_TLS_OK.rawValue
        while result == APNS_TLS_OK.rawValue {
            result = apns_tls_session_read(session, &input, &room, room.count, &length)
            if result == APNS_TLS_OK.rawValue { plain += room.prefix(length) }
        }
        parse()
        guard result == APNS_TLS_CLOSED.rawValue else { return }
        (hasCloseNotify, hasClosed) = (true, true)
        if hangsUp { close() }
    }

    private func parse() {
        let preface = min(prefaceLeft, plain.count)
        plain.removeFirst(preface)
        prefaceLeft -= preface
        while let frame = Frame.take(from: &plain) {
            frames.append(frame)
            if let answer {
                answer(frame).forEach { send(bytes: $0) }
            } else if frame.type == Frame.settings && frame.flags == 0 {
                send([Frame(type: Frame.settings, flags: 1)])
            }
        }
    }

    private func flush() {
        while output.pointee.length > 0 && socket >= 0 {
            let sent = Glibc.send(socket, output.pointee.bytes, output.pointee.length, Int32(MSG_NOSIGNAL))
            guard sent > 0 else { return }
            output.pointee.length -= sent
            memmove(output.pointee.bytes, output.pointee.bytes + sent, output.pointee.length)
        }
    }
}
