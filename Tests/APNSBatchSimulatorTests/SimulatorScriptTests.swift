import APNSBatchBasics
import Foundation
import Testing

@testable import APNSBatchSimulator

@Suite("Simulator script")
struct SimulatorScriptTests {
    static let script = SimulatorScript(
        seed: 0x0102_0304_0506_0708,
        rules: [
            SimulatorRule(share: 0.1, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000),
            SimulatorRule(share: 0.05, status: 503, reason: "ServiceUnavailable", times: 1),
            SimulatorRule(share: 0.25, status: 429),
        ])

    /// Returns the expected answer by a second, slow implementation of the documented rule.
    static func expected(_ script: SimulatorScript, _ token: String) -> Int? {
        var bytes = (0..<8).map { UInt8(truncatingIfNeeded: script.seed >> (8 * UInt64($0))) }
        bytes += Array(token.lowercased().utf8)
        var hash = UInt64(14_695_981_039_346_656_037)
        for byte in bytes {
            hash ^= UInt64(byte)
            hash = hash &* 1_099_511_628_211
        }
        hash ^= hash >> 33
        hash = hash &* 18_397_679_294_719_823_053
        let place = Double(hash >> 11) / 9_007_199_254_740_992
        var bound = 0.0
        for (index, rule) in script.rules.enumerated() {
            bound += rule.share
            if place < bound { return index }
        }
        return nil
    }

    static func token(_ random: inout SplitMix64) -> String {
        (0..<4).map { _ in String(format: "%016llx", random.next()) }.joined()
    }

    @Test("Rules are chosen by the documented hash, with the requested shares")
    func distribution() {
        var random = SplitMix64(seed: 42)
        var hits = [0, 0, 0, 0]
        let slices = ScriptSlices(Self.script)
        let total = 10_000
        for _ in 0..<total {
            let token = Self.token(&random)
            let expected = Self.expected(Self.script, token)
            #expect(Self.script.answer(forToken: token) == expected.map { Self.script.rules[$0] })
            #expect(Self.script.answer(forToken: token.uppercased()) == expected.map { Self.script.rules[$0] })
            let found = Array(token.utf8).withUnsafeBytes { slices.rule(for: $0, earlier: 0) }
            #expect(found == expected ?? -1)
            hits[expected ?? 3] += 1
        }
        for (hit, share) in zip(hits, [0.1, 0.05, 0.25, 0.6]) {
            #expect(abs(Double(hit) / Double(total) - share) < 0.015)
        }
    }

    @Test("The hash gives the values of the Python code in the documentation")
    func known() {
        func place(_ token: String, seed: UInt64) -> Double {
            Array(token.utf8).withUnsafeBytes { ScriptSlices.place($0, state: FNV1a.state(seed: seed)) }
        }
        #expect(FNV1a.state(seed: 0) == PythonValues.state)
        #expect(place("00", seed: 0) == PythonValues.place0)
        #expect(place(TestRequest.deviceToken, seed: 7) == PythonValues.place1)
    }

    @Test("The uses of a rule are counted for each token")
    func times() {
        let slices = ScriptSlices(SimulatorScript(rules: [SimulatorRule(share: 1, status: 503, times: 2)]))
        Array("00ff".utf8).withUnsafeBytes { token in
            #expect(slices.rule(for: token, earlier: 0) == 0)
            #expect(slices.rule(for: token, earlier: 1) == 0)
            #expect(slices.rule(for: token, earlier: 2) == -1)
        }
    }

    @Test("A share of 1 affects all tokens and a share of 0 none")
    func extremes() {
        var random = SplitMix64(seed: 1)
        let script = SimulatorScript(
            rules: [SimulatorRule(share: 0, status: 400), SimulatorRule(share: 1, status: 410)])
        for _ in 0..<1000 {
            #expect(script.answer(forToken: Self.token(&random))?.status == 410)
        }
        #expect(SimulatorScript().answer(forToken: "00") == nil)
    }

