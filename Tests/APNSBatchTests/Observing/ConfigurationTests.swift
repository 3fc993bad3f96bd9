#if Configuration
    import APNSBatchCredentials
    import APNSBatchSimulator
    import Configuration
    import Synchronization
    import Testing

    @testable import APNSBatch
    @testable import APNSBatchModel

    extension Stage {
        /// The settings that a program needs to send to this stage.
        fileprivate var settings: [AbsoluteConfigKey: ConfigValue] {
            [
                "to": .init(.string("127.0.0.1:\(port)"), isSecret: false),
                "key": .init(text(occasion.signingKeyPEM), isSecret: false),
                "keyId": .init(.string(Occasion.keyID), isSecret: false),
                "teamId": .init(.string(Occasion.teamID), isSecret: false),
                "ca": .init(text(occasion.authorityPEM), isSecret: false), "systemTrust": false,
            ]
        }

        private func text(_ bytes: [UInt8]) -> ConfigContent { .string(String(decoding: bytes, as: UTF8.self)) }
    }

    /// Notes which keys were read as secrets.
    private final class Accesses: AccessReporter {
        private let secrets = Mutex<Set<String>>([])

        var secretKeys: Set<String> { secrets.withLock { $0 } }

        func report(_ event: AccessEvent) {
            guard case .success(let value?) = event.result, value.isSecret else { return }
            secrets.withLock { _ = $0.insert(event.metadata.key.description) }
        }
    }

    private let proxyForm =
        "expected http://HOST:PORT or http://USER@HOST:PORT; a password is a setting of its own (proxy_password_file)"

    @Suite("Configuration by a reader") struct ConfigurationTests {
        private static func reader(_ values: [AbsoluteConfigKey: ConfigValue]) -> ConfigReader {
            ConfigReader(provider: InMemoryProvider(values: values))
        }

        @Test func `a sender that is configured by a reader sends, and keys are read as secrets`() async throws {
            let (stage, accesses) = (try Stage(), Accesses())
            let values = stage.settings.merging(
                ["connections": 2, "timeout": 600_000, "rate": "1000/s", "name": "shop", "onUnknown": "resend"]
            ) { $1 }
            let scoped = Dictionary(uniqueKeysWithValues: values.map { ($0.key.prepending("apns"), $0.value) })
            let reader = ConfigReader(provider: InMemoryProvider(values: scoped), accessReporter: accesses)
            let configuration = try Sender.Configuration(configReader: reader.scoped(to: "apns"))
            #expect(configuration.connections == 2 && configuration.timeout == .seconds(600))
            #expect(configuration.rateLimit.rate == .init(1000, per: .second) && configuration.name == "shop")
            #expect(configuration.onUnknown == .resend && configuration.attempts == 3)
            #expect(accesses.secretKeys == ["apns.key"])
            let sender = try Sender(configuration)
            let result = try await sender.whileRunning { try await $0.send(push(1)) }
            #expect(result.outcome == .accepted)
            #expect(stage.simulator.stop().requests == 1)
        }

        @Test func `a campaign that is configured by a reader is sent`() async throws {
            let stage = try Stage()
            let payload = #""{""aps"":{""content-available"":1}}""#
            let staged = try stage.campaign(rows: "token,payload\n\(token(1)),\(payload)\n\(token(2)),\(payload)\n")
            let more: [AbsoluteConfigKey: ConfigValue] = [
                "topic": "com.example.app", "pushType": "background", "priority": 5, "expiration": "2h",
                "runDir": .init(.string(staged.campaign.runDirectory ?? ""), isSecret: false), "name": "night",
                "lanes": 1, "retryDelay": 250, "pingAfter": 7, "notAfter": "6h", "delimiter": ",", "escape": "none",
                "expect": .init(.stringArray(["accepted >= 1"]), isSecret: false), "requireFresh": "20h",
                "rate": "500/s", "ramp": "10s", "minRows": 2,
            ]
            let campaign = try Campaign(configReader: Self.reader(stage.settings.merging(more) { $1 }))
            #expect(campaign.headers.pushType == .background && campaign.headers.priority == .savingPower)
            #expect(campaign.headers.expiration == .after(.seconds(7200)) && campaign.name == "night")
            #expect(campaign.retryDelay == .milliseconds(250) && campaign.pingAfter == .seconds(7))
            #expect(campaign.notAfter == .after(.seconds(21_600)) && campaign.minRows == 2 && campaign.lanes == 1)
            #expect(campaign.rateLimit == .init(rate: .init(500, per: .second), ramp: .seconds(10)))
            #expect(try await CampaignRun(campaign, input: staged.input).send().accepted == 2)
            #expect(stage.simulator.stop().requests == 2)
        }

        @Test func `a canary is configured by a reader`() throws {
            let share: [AbsoluteConfigKey: ConfigValue] = try Stage().settings.merging(["canaryMaxRejected": "2%"]) {
                $1
            }
            #expect(throws: CampaignError(.configuration, "canaryMaxRejected: needs canary")) {
                try Campaign(configReader: Self.reader(share))
            }
            let campaign = try Campaign(configReader: Self.reader(share.merging(["canary": 500]) { $1 }))
            #expect(campaign.canary == .init(rows: 500, maxRejectedPercent: 2))
        }

        @Test func `several providers have keys below their names`() throws {
            let stage = try Stage()
            var values = stage.settings.filter { !["key", "keyId", "teamId"].contains($0.key) }
            values["providers"] = .init(.stringArray(["shop", "news"]), isSecret: false)
            for name in ["shop", "news"] {
                values[["provider", "\(name)", "topics"]] = .init(
                    .stringArray(["com.example.\(name)"]), isSecret: false)
                for key in ["key", "keyId", "teamId"] as [AbsoluteConfigKey] {
                    values[key.prepending(ConfigKey(["provider", name]))] = stage.settings[key]
                }
            }
            let providers = try Campaign(configReader: Self.reader(values)).providers
            #expect(providers.map(\.topics) == [["com.example.shop"], ["com.example.news"]])
            values[["provider", "news", "keyId"]] = nil
            #expect(throws: CampaignError(.configuration, "provider.news.keyId: missing: key needs it")) {
                try Campaign(configReader: Self.reader(values))
            }
        }

        @Test(
            arguments: [
                ("to", nil, "to: missing: expected production, sandbox or HOST:PORT"),
                ("to", "apple", "to: expected production, sandbox or HOST:PORT, found \"apple\""),
                ("key", nil, "key: missing: expected key, providerToken or certificate"),
                ("keyId", nil, "keyId: missing: key needs it"),
                ("providerToken", "x.y.z", "key: give only one of key, providerToken and certificate"),
                ("streams", 0, "streams: expected 1 to 10000, found 0"),
                ("streams", "many", "streams: expected a whole number"),
                ("systemTrust", "perhaps", "systemTrust: expected true or false"),
                ("requestTimeout", 0, "requestTimeout: expected 1 to 4294967295 ms, found 0"),
                ("rate", "fast", "rate: expected a rate such as 2000/s, 120000/min or 3000000/h, found \"fast\""),
                ("rate", 7, "rate: expected a text"),
                ("onUnknown", "ask", "onUnknown: expected resend, report or resend-if-collapsible, found \"ask\""),
                ("proxy", "http://a:secret@b:1", "proxy: \(proxyForm)"),
                ("proxyPassword", "secret", "proxyPassword: needs proxy"),
                ("proxy", "socks://b:1", "proxy: \(proxyForm)"),
            ] as [(AbsoluteConfigKey, ConfigValue?, String)])
        func `an error names the key`(key: AbsoluteConfigKey, value: ConfigValue?, text: String) throws {
            var values = try Stage().settings
            values[key] = value
            let reader = Self.reader(values)
            #expect(throws: CampaignError(.configuration, text)) { try Campaign(configReader: reader) }
            #expect(throws: CampaignError(.configuration, text)) { try Sender.Configuration(configReader: reader) }
        }

        @Test func `an encrypted key asks for its passphrase, and no secret is in an error`() throws {
            let stage = try Stage()
            var values = stage.settings
            let locked = try SigningKey(pem: stage.occasion.signingKeyPEM)
                .privateKeyPEM(passphrase: Array("open sesame".utf8))
            values["key"] = .init(.string(String(decoding: locked, as: UTF8.self)), isSecret: false)
            let missing = #expect(throws: CampaignError.self) { try Campaign(configReader: Self.reader(values)) }
            #expect(missing?.code == .configuration, "\(missing.debugDescription)")
            #expect(missing?.description.hasPrefix("keyPassphrase: missing: ") == true)
            values["keyPassphrase"] = "open barley"
            let wrong = #expect(throws: CampaignError.self) { try Campaign(configReader: Self.reader(values)) }
            #expect(wrong?.description.hasPrefix("key: ") == true && wrong?.description.contains("barley") == false)
            values["keyPassphrase"] = "open sesame"
            _ = try Campaign(configReader: Self.reader(values))
        }
    }
#endif
