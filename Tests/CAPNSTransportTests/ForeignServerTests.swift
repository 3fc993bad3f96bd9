import CAPNSTransport
import Testing

@Suite("Third-party server")
struct ForeignServerTests {
    @Test(
        "A server that does not choose h2 is refused",
        arguments: Loop.available, [[], ["-alpn", "http/1.1"], ["-tls1_2"]] as [[String]])
    func noALPN(loop: Loop, arguments: [String]) throws {
        let server = try OpenSSLServer(arguments)
        let client = try Side(Limits(loop: loop))
        _ = try client.connect(server.port)
        drive([client]) { client.down != nil }
        #expect(client.down?.scope == APNS_TRANSPORT_SCOPE_LOCAL.rawValue)
        #expect(client.down?.code == Int64(APNS_TRANSPORT_LOCAL_NO_ALPN.rawValue))
        #expect(client.down?.detail == "the peer does not speak HTTP/2 (ALPN h2)")
        withExtendedLifetime(server) {}
    }

    @Test("A server that supports only TLS 1.1 is refused", arguments: Loop.available)
    func oldTLS(loop: Loop) throws {
        let server = try OpenSSLServer(["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
        let client = try Side(Limits(loop: loop))
        _ = try client.connect(server.port)
        drive([client]) { client.down != nil }
        #expect(client.down?.scope == APNS_TRANSPORT_SCOPE_TLS.rawValue)
        withExtendedLifetime(server) {}
    }
}
