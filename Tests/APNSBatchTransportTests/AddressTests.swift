import Testing

@testable import APNSBatchTransport

@Suite("Host addresses") struct AddressTests {
    @Test("Numeric hosts resolve to themselves", arguments: [("127.0.0.1", "127.0.0.1:443"), ("::1", "[::1]:443")])
    func numeric(host: String, text: String) throws {
        let found = try HostResolver.resolve(host: host, port: 443)
        #expect(found.map(\.description) == [text])
        #expect(found[0].isIPv6 == host.contains(":"))
    }

    @Test("A name without an address gives an error that names it")
    func unknown() {
        #expect {
            try HostResolver.resolve(host: "no.such.host.invalid", port: 443)
        } throws: {
            "\($0)".contains("no.such.host.invalid")
        }
    }

    @Test("Address families alternate, the preferred one first")
    func alternates() throws {
        let six = try (1...3).map { try HostResolver.resolve(host: "2001:db8::\($0)", port: 1)[0] }
        let four = try (1...2).map { try HostResolver.resolve(host: "192.0.2.\($0)", port: 1)[0] }
        #expect(HostResolver.alternate(six + four) == [six[0], four[0], six[1], four[1], six[2]])
        #expect(HostResolver.alternate(four + six) == [four[0], six[0], four[1], six[1], six[2]])
        #expect(HostResolver.alternate([]) == [])
    }
}
