import APNSBatchCredentials
import APNSBatchIdentities
import CAPNSAllocationScenarios
import Glibc
import Testing

typealias Scenario = (_ failing: UInt64, _ result: UnsafeMutablePointer<scenario_result>) -> Void

func scenario(failing: UInt64, _ run: Scenario) -> scenario_result {
    var result = scenario_result()
    run(failing, &result)
    return result
}

extension scenario_result {
    var message: String {
        withUnsafeBytes(of: text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// Whether every allocation is tested. Otherwise only every `stride`-th one is.
private let triesAll = getenv("APNS_BATCH_EVERY_ALLOCATION") != nil

/// Runs a scenario with its first allocation failing, then with its second, and so on until none is left.
/// - Parameters:
///   - stride: 1 for a scenario with some hundreds of allocations, a prime number for one with thousands.
///   - keptMax: the number of blocks that OpenSSL 3.0 keeps or loses when one of its own allocations fails.
func failEach(
    stride: UInt64 = 1, keptMax: Int64 = 4, sourceLocation: SourceLocation = #_sourceLocation, _ run: Scenario
) {
    // In the first runs, libraries allocate memory that they keep.
    for _ in 0..<2 {
        let whole = scenario(failing: 0, run)
        guard whole.end == SCENARIO_DONE.rawValue else {
            Issue.record("without a failure: step \(whole.step), \(whole.message)", sourceLocation: sourceLocation)
            return
        }
    }
    var failing: UInt64 = 1
    var refused = 0
    while case let result = scenario(failing: failing, run), result.failed {
        expect(result, failing, keptMax, sourceLocation)
        if result.end == SCENARIO_REFUSED.rawValue { refused += 1 }
        failing += triesAll ? 1 : stride
    }
    #expect(refused > 0, "no failure mattered", sourceLocation: sourceLocation)
}

private func expect(
    _ result: scenario_result, _ failing: UInt64, _ keptMax: Int64, _ sourceLocation: SourceLocation
) {
    let what = "allocation \(failing), step \(result.step): \(result.message)"
    #expect(result.end >= 0, "\(what)", sourceLocation: sourceLocation)
    // A library may allocate memory that it keeps as late as in this run.
    #expect(result.live <= keptMax, "\(what): \(result.live) blocks left", sourceLocation: sourceLocation)
}

/// A server's certificate and key in the form that the scenarios need.
struct TestIdentity {
    let identity: ServerIdentity

    init() throws {
        identity = try ServerIdentity.make(hosts: ["localhost", "127.0.0.1"])
    }

    func withRecord(_ body: (UnsafePointer<scenario_identity>) -> Void) {
        identity.caPEM.withUnsafeBufferPointer { authority in
            identity.certificatePEM.withUnsafeBufferPointer { certificate in
                identity.keyPEM.withUnsafeBufferPointer { key in
                    var record = scenario_identity(
                        authority: authority.baseAddress, certificate: certificate.baseAddress, key: key.baseAddress,
                        authority_length: UInt32(authority.count), certificate_length: UInt32(certificate.count),
                        key_length: UInt32(key.count))
                    body(&record)
                }
            }
        }
    }
}
