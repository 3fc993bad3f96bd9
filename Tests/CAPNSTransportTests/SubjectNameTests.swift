import CAPNSTransport
import Glibc
import Testing

/// Certificates that OpenSSL's command makes.
private struct MadeCertificate {
    let caPEM: [UInt8]
    let certificatePEM: [UInt8]
    let keyPEM: [UInt8]

    /// - Parameter names: The value of subjectAltName; nil for a certificate without one.
    init(commonName: String, names: String?) throws {
        var directory = Array("/tmp/certificate-XXXXXX".utf8CString)
        guard mkdtemp(&directory) != nil else { throw TransportFailure(status: errno, text: "mkdtemp") }
        let path = directory.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        defer { _ = system("rm -r \(path)") }
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        let extensions = names.map { "printf 'subjectAltName=\($0)' > x && " } ?? ": > x && "
        let commands =
            "cd \(path) && exec 2> log && openssl req -x509 \(key) -subj '/CN=Authority of a test' -keyout ca.key -out ca.pem"
            + " && openssl req \(key) -subj '/CN=\(commonName)' -keyout key.pem -out request.pem && \(extensions)"
            + "openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -extfile x -out certificate.pem"
        guard system(commands) == 0 else { throw TransportFailure(status: -1, text: "openssl") }
        (caPEM, certificatePEM) = (try Self.bytes("\(path)/ca.pem"), try Self.bytes("\(path)/certificate.pem"))
        keyPEM = try Self.bytes("\(path)/key.pem")
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { throw TransportFailure(status: errno, text: path) }
        return Array(bytes[..<count])
    }
}

/// A server is known by subjectAltName alone (RFC 9525, section 2): the common name says nothing.
@Suite("Names in certificates", .serialized) struct SubjectNameTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var commonName: String
        var names: String?
        var host: String
        /// The code of the refusal; nil if the server is accepted.
        var refusal: Int64?

        var testDescription: String { "CN=\(commonName), SAN \(names ?? "none"), \(host)" }
    }

    static let cases = [
        Case(commonName: "localhost", names: nil, host: "localhost", refusal: 62),
        Case(commonName: "127.0.0.1", names: nil, host: "127.0.0.1", refusal: 64),
        Case(commonName: "::1", names: nil, host: "::1", refusal: 64),
        Case(commonName: "localhost", names: "IP:127.0.0.1", host: "localhost", refusal: 62),
        Case(commonName: "localhost", names: "email:a@localhost", host: "localhost", refusal: 62),
        Case(commonName: "127.0.0.1", names: "DNS:localhost", host: "127.0.0.1", refusal: 64),
        Case(commonName: "127.0.0.1", names: "DNS:127.0.0.1", host: "127.0.0.1", refusal: 64),
        Case(commonName: "somebody", names: "DNS:localhost", host: "localhost", refusal: nil),
        Case(commonName: "somebody", names: "DNS:localhost,IP:127.0.0.1", host: "127.0.0.1", refusal: nil),
        Case(commonName: "somebody", names: "IP:0:0:0:0:0:0:0:1", host: "::1", refusal: nil),
    ]

    @Test("The common name of a certificate is not looked at", arguments: cases)
    func commonName(_ item: Case) throws {
        let made = try MadeCertificate(
            commonName: item.commonName, names: item.names)
        let (client, server) = (try Side(Limits(loop: .epoll)), try Side(Limits(loop: .epoll)))
        let port = try server.listen(own: (made.certificatePEM, made.keyPEM))
        _ = try client.connect(port, host: item.host, ca: made.caPEM)
        drive([client, server]) { client.isUp || client.down != nil }
        #expect(client.isUp == (item.refusal == nil))
        #expect(client.down?.code == item.refusal)
    }
}