    @Test("All keys of a script are read")
    func coding() throws {
        let json = """
            {"seed": 7, "rules": [{"share": 0.02, "status": 410, "reason": "Unregistered", "timestamp": 1700000000000},
             {"share": 0.01, "status": 503, "times": 1, "retry_after": 2}],
             "latency": {"distribution": "lognormal", "median_ms": 20, "sigma": 0.5}, "answers_per_second": 500}
            """
        let script = try JSONDecoder().decode(SimulatorScript.self, from: Data(json.utf8))
        #expect(
            script
                == SimulatorScript(
                    seed: 7,
                    rules: [
                        SimulatorRule(share: 0.02, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000),
                        SimulatorRule(share: 0.01, status: 503, times: 1, retryAfter: 2),
                    ], latency: .lognormal(median: 20, sigma: 0.5, maximum: nil), answersPerSecond: 500))
        #expect(try JSONDecoder().decode(SimulatorScript.self, from: Data("{}".utf8)) == SimulatorScript())
    }

    @Test(
        "Every latency is read",
        arguments: [
            (#"{"distribution":"none"}"#, SimulatorLatency.none),
            (#"{"distribution":"fixed","median_ms":5}"#, .fixed(5)),
            (#"{"distribution":"uniform","min_ms":1,"max_ms":2}"#, .uniform(minimum: 1, maximum: 2)),
            (#"{"distribution":"exponential","median_ms":5}"#, .exponential(median: 5, maximum: nil)),
            (#"{"distribution":"exponential","median_ms":5,"max_ms":9}"#, .exponential(median: 5, maximum: 9)),
            (
                #"{"distribution":"lognormal","median_ms":5,"sigma":1,"max_ms":9}"#,
                .lognormal(median: 5, sigma: 1, maximum: 9)
            ),
        ])
    func latencies(_ json: String, _ expected: SimulatorLatency) throws {
        let read = try JSONDecoder().decode(SimulatorLatency.self, from: Data(json.utf8))
        #expect(read == expected)
    }

    @Test(
        "Unknown and missing keys are refused",
        arguments: [
            (
                #"{"sead":1}"#,
                "unknown key \"sead\"; known are seed, rules, latency, faults, answers_per_second, rate_limit"
            ),
            (#"{"rate_limit":{"per_second":1}}"#, "status"),
            (#"{"rate_limit":{"per_second":1,"status":429,"bursts":2}}"#, "unknown key \"bursts\""),
            (#"{"rules":[{"share":0,"status":410},{"share":1,"status":410,"retry":1}]}"#, "unknown key \"retry\""),
            (#"{"rules":[{"share":1,"status":410,"times":1,"reson":"x"}]}"#, "unknown key \"reson\""),
            (#"{"rules":[{"share":1}]}"#, "status"), (#"{"rules":[{"status":200}]}"#, "share"),
            (#"{"latency":{"distribution":"fixed","median":5}}"#, "unknown key \"median\""),
            (#"{"latency":{"distribution":"fixed"}}"#, "median_ms"), (#"{"latency":{"median_ms":1}}"#, "distribution"),
            (
                #"{"latency":{"distribution":"fixed","median_ms":5,"sigma":1}}"#,
                "sigma does not belong to the distribution fixed"
            ),
            (#"{"latency":{"distribution":"normal","median_ms":5}}"#, "normal"),
        ])
    func unknownKeys(_ json: String, _ message: String) {
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(SimulatorScript.self, from: Data(json.utf8))
        }
        #expect(String(describing: error).replacingOccurrences(of: "\\", with: "").contains(message))
    }

    static let faults: [(SimulatorScript, String)] = [
        (.init(rules: [.init(share: 1.5, status: 410)]), "rules[0].share: expected 0 to 1, found 1.5"),
        (.init(rules: [.init(share: -0.1, status: 410)]), "rules[0].share: expected 0 to 1, found -0.1"),
        (.init(rules: [.init(share: .nan, status: 410)]), "rules[0].share: expected 0 to 1, found nan"),
        (
            .init(rules: [.init(share: 0.6, status: 410), .init(share: 0.5, status: 410)]),
            "rules: the shares add up to 1.1, more than 1"
        ),
        (
            .init(rules: [.init(share: 0, status: 410), .init(share: 1, status: 100)]),
            "rules[1].status: expected 200 to 599, found 100"
        ),
        (.init(rules: [.init(share: 1, status: 600)]), "rules[0].status: expected 200 to 599, found 600"),
        (.init(rules: [.init(share: 1, status: 200, reason: "Fine")]), "rules[0].reason: status 200 has no body"),
        (
            .init(rules: [.init(share: 1, status: 400, reason: "a\"b")]),
            "rules[0].reason: expected 1 to 128 printable ASCII characters without quotation marks and backslashes"
        ),
        (
            .init(rules: [.init(share: 1, status: 400, reason: "")]),
            "rules[0].reason: expected 1 to 128 printable ASCII characters without quotation marks and backslashes"
        ),
        (
            .init(rules: [.init(share: 1, status: 400, reason: "A", timestamp: 1)]),
            "rules[0].timestamp: only status 410 has one"
        ),
        (.init(rules: [.init(share: 1, status: 410, timestamp: 1)]), "rules[0].timestamp: requires a reason"),
        (
            .init(rules: [.init(share: 1, status: 410, reason: "A", timestamp: -1)]),
            "rules[0].timestamp: expected milliseconds since 1970, found -1"
        ),
        (.init(rules: [.init(share: 1, status: 410, times: 0)]), "rules[0].times: expected at least 1, found 0"),
        (
            .init(rules: [.init(share: 1, status: 503, retryAfter: -1)]),
            "rules[0].retry_after: expected 0 to 86400 seconds, found -1"
        ),
        (
            .init(rules: [.init(share: 1, status: 503, retryAfter: 86_401)]),
            "rules[0].retry_after: expected 0 to 86400 seconds, found 86401"
        ),
        (
            .init(rateLimit: RateLimit(perSecond: -1, status: 429)),
            "rate_limit.per_second: expected 0 to 1000000000, found -1"
        ),
        (.init(rateLimit: RateLimit(perSecond: 1, status: 200)), "rate_limit.status: expected a status other than 200"),
        (.init(answersPerSecond: -1), "answers_per_second: expected 0 to 1000000000, found -1"),
        (.init(latency: .fixed(-1)), "latency.median_ms: expected 0 to 3600000 milliseconds, found -1.0"),
        (.init(latency: .fixed(.infinity)), "latency.median_ms: expected 0 to 3600000 milliseconds, found inf"),
        (.init(latency: .uniform(minimum: 2, maximum: 1)), "latency.min_ms: 2.0 is more than max_ms, 1.0"),
        (.init(latency: .lognormal(median: 1, sigma: -1, maximum: nil)), "latency.sigma: expected 0 to 10, found -1.0"),
        (
            .init(latency: .exponential(median: 1, maximum: 1e9)),
            "latency.max_ms: expected 0 to 3600000 milliseconds, found 1000000000.0"
        ),
    ]

    @Test("The error names what is wrong with a value", arguments: faults)
    func fault(_ script: SimulatorScript, _ message: String) {
        #expect(script.fault() == message)
    }

    @Test("Shares that add up to 1 are accepted")
    func whole() {
        let rules = (0..<10).map { _ in SimulatorRule(share: 0.1, status: 500, reason: "InternalServerError") }
        #expect(SimulatorScript(rules: rules).fault() == nil)
        #expect(Self.script.fault() == nil)
    }
}
