import Glibc

/// A port of 127.0.0.1 that is reserved by a bound socket, whether a server listens on it or not.
///
/// The kernel lets further sockets with SO_REUSEADDR bind the port as long as none listens on it. It does not assign the
/// port to a process that asks for any free port. Without a server, connections to the port are refused: the port of a
/// server that has ended would soon belong to another test.
public final class ReservedPort {
    public let number: UInt16
    private let descriptor: Int32

    public init() {
        let holder = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var on: Int32 = 1
        setsockopt(holder, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(holder, $0, length) == 0 && getsockname(holder, $0, &length) == 0
            }
        }
        precondition(bound, "no port of 127.0.0.1 is free")
        descriptor = holder
        number = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}
