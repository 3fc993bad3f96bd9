import CAPNSReactor
import CAPNSTestSupport
import Glibc
import Testing

@Suite("Creation")
struct CreationTests {
    @Test("The requested back end runs", arguments: Backend.available)
    func kind(backend: Backend) throws {
        #expect(try Loop(backend).kind == backend.kind)
    }

    @Test(
        "Options out of range are refused",
        arguments: [
            apns_reactor_options(
                backend: 3, sockets_max: 1, receive_buffer_bytes: 64, receive_buffer_count: 2),
            apns_reactor_options(
                backend: 2, sockets_max: 0, receive_buffer_bytes: 64, receive_buffer_count: 2),
            apns_reactor_options(
                backend: 2, sockets_max: 1 << 24, receive_buffer_bytes: 64, receive_buffer_count: 2),
            apns_reactor_options(
                backend: 2, sockets_max: 1, receive_buffer_bytes: 0, receive_buffer_count: 2),
            apns_reactor_options(
                backend: 2, sockets_max: 1, receive_buffer_bytes: 64, receive_buffer_count: 0),
            apns_reactor_options(
                backend: 2, sockets_max: 1, receive_buffer_bytes: 64, receive_buffer_count: 3),
            apns_reactor_options(
                backend: 2, sockets_max: 1, receive_buffer_bytes: 64, receive_buffer_count: 65536),
        ])
    func badOptions(options: apns_reactor_options) {
        #expect(throws: Refused(code: -EINVAL)) { try Loop(options: options) }
    }

    @Test("Where the kernel refuses io_uring, AUTO takes epoll and works", arguments: [EPERM, ENOSYS, ENOMEM])
    func refusedRing(error: Int32) throws {
        let bytes = pattern(100_000)
        let (kind, echoed) = try Worker.run {
            try check(test_support_refuse(TEST_SUPPORT_IO_URING_SETUP.rawValue, error))
            #expect(throws: Refused(code: -error)) { try Loop(.ioUring) }
            let loop = try Loop(options: .automatic)
            let (socket, peer) = try loop.connected(to: Peer.bound())
            try peer.write(bytes)
            return (loop.kind, try loop.receive(bytes.count, on: socket))
        }
        #expect(kind == APNS_REACTOR_BACKEND_EPOLL.rawValue)
        #expect(echoed == bytes)
    }

    @Test("AUTO takes io_uring where the kernel has it", .enabled(if: Backend.available.contains(.ioUring)))
    func automaticRing() throws {
        #expect(try Loop(options: .automatic).kind == APNS_REACTOR_BACKEND_IO_URING.rawValue)
    }

    @Test("Without epoll_pwait2 the epoll back end waits in whole milliseconds", arguments: [EPERM, ENOSYS])
    func refusedPreciseWait(error: Int32) throws {
        try Worker.run {
            try check(test_support_refuse(TEST_SUPPORT_EPOLL_PWAIT2.rawValue, error))
            let loop = try Loop(.epoll)
            let start = loop.now
            #expect(loop.wait(timeout: 1_500_000).isEmpty)
            #expect(loop.now >= start + 1_500_000)
            loop.wake()
            #expect(loop.wait(timeout: UInt64.max).map(\.kind) == [APNS_REACTOR_WOKEN])
        }
    }
}

extension apns_reactor_options {
    static let automatic = apns_reactor_options(
        backend: APNS_REACTOR_BACKEND_AUTO.rawValue, sockets_max: 8, receive_buffer_bytes: 4096,
        receive_buffer_count: 8)
}
