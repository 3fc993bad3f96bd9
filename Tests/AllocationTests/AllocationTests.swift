import APNSBatchCredentials
import APNSBatchTestSupport
import CAPNSAllocationScenarios
import CAPNSReactor
import CAPNSTransport
import Foundation
import Testing

/// Tests that the core neither crashes nor leaks when an allocation fails, and that it reports the failure. The
/// sanitizers detect other errors, except for the thread sanitizer, which does not work with our allocator.
@Suite(
    "Failing allocations", .ownThread, .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["APNS_BATCH_SANITIZER"] != "thread"))
struct AllocationTests {
    @Test(
        "A failed allocation in the event loop is handled",
        arguments: [APNS_REACTOR_BACKEND_IO_URING, APNS_REACTOR_BACKEND_EPOLL])
    func reactor(backend: apns_reactor_backend) {
        guard scenario(failing: 0, { scenario_reactor(backend.rawValue, $0, $1) }).end == 0 else { return }
        failEach { scenario_reactor(backend.rawValue, $0, $1) }
    }

    @Test("A failed allocation in TLS is handled")
    func tls() throws {
        try TestIdentity().withRecord { identity in failEach(stride: 97) { scenario_tls(identity, $0, $1) } }
    }

    @Test(
        "A failed allocation in a connection or its requests is handled",
        arguments: [APNS_TRANSPORT_LOOP_IO_URING, APNS_TRANSPORT_LOOP_EPOLL])
    func transport(loop: apns_transport_loop) throws {
        try TestIdentity().withRecord { identity in
            guard scenario(failing: 0, { scenario_transport(loop.rawValue, identity, $0, $1) }).end == 0 else { return }
            failEach(stride: 101) { scenario_transport(loop.rawValue, identity, $0, $1) }
        }
    }

    @Test(
        "A failed allocation in keys, certificates or encryption is handled",
        arguments: [
            (SCENARIO_CRYPTO_KEY, 89), (SCENARIO_CRYPTO_IDENTITY, 103), (SCENARIO_CRYPTO_PKCS12, 307),
            (SCENARIO_CRYPTO_SEALER, 1),
        ] as [(scenario_crypto_kind, UInt64)])
    func crypto(kind: scenario_crypto_kind, stride: UInt64) throws {
        try TestFiles().withRecord { files in
            // If a library context cannot be created, all of its memory is lost.
            let kept: Int64 = kind == SCENARIO_CRYPTO_PKCS12 ? 100 : 4
            failEach(stride: stride, keptMax: kept) { scenario_crypto(kind.rawValue, files, $0, $1) }
        }
    }

    @Test("A failed allocation in HTTP/2 is handled")
    func http2() {
        failEach { scenario_h2($0, $1) }
    }
}
