import APNSBatchBasics
import Testing

@testable import APNSBatchSimulator

@Suite("Several keys and teams over TLS")
struct TeamTests {
    let stage: Stage
    let second: TestAuthority
    let other: TestAuthority

    init() throws {
        var stage = try Stage()
        second = try TestAuthority(keyID: "SECONDKEY0", teamID: stage.authority.teamID)
        other = try TestAuthority(keyID: "OTHERKEY00", teamID: "TEAM000002")
        var foreign = other.configured
        foreign.topics = ["com.example.b"]
        stage.configuration.providerKeys += [second.configured, foreign]
        self.stage = stage
    }

    func authorization(_ authority: TestAuthority, age: Int64 = 0) throws -> String {
        try authority.authorization(issuedAt: SystemClock.milliseconds() / 1000 - age)
    }

    @Test("Each team pushes to its own topics and is counted separately")
    func topics() throws {
        let own = stage.authorization
        let foreign = try authorization(other)
        let report = try stage.run { port in
            let (one, two) = (try stage.client(port), try stage.client(port))
            func send(_ client: TestClient, _ authorization: String, _ topic: String) throws -> String {
                try client.send(
                    stage.request {
                        $0["authorization"] = authorization
                        $0["apns-topic"] = topic
                    }
                ).reason
            }
            #expect(try send(one, own, "com.example.app") == "200")
            #expect(try send(one, own, "com.example.b") == "400 TopicDisallowed")
            #expect(try send(two, foreign, "com.example.b") == "200")
            #expect(try send(two, foreign, "com.example.b.voip") == "400 DeviceTokenNotForTopic")
            #expect(try send(two, foreign, "com.example.app") == "400 TopicDisallowed")
            var create = stage.create(storing: 0)
            #expect(try one.send(create).status == 201)
            create["authorization"] = foreign
            #expect(try two.send(create).reason == "403 TopicMismatch")
        }
        #expect(
            report.teams == [.init(teamID: "TEAM000001", requests: 3), .init(teamID: "TEAM000002", requests: 4)])
        #expect(report.connections == 2)
        #expect(report.connectionsWithTwoTeams == 0)
    }

    @Test("Mixed teams on a connection are detected, as are early, old and unrelated tokens")
    func mixed() throws {
        let foreign = try authorization(other)
        let related = try authorization(second)
        let early = try authorization(stage.authority, age: 30)
        let old = try authorization(stage.authority, age: 3700)
        let report = try stage.run { port in
            let client = try stage.client(port)
            let cases = [
                (stage.authorization, "200"), (foreign, "403 InvalidProviderToken"),
                (foreign, "403 InvalidProviderToken"), (related, "403 UnrelatedKeyIdInToken"),
                (early, "429 TooManyProviderTokenUpdates"), (old, "403 ExpiredProviderToken"),
                (stage.authorization, "200"),
            ]
            for (authorization, expected) in cases {
                #expect(try client.send(stage.request { $0["authorization"] = authorization }).reason == expected)
            }
        }
        #expect(report.connectionsWithTwoTeams == 1)
        #expect(report.tokensTooEarly == 1)
        #expect(report.tokensExpired == 1)
        #expect(report.teams.map(\.requests) == [2, 0])
    }

    @Test("A key can be restricted to one environment")
    func environments() throws {
        var stage = stage
        for environment in [SimulatorConfiguration.Environment.production, .sandbox] {
            stage.configuration.environment = environment
            for (ofKey, expected) in [
                (SimulatorConfiguration.Environment.production, environment == .production),
                (.sandbox, environment == .sandbox),
            ] {
                stage.configuration.providerKeys[0].environment = ofKey
                _ = try stage.run { port in
                    let answer = try stage.client(port).send(stage.request()).reason
                    #expect(answer == (expected ? "200" : "403 BadEnvironmentKeyIdInToken"))
                }
            }
        }
    }
}
