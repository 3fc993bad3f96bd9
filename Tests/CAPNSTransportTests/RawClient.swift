import CAPNSTLS
import Glibc

/// A client that sends exactly what a test specifies. It uses our own TLS engine, and sends frames as given.
final class RawClient {
    private let socket: Int32
    private let context: OpaquePointer
    private let session: OpaquePointer
    private let output: UnsafeMutablePointer<apns_tls_output>
    private var established = false
    private var plain: [UInt8] = []
    private(set) var frames: [Frame] = []
    /// Whether the server closed the connection.
    private(set) var isOver = false

    init(port: UInt16) throws {
        var options = apns_tls_context_options()
        options.verify_disabled = true
        var made: OpaquePointer?
        var error = apns_error()
        _ = apns_tls_context_create(nil, &options, &made, &error)
        output = .allocate(capacity: 1)
        output.initialize(to: apns_tls_output(bytes: .allocate(capacity: 1 << 22), length: 0, capacity: 1 << 22))
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let connected = withLoopback(port: port) { connect(socket, $0, $1) }
        self.socket = socket
        guard let made, let session = apns_tls_session_create(made, nil, output), connected == 0 else {
            throw TransportFailure(status: errno, text: "connect")
        }
        (context, self.session) = (made, session)
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        take(UnsafeBufferPointer(start: nil, count: 0))
    }

    deinit {
        apns_tls_session_destroy(session)
        apns_tls_context_destroy(context)
        output.pointee.bytes.deallocate()
        output.deallocate()
        close(socket)
    }

    func send(_ frames: [Frame]) {
        send(bytes: frames.flatMap(\.bytes))
    }

    func send(bytes: [UInt8]) {
        _ = apns_tls_session_write(session, bytes, bytes.count)
        flush()
    }

    /// Whether the TLS handshake is complete. The preface and an empty SETTINGS frame have been sent then.
    var isUp: Bool { established }

    func step() {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        if count > 0 { bytes.prefix(count).withUnsafeBufferPointer { take($0) } }
        if count == 0 || (count < 0 && errno == ECONNRESET) { isOver = true }
        flush()
    }

    private func take(_ bytes: UnsafeBufferPointer<UInt8>) {
        var input = apns_tls_input(bytes: bytes.baseAddress, length: bytes.count)
        if !established {
            established = apns_tls_session_handshake(session, &input) == APNS_TLS_OK.rawValue
            if established { send(bytes: Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Frame.settings([:]).bytes) }
        }
        guard established else { return flush() }
        var room = [UInt8](repeating: 0, count: 16_384)
        var length = 0
        while apns_tls_session_read(session, &input, &room, room.count, &length) == APNS_TLS_OK.rawValue {
            plain += room.prefix(length)
        }
        while let frame = Frame.take(from: &plain) { frames.append(frame) }
    }

    private func flush() {
        while output.pointee.length > 0 {
            let sent = Glibc.send(socket, output.pointee.bytes, output.pointee.length, Int32(MSG_NOSIGNAL))
            guard sent > 0 else { return }
            output.pointee.length -= sent
            memmove(output.pointee.bytes, output.pointee.bytes + sent, output.pointee.length)
        }
    }
}
