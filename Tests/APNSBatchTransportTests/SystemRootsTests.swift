import Testing

@testable import APNSBatchTransport

@Suite("System root certificates") struct SystemRootsTests {
    @Test("Root certificates are read once for all copies of the options and all transports")
    func shared() throws {
        let roots = SystemRoots()
        #expect(try roots.loaded().pointer == roots.loaded().pointer)
        let options = TLSOptions()
        for _ in 0..<2 {
            var transport = try Transport(TransportOptions())
            #expect(try transport.makeTLS(options) == 0)
            #expect(try transport.makeTLS(options) == 1)
        }
    }
}
