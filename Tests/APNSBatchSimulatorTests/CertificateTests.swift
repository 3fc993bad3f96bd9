import APNSBatchCredentials
import CAPNSTransport
import Testing

@testable import APNSBatchSimulator

@Suite("Client certificates over TLS")
struct CertificateTests {
    /// Returns a simulator that accepts a client certificate, and that certificate.
    static func stage(
        app: String = "com.example.app"
    ) throws -> (Stage, (certificatePEM: [UInt8], keyPEM: [UInt8])) {
        var stage = try Stage()
        let client = try Occasion.client(app: app)
        stage.configuration.clientAuthorityPEM = client.certificatePEM
        return (stage, client)
    }

    @Test(
        "A client certificate authenticates a connection without a token, for the app in its UID",
        arguments: [
            SimulatorConfiguration.Loop.epoll, .automatic,
        ])
    func accepts(_ loop: SimulatorConfiguration.Loop) throws {
        var (stage, own) = try Self.stage()
        stage.configuration.loop = loop
        // The topics of a key do not apply to a certificate.
        stage.configuration.topics = ["com.example.elsewhere"]
        let report = try stage.run { port in
            let client = try TestClient(port: port, ca: stage.identity.caPEM, certificate: own)
            try client.poll(until: { client.streamsMax == 1000 })
            let cases: [(String, (inout TestRequest) -> Void)] = [
                ("200", { $0["authorization"] = nil }), ("200", { $0["authorization"] = "bearer nonsense" }),
                ("200", { _ in }),
                ("200", { $0["apns-push-type"] = "mdm" }),
                (
                    "200",
                    {
                        $0["apns-push-type"] = "voip"
                        $0["apns-topic"] = "com.example.app.voip"
                    }
                ),
                (
                    "400 TopicDisallowed",
                    {
                        $0["apns-push-type"] = "location"
                        $0["apns-topic"] = "com.example.app.location-query"
                    }
                ),
                (
                    "400 TopicDisallowed",
                    {
                        $0["apns-push-type"] = "fileprovider"
                        $0["apns-topic"] = "com.example.app.pushkit.fileprovider"
                    }
                ),
                ("400 TopicDisallowed", { $0["apns-topic"] = "com.example.elsewhere" }),
                ("400 DeviceTokenNotForTopic", { $0["apns-topic"] = "com.example.app.voip" }),
                ("400 MissingTopic", { $0["apns-topic"] = nil }),
            ]
            for (expected, change) in cases {
                var request = stage.request { $0["authorization"] = nil }
                change(&request)
                #expect(try client.send(request).reason == expected)
            }
            var create = stage.create(storing: 0)
            create["authorization"] = nil
            #expect(try client.send(create).status == 201)
            create[":path"] = "/1/apps/com.example.elsewhere/channels"
            #expect(try client.send(create).reason == "403 TopicMismatch")
        }
        #expect(report.connectionsWithCertificate == 1)
        #expect(report.teams == [.init(teamID: "TEAM000001", requests: 0)])
    }

    @Test("A connection without a client certificate can use a provider token")
    func without() throws {
        let (stage, _) = try Self.stage()
        let report = try stage.run { port in
            let client = try stage.client(port)
            #expect(client.streamsMax == 1)
            #expect(try client.send(stage.request { $0["authorization"] = nil }).reason == "403 MissingProviderToken")
            #expect(try client.send(stage.request()).reason == "200")
        }
        #expect(report.connectionsWithCertificate == 0)
    }

    @Test("A certificate of another authority ends the connection")
    func foreign() throws {
        let (stage, _) = try Self.stage()
        let foreign = try Occasion.client(app: "com.example.app")
        let report = try stage.run { port in
            do {
                let client = try TestClient(port: port, ca: stage.identity.caPEM, certificate: foreign)
                try client.poll(until: { client.isDown })
            } catch let failure as TestClient.Failure {
                #expect(failure.text == "the connection did not come up")
            }
        }
        #expect(report.connections == 0)
    }

    @Test("A client certificate is ignored where none is requested")
    func unasked() throws {
        var (stage, own) = try Self.stage()
        stage.configuration.clientAuthorityPEM = nil
        _ = try stage.run { port in
            let client = try TestClient(port: port, ca: stage.identity.caPEM, certificate: own)
            #expect(try client.send(stage.request { $0["authorization"] = nil }).reason == "403 MissingProviderToken")
        }
    }

    @Test("A certificate of the wrong environment gets the reason as answer")
    func wrongEnvironment() throws {
        var (stage, own) = try Self.stage()
        stage.configuration.certificateFault = .answer
        _ = try stage.run { port in
            let client = try TestClient(port: port, ca: stage.identity.caPEM, certificate: own)
            #expect(try client.send(stage.request()).reason == "403 BadCertificateEnvironment")
            #expect(try stage.client(port).send(stage.request()).reason == "200")
        }
    }

    @Test("A certificate of the wrong environment gets GOAWAY with the reason")
    func goaway() throws {
        var (stage, own) = try Self.stage()
        stage.configuration.certificateFault = .goaway
        _ = try stage.run { port in
            let client = try TestClient(port: port, ca: stage.identity.caPEM, certificate: own)
            try client.poll(until: { !client.farewells.isEmpty })
            #expect(client.farewells == [#"{"reason":"BadCertificateEnvironment"}"#])
        }
    }

    @Test("A certificate that cannot be an authority is reported")
    func wrongAuthority() throws {
        var (stage, _) = try Self.stage()
        stage.configuration.clientAuthorityPEM = Array("nonsense".utf8)
        let simulator = try Simulator(stage.configuration)
        do throws(SimulatorError) {
            _ = try simulator.start()
            Issue.record("it started")
        } catch {
            #expect(error.description.hasPrefix("trusted certificates: "))
        }
    }
}
