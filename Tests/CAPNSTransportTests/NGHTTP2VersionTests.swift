import CAPNSNGHTTP2
import Foundation
import Testing

/// Which libnghttp2 the tests run with: `scripts/prove/check-nghttp2` names another one than that of the system.
@Suite("The libnghttp2 in use")
struct NGHTTP2VersionTests {
    @Test("The library is the one that was asked for")
    func version() throws {
        let info = try #require(nghttp2_version(0))
        let version = String(cString: info.pointee.version_str)
        print("libnghttp2 \(version)")
        if let asked = ProcessInfo.processInfo.environment["APNS_BATCH_NGHTTP2"] { #expect(version == asked) }
    }
}
