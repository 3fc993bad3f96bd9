import APNSBatchBasics
import Glibc

/// Lines over a connected socket, of at most 255 bytes each, each within some seconds.
enum ControlLine {
    static let bytesMost = 256

    /// Limits the time that a read or a write of the socket may wait.
    static func limit(_ socket: Int32, seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(socket, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Returns the line that a request is, without its end; nil if it has none.
    static func line(of request: [UInt8]) -> String? {
        request.last == UInt8(ascii: "\n") ? String(decoding: request.dropLast(), as: UTF8.self) : nil
    }

    /// The bytes of a line. The text becomes printable, and is cut if it is too long.
    static func bytes(of text: String) -> [UInt8] {
        Printable.text(text).utf8.prefix(bytesMost - 1) + [UInt8(ascii: "\n")]
    }

    /// Returns the next line without its end, printable; nil if none comes in time, or if it is too long.
    static func read(_ socket: Int32) -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        let deadline = ContinuousClock.now + .seconds(10)
        while line.count < bytesMost, ContinuousClock.now < deadline {
            let count = recv(socket, &byte, 1, 0)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return nil }
            if byte == UInt8(ascii: "\n") { return Printable.text(bytes: line) }
            line.append(byte)
        }
        return nil
    }

    /// The user of the process at the other end; nil if the kernel does not report it.
    static func user(of socket: Int32) -> uid_t? {
        // `struct ucred` of unix(7): process, user, group.
        var peer: [UInt32] = [0, 0, 0]
        var length = socklen_t(12)
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0, length == 12 else { return nil }
        return peer[1]
    }

    /// Writes a line.
    @discardableResult
    static func write(_ text: String, to socket: Int32) -> Bool {
        let bytes = bytes(of: text)
        return send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }
}
