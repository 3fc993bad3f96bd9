import APNSBatchCredentials
import APNSBatchIdentities
import APNSBatchNotification
import APNSBatchSimulator
import APNSBatchTestSupport
import APNSBatchTransport
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Doctor")
struct DoctorTests {
    private typealias Finding = Doctor.Finding

    // MARK: Servers

    private static let endpoint = Doctor.Endpoint.production
    private static let name = "api.push.apple.com:443"

    private static func exchange(
        _ result: Result<RequestClient.Response, RequestClient.Failure>, isUp: Bool = false
    ) throws -> RequestClient.Exchange {
        var exchange = RequestClient.Exchange()
        exchange.addresses =
            try HostResolver.resolve(host: "::1", port: 443) + HostResolver.resolve(host: "127.0.0.1", port: 443)
        if isUp {
            exchange.address = exchange.addresses[1]
            exchange.failed = [(exchange.addresses[0], "connecting failed: Network is unreachable")]
            exchange.security = "TLSv1.3 TLS_AES_128_GCM_SHA256"
        }
        exchange.result = result
        return exchange
    }

    private static func response(date: String?) -> RequestClient.Response {
        .init(status: 404, fields: date.map { ["date": $0] } ?? [:], body: [])
    }

    @Test("A reachable server is reported with addresses, TLS and clock")
    func reachable() throws {
        let exchange = try Self.exchange(
            .success(Self.response(date: "Sat, 21 Nov 2026 13:00:00 GMT")), isUp: true)
        #expect(
            EndpointCheck.findings(exchange, of: Self.endpoint, now: 1_795_266_001) == [
                Finding(.ok, "dns api.push.apple.com", "1 IPv4, 1 IPv6: [::1]:443, 127.0.0.1:443"),
                Finding(
                    .warning, "connect [::1]:443", "connecting failed: Network is unreachable",
                    remedy: "give this machine an IPv6 route, or remove its IPv6 addresses"),
                Finding(
                    .ok, "tls \(Self.name)", "TLSv1.3 TLS_AES_128_GCM_SHA256, HTTP/2 with 127.0.0.1:443"),
                Finding(.ok, "clock", "agrees with that of \(Self.name)"),
            ])
    }

    @Test(
        "The clock is judged by when APNs would refuse provider tokens",
        arguments: [
            (0, .ok, "agrees with that"), (10, .ok, "10 s ahead of that"), (11, .warning, "11 s ahead of that"),
            (60, .warning, "60 s ahead of that"), (61, .error, "61 s ahead of that"),
            (-60, .ok, "60 s behind that"), (-61, .warning, "61 s behind that"),
            (-480, .warning, "480 s behind that"), (-481, .error, "481 s behind that"),
        ] as [(Int64, Doctor.Finding.Level, String)])
    func clock(ahead: Int64, level: Doctor.Finding.Level, text: String) throws {
        let exchange = try Self.exchange(
            .success(Self.response(date: "Sat, 21 Nov 2026 13:00:00 GMT")), isUp: true)
        let finding = EndpointCheck.findings(exchange, of: Self.endpoint, now: 1_795_266_000 + ahead).last
        #expect(
            finding
                == Finding(
                    level, "clock", "\(text) of \(Self.name)",
                    remedy: level == .ok
                        ? nil
                        : "set the clock and run NTP: APNs rejects provider tokens from the future or older than an hour"
                )
        )
    }

    @Test("The clock is not compared when the server sends no date")
    func noDate() throws {
        let exchange = try Self.exchange(.success(Self.response(date: nil)), isUp: true)
        #expect(
            EndpointCheck.findings(exchange, of: Self.endpoint, now: 0).last
                == Finding(
                    .warning, "clock", "not compared: \(Self.name) sends no date header",
                    remedy: "make sure that NTP runs on this machine"))
    }

    @Test(
        "Each cause of a failed connection has its own remedy",
        arguments: [
            (
                .name, "dns api.push.apple.com",
                "check /etc/resolv.conf, and that this machine can resolve public names"
            ),
            (
                .connection, "connect \(name)",
                "let this machine connect to ports 443 and 2197 of 17.0.0.0/8, the network of APNs"
            ),
            (
                .certificate, "tls \(name)",
                "a proxy may be intercepting TLS: exempt APNs from it, or trust its CA with --ca-file; otherwise install "
                    + "ca-certificates"
            ),
            (
                .noHTTP2, "tls \(name)",
                "a proxy between this machine and APNs may not support HTTP/2: exempt APNs from it"
            ), (.tls, "tls \(name)", nil),
        ] as [(RequestClient.Failure.Kind, String, String?)])
    func unreachable(kind: RequestClient.Failure.Kind, what: String, remedy: String?) throws {
        let exchange = try Self.exchange(.failure(.init(kind: kind, text: "the cause")))
        #expect(
            EndpointCheck.findings(exchange, of: Self.endpoint, now: 0).last
                == Finding(.error, what, "the cause", remedy: remedy))
    }

    private func doctor(_ stages: Stage...) -> Doctor {
        var doctor = Doctor()
        let environments: [Doctor.Endpoint.Environment] = [.production, .sandbox]
        doctor.endpoints = zip(environments, stages).map { .init($0, host: "localhost", port: $1.port) }
        doctor.authorities = stages[0].occasion.authorityPEM
        doctor.systemTrust = false
        return doctor
    }

    @Test("A wrong clock, an untrusted certificate and a closed port are detected over the network")
    func overTheWire() async throws {
        let late = try Stage { $0.clockOffset = 900 }
        let findings = await doctor(late).examine()
        #expect(findings.map(\.level) == [.ok, .ok, .error])
        #expect(findings[1].text.hasPrefix("TLSv1.3 ") && findings[1].text.contains(", HTTP/2 with 127.0.0.1:"))
        #expect(findings[2].what == "clock" && findings[2].text.contains(" s behind that of localhost:\(late.port)"))
        let stranger = try Stage()
        var distrustful = doctor(late)
        distrustful.authorities = stranger.occasion.authorityPEM
        let untrusted = await distrustful.examine()
        #expect(untrusted.last?.level == .error && untrusted.last?.what == "tls localhost:\(late.port)")
        #expect(untrusted.last?.remedy?.hasPrefix("a proxy may be intercepting TLS") == true, "\(untrusted)")
        let deserted = doctor(stranger)
        stranger.simulator.stop()
        let closed = await deserted.examine()
        #expect(closed.last?.what == "connect localhost:\(stranger.port)")
        #expect(closed.last?.text == "Connection refused")
    }

    // MARK: Credentials and proxy

    private func asking(_ stage: Stage, keyID: String = Occasion.keyID) async throws -> [Finding] {
        let key = try stage.write(String(decoding: stage.occasion.signingKeyPEM, as: UTF8.self), to: "AuthKey.p8")
        chmod(key, 0o600)
        var doctor = doctor(stage)
        doctor.credentials = [.key(file: key, keyID: keyID, teamID: Occasion.teamID)]
        doctor.asksForCredentials = true
        return await doctor.examine()
    }

    @Test("A server is asked whether it accepts the credentials, by a request that reaches no device")
    func credentials() async throws {
        let stage = try Stage()
        #expect(
            try await asking(stage).last
                == Finding(
                    .ok, "provider token at localhost:\(stage.port)",
                    "accepted; the request without a device got 400 BadDeviceToken"))
        let refused = try await asking(stage, keyID: "WRONGKEY00").last
        #expect(refused?.level == .error && refused?.text.hasPrefix("403 InvalidProviderToken: ") == true)
        #expect(refused?.remedy != nil)
        let report = stage.simulator.stop()
        #expect(report.accepted == 0 && report.tokens == 0)
    }

    @Test("A server that cannot answer now leaves it open", arguments: [429, 500, 503])
    func unknownCredentials(status: UInt16) {
        let response = RequestClient.Response(status: status, fields: [:], body: [])
        #expect(CredentialsQuestion.judge(.success(response), of: Self.endpoint, "provider token").level == .warning)
    }

    @Test("A server is examined through the proxy")
    func proxy() async throws {
        let stage = try Stage()
        let tunnel = try ProxyProcess(["tunnel", "nightly:right"])
        defer { withExtendedLifetime(tunnel) {} }
        var doctor = doctor(stage)
        doctor.proxy = .init(host: "127.0.0.1", port: tunnel.port, user: "nightly", password: "right")
        let found = await doctor.examine()
        #expect(found.map(\.level) == [.ok, .ok, .ok], "\(found)")
        #expect(found.first?.what == "dns 127.0.0.1" && found[1].text.contains(" through the proxy 127.0.0.1:"))
        doctor.proxy?.password = "wrong"
        let refused = await doctor.examine().last
        #expect(
            refused?.level == .error && refused?.text.contains("status 407") == true, "\(String(describing: refused))")
        #expect(refused?.remedy?.contains("the proxy 127.0.0.1:") == true)
    }

    // MARK: The probe

    private static func badToken() -> SimulatorScript {
        SimulatorScript(rules: [SimulatorRule(share: 1, status: 400, reason: "BadDeviceToken")])
    }

    /// Returns the findings about the probe with these scripts in production and sandbox.
    private func probe(
        _ production: SimulatorScript, _ sandbox: SimulatorScript, topic: String = "com.example.app",
        token: String = token(7)
    ) async throws -> [Finding] {
        let occasion = try Occasion.make(hosts: ["localhost"])
        let stages = [
            try Stage(script: production, occasion: occasion), try Stage(script: sandbox, occasion: occasion),
        ]
        let key = try stages[0].write(String(decoding: occasion.signingKeyPEM, as: UTF8.self), to: "AuthKey.p8")
        chmod(key, 0o600)
        var doctor = doctor(stages[0], stages[1])
        doctor.credentials = [.key(file: key, keyID: Occasion.keyID, teamID: Occasion.teamID)]
        doctor.probe = .init(token: token, topic: topic)
        return await doctor.examine().filter { $0.what.hasPrefix("probe") || $0.what.hasPrefix("token") }
    }

    private static let stranger = "400 BadDeviceToken: the token is invalid, or belongs to the other environment"

    @Test("Production and sandbox tokens are distinguished")
    func environments() async throws {
        #expect(
            try await probe(SimulatorScript(), Self.badToken()) == [
                Finding(.ok, "probe production", "200: the push was accepted"),
                Finding(.ok, "probe sandbox", Self.stranger),
                Finding(.ok, "token 00000000...", "belongs to production: send to it with --to production"),
            ])
        #expect(
            try await probe(Self.badToken(), SimulatorScript()).last
                == Finding(.ok, "token 00000000...", "belongs to sandbox: send to it with --to sandbox"))
        #expect(
            try await probe(Self.badToken(), Self.badToken()).last
                == Finding(
                    .error, "token 00000000...", "belongs to neither environment",
                    remedy: "check that the token is complete, and that topic and credentials belong to its app"))
    }

    @Test("Other answers are explained with their remedy")
    func answers() async throws {
        #expect(
            try await probe(SimulatorScript(), SimulatorScript(), topic: "com.example.other").first
                == Finding(
                    .error, "probe production", "400 TopicDisallowed: pushing to this topic is not allowed",
                    remedy: "use a key or certificate of the team that owns the topic, and one that may push to it"))
        let gone = SimulatorScript(
            rules: [SimulatorRule(share: 1, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000)])
        #expect(
            try await probe(gone, Self.badToken()).first
                == Finding(
                    .error, "probe production",
                    "410 Unregistered: the token is no longer active for the topic since the timestamp",
                    remedy: "delete the token; the app sends a new one when it is opened"))
    }

    @Test("A probe that cannot be sent states the cause")
    func noProbe() async throws {
        #expect(
            try await probe(SimulatorScript(), SimulatorScript(), token: "xyz").map(\.text)
                == ["not sent: token: expected hex digits, found \"x\" at byte 1"])
        let stage = try Stage()
        var doctor = doctor(stage)
        doctor.probe = .init(token: token(1), topic: "com.example.app")
        #expect(
            await doctor.examine().last
                == Finding(.error, "probe", "not sent: there are no usable credentials"))
        #expect(stage.simulator.stop().accepted == 0)
    }

    // MARK: Credentials

    private func examine(_ credentials: Doctor.Credentials, now: Int64 = 1_800_000_000) -> [Finding] {
        CredentialsCheck(now: now).examine(credentials).0
    }

    @Test("A valid signing key is reported as such")
    func goodKey() throws {
        let stage = try Stage()
        let file = try stage.write(
            String(decoding: stage.occasion.signingKeyPEM, as: UTF8.self), to: "AuthKey_ABC123DEFG.p8")
        chmod(file, 0o600)
        #expect(
            examine(.key(file: file, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")) == [
                Finding(.ok, "key file", "\(file) holds a P-256 signing key"),
                Finding(.ok, "key id", "ABC123DEFG has the format that Apple uses"),
                Finding(.ok, "team id", "DEF123GHIJ has the format that Apple uses"),
            ])
    }

    @Test("A key that others may read and implausible ids cause warnings")
    func doubtfulKey() throws {
        let stage = try Stage()
        let file = try stage.write(
            String(decoding: stage.occasion.signingKeyPEM, as: UTF8.self), to: "AuthKey_ABC123DEFG.p8")
        chmod(file, 0o644)
        let copy = "copy it from the developer account: key ids are listed under Keys, the team id under Membership"
        #expect(
            examine(.key(file: file, keyID: "XYZ", teamID: "")) == [
                Finding(
                    .warning, "key file", "\(file) is accessible to everybody (mode 644)", remedy: "chmod 600 \(file)"),
                Finding(.ok, "key file", "\(file) holds a P-256 signing key"),
                Finding(.warning, "key id", "expected 10 capital letters and digits, found \"XYZ\"", remedy: copy),
                Finding(.error, "team id", "expected 10 capital letters and digits, found \"\"", remedy: copy),
                Finding(
                    .warning, "key id", "the file is named AuthKey_ABC123DEFG.p8, but the given key id is XYZ",
                    remedy: "give the key id ABC123DEFG, unless the file was renamed"),
            ])
        chmod(file, 0o640)
        #expect(
            examine(.key(file: file, keyID: "ABC123DEFG", teamID: "ABC123DEFG")).filter { $0.level != .ok } == [
                Finding(
                    .warning, "key file", "\(file) is accessible to its group (mode 640)", remedy: "chmod 600 \(file)"),
                Finding(
                    .warning, "team id", "is the same as the key id",
                    remedy: "give the team id, which is listed under Membership in the developer account"),
            ])
    }

    @Test("An encrypted key needs its passphrase")
    func encryptedKey() throws {
        let stage = try Stage()
        let pem = try SigningKey.generate().privateKeyPEM(passphrase: Array("open".utf8))
        let file = try stage.write(String(decoding: pem, as: UTF8.self), to: "key.p8")
        chmod(file, 0o600)
        func first(_ passphrase: String?) -> Finding? {
            examine(
                .key(
                    file: file, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", passphrase: passphrase.map { Array($0.utf8) }
                )
            ).first
        }
        #expect(first("open") == Finding(.ok, "key file", "\(file) holds a P-256 signing key"))
        for wrong in [nil, "shut"] {
            #expect(first(wrong)?.level == .error)
            #expect(first(wrong)?.remedy == "give the passphrase that it was encrypted with")
        }
    }

    private static let otherCurve = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDAbvyrNjwaSJulkPU1H
        a5XhBlLJ+UKzMGyryR2Eqd28Qc8hf/LN9wromF8zn5j3kwahZANiAAQrejZmPnhr
        x4UJ2YVevvap/HwieuAP1ggu5kg1pbQaxNae8ulSPGSP3ZF0yxvs4nnX/jtvre0L
        vNjiuril8CcBgbsirfL3w+/yl5yBXocuL07XPyARCjZXH5RbZ6kbYs4=
        -----END PRIVATE KEY-----
        """

    @Test("A missing or unsuitable key file is an error")
    func badKeys() throws {
        let stage = try Stage()
        func text(_ file: String) -> String? {
            examine(.key(file: file, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")).first { $0.level == .error }?.text
        }
        let other = try stage.write(Self.otherCurve, to: "p384.p8")
        #expect(text(other) == "\(other): the key is on the curve secp384r1, expected P-256")
        let certificate = try stage.write(
            String(decoding: stage.occasion.certificatePEM, as: UTF8.self), to: "certificate.p8")
        #expect(text(certificate)?.hasPrefix("\(certificate): ") == true)
        #expect(text("/nonexistent/AuthKey.p8") == "cannot read /nonexistent/AuthKey.p8: No such file or directory")
        #expect(text(stage.directory.path) == "cannot read \(stage.directory.path): it is a directory, not a file")
    }

    @Test("A certificate is reported with its purpose and its remaining days")
    func certificates() throws {
        let stage = try Stage()
        let chain = try stage.write(
            String(decoding: stage.occasion.certificatePEM, as: UTF8.self), to: "cert.pem")
        let key = try stage.write(String(decoding: stage.occasion.keyPEM, as: UTF8.self), to: "cert-key.pem")
        chmod(key, 0o600)
        let end = try CertificateFacts(pem: stage.occasion.certificatePEM).notAfter
        let renewal = "get a new certificate from the developer account"
        func dates(_ now: Int64) -> Finding? {
            examine(.certificate(file: chain, keyFile: key), now: now).first { $0.what == "certificate dates" }
        }
        #expect(dates(end - 30 * 86_400) == Finding(.ok, "certificate dates", "valid for another 30 days"))
        #expect(
            dates(end - 30 * 86_400 + 1)
                == Finding(.warning, "certificate dates", "valid for another 29 days", remedy: renewal))
        #expect(dates(end + 86_400) == Finding(.error, "certificate dates", "expired 1 day ago", remedy: renewal))
        #expect(
            dates(end - 40 * 86_400)?.text.hasPrefix("becomes valid in ") == true)
        #expect(
            examine(.certificate(file: chain, keyFile: key), now: end - 1).last
                == Finding(
                    .warning, "certificate topic", "\(chain) names no app (no UID in its subject)",
                    remedy: "use a certificate for Apple Push Notification service"))
        let stranger = try stage.write(
            String(decoding: try Occasion.make(hosts: ["localhost"]).keyPEM, as: UTF8.self), to: "other-key.pem")
        chmod(stranger, 0o600)
        let mismatch = examine(.certificate(file: chain, keyFile: stranger))
        #expect(mismatch.map(\.level) == [.error] && mismatch[0].text.hasPrefix("\(chain): "))
    }
}
