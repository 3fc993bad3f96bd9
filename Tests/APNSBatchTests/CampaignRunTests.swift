import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords

@Suite("Campaign against the simulator") struct CampaignRunTests {
    private static let payload = #""{""aps"":{""alert"":""Hi""}}""#

    private static func rows(_ count: Int) -> String {
        "token,payload\n" + (0..<count).map { "\(token($0)),\(payload)\n" }.joined()
    }

    @Test("Every row is accepted once and has one line", arguments: [Campaign.Loop.ioUring, .epoll])
    func acceptsAll(loop: Campaign.Loop) async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows(5000))
        campaign.loop = loop
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.ending == .complete)
        #expect(summary.isClean)
        #expect(summary.rows == 5000 && summary.accepted == 5000 && summary.attempts == 5000)
        #expect(summary.lastSession.process?.loop == loop.rawValue)
        let results = try stage.results(run)
        #expect(results.count == 5000)
        #expect(results.allSatisfy { $0.value[2] == "accepted" && $0.value[1] == token(Int($0.key) - 1) })
        let report = stage.simulator.stop()
        #expect(report.requests == 5000 && report.tokens == 5000 && report.tokensReceivedAgain == 0)
        #expect(report.payloadsWithBlanks == 0)
    }

    @Test("Several lanes share the rows and lose none", arguments: [1, 3])
    func lanes(count: Int) async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows(20_000))
        campaign.lanes = count
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.accepted == 20_000)
        #expect(try stage.results(run).count == 20_000)
    }

    @Test("Invalid rows are reported with place and cause, and their neighbours are sent")
    func invalidRows() async throws {
        let stage = try Stage()
        let long = String(repeating: "x", count: 4096)
        let rows = """
            token,payload
            \(token(1)),\(Self.payload)
            nothex,\(Self.payload)
            \(token(2))
            \(token(3)),"{""aps"":"
            \(token(4)),"{""aps"":{""alert"":""\(long)""}}"
            \(token(5)),\(Self.payload)

            """
        var campaign = try stage.campaign(rows: rows)
        campaign.circuitBreaker.shares = [Campaign.CircuitBreaker.invalidRows: .never]
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.ending == .complete && !summary.isClean)
        #expect(summary.rows == 6 && summary.accepted == 2 && summary.invalid == 4)
        let results = try stage.results(run)
        #expect(results[1]?[2] == "accepted" && results[6]?[2] == "accepted")
        for (row, line) in [(UInt64(2), 3), (3, 4), (4, 5), (5, 6)] {
            #expect(results[row]?[2] == "invalid")
            let reason = results[row].map { $0[4...].joined(separator: ",") } ?? ""
            #expect(reason.contains("rows.csv:\(line):"), "\(reason)")
        }
        #expect(stage.simulator.stop().requests == 2)
    }

    @Test("Scripted refusals are final and keep their reason and timestamp")
    func rejections() async throws {
        let script = SimulatorScript(
            seed: 5,
            rules: [SimulatorRule(share: 0.3, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000)])
        let stage = try Stage(script: script)
        let run = try CampaignRun(try stage.campaign(rows: Self.rows(1000)))
        let summary = try await run.send()
        let results = try stage.results(run)
        for (row, fields) in results {
            let expected = script.answer(forToken: token(Int(row) - 1))
            #expect(fields[2] == (expected == nil ? "accepted" : "rejected"))
            #expect(fields[4] == (expected?.reason ?? ""))
            #expect(fields[5] == (expected == nil ? "" : "1700000000000"))
        }
        #expect(summary.rejected > 200 && summary.accepted + summary.rejected == 1000)
        #expect(summary.reasons == ["Unregistered": summary.rejected])
        #expect(summary.isClean)
    }

    @Test("Rows with a retryable answer are sent again with the same apns-id until they succeed")
    func retries() async throws {
        let script = SimulatorScript(
            rules: [
                SimulatorRule(share: 0.2, status: 503, reason: "ServiceUnavailable", times: 1),
                SimulatorRule(share: 0.2, status: 429, reason: "TooManyRequests", times: 2),
            ])
        let stage = try Stage(script: script)
        var campaign = try stage.campaign(rows: Self.rows(500))
        campaign.retryDelay = .milliseconds(5)
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.accepted == 500)
        for (row, fields) in try stage.results(run) {
            let tries = 1 + (script.answer(forToken: token(Int(row) - 1))?.times ?? 0)
            #expect(fields[7] == String(tries))
        }
        #expect(stage.simulator.stop().requests == summary.attempts)
    }

    @Test("A row without attempts left is unavailable, with its last answer")
    func attemptsEnd() async throws {
        // With good answers beside them, errors that last some seconds on a busy machine are not an outage, in which attempts
        // would not count.
        let script = SimulatorScript(rules: [SimulatorRule(share: 0.1, status: 500, reason: "InternalServerError")])
        let refused = (0..<200).count { script.answer(forToken: token($0)) != nil }
        let stage = try Stage(script: script)
        var campaign = try stage.campaign(rows: Self.rows(200))
        campaign.retryDelay = .milliseconds(1)
        campaign.attempts = 3
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(refused > 5 && summary.unavailable == refused && summary.attempts == 200 + 2 * refused)
        #expect(!summary.isClean)
        let unavailable = try stage.results(run).filter { $0.value[2] == "unavailable" }
        #expect(unavailable.count == refused && unavailable.allSatisfy { $0.value[3] == "500" && $0.value[7] == "3" })
    }

    @Test("A fatal answer stops the campaign, and no row is lost")
    func fatalAnswer() async throws {
        let script = SimulatorScript(rules: [SimulatorRule(share: 0.01, status: 403, reason: "Forbidden")])
        let stage = try Stage(script: script)
        let run = try CampaignRun(try stage.campaign(rows: Self.rows(50_000)))
        let summary = try await run.send()
        #expect(summary.ending == .failed)
        #expect(run.failure?.code == .fatalAnswer)
        #expect(summary.cause?.contains("403 Forbidden") == true)
        #expect(summary.rows < 50_000)
        #expect(UInt64(try stage.results(run).count) == summary.rows)
        let report = stage.simulator.stop()
        #expect(report.tokens > Int(summary.rows) && report.accepted == summary.rows)
    }

    @Test("A wrong key stops the campaign at the first answer")
    func wrongKey() async throws {
        let stage = try Stage()
        let other = try Occasion.make(hosts: ["localhost"])
        var campaign = try stage.campaign(rows: Self.rows(1000))
        campaign.credentials = .providerToken(
            keyPEM: other.signingKeyPEM, keyID: Occasion.keyID, teamID: Occasion.teamID)
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(run.failure?.code == .fatalAnswer)
        #expect(summary.cause?.contains("InvalidProviderToken") == true)
        #expect(summary.rows == 0)
        #expect(stage.simulator.stop().requests == 1, "one stream until a token was found valid")
    }

    @Test("An untrusted server ends the run with a clear cause, and nothing is sent")
    func untrusted() async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows(10))
        campaign.authorities = try Occasion.make(hosts: ["localhost"]).authorityPEM
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(run.failure?.code == .unreachable)
        #expect(summary.rows == 0)
        #expect(stage.simulator.stop().requests == 0)
    }

    @Test("An unreachable server ends the run after its patience")
    func unreachable() async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows(10))
        stage.simulator.stop()
        campaign.connectPatience = .seconds(1)
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(run.failure?.code == .unreachable)
        #expect(summary.ending == .failed && summary.rows == 0)
    }

    @Test("Rows bring their own topic, push type, priority, expiration and collapse id")
    func ownHeaders() async throws {
        let stage = try Stage()
        let silent = #""{""aps"":{""content-available"":1}}""#
        let rows = """
            token,payload,topic,push_type,priority,expiration,collapse_id
            \(token(1)),\(Self.payload),,,,,
            \(token(2)),\(silent),,background,,,
            \(token(3)),\(Self.payload),com.example.app,alert,5,0,news
            \(token(4)),\(Self.payload),,voip,,4102444800,
            \(token(5)),\(silent),,background,10,,
            \(token(6)),\(Self.payload),,,,1000,
            \(token(7)),\(Self.payload),,,,,\(String(repeating: "c", count: 65))

            """
        let run = try CampaignRun(try stage.campaign(rows: rows))
        let summary = try await run.send()
        let results = try stage.results(run)
        #expect(
            (1...7).map { results[$0]?[2] ?? "" } == [
                "accepted", "accepted", "accepted", "accepted", "invalid", "expired", "invalid",
            ])
        #expect(summary.accepted == 4 && summary.invalid == 2 && summary.expired == 1)
    }

    @Test("An invalid campaign is refused before anything is sent")
    func configurationErrors() throws {
        let stage = try Stage()
        func fault(_ change: (inout StagedCampaign) throws -> Void) throws -> String {
            var campaign = try stage.campaign(rows: Self.rows(1))
            try change(&campaign)
            do {
                _ = try CampaignRun(campaign)
                return ""
            } catch {
                return error.description
            }
        }
        #expect(try fault { $0.headers.topic = nil }.contains("no topic"))
        #expect(try fault { $0.headers.pushType = "alerts" }.contains("push_type"))
        #expect(try fault { $0.headers.priority = .init(7) }.contains("priority"))
        #expect(try fault { $0.input = .file("/nonexistent.csv") }.contains("/nonexistent.csv"))
        #expect(try fault { $0.lanes = 0 }.contains("lanes"))
        #expect(try fault { $0.template = .init(json: Array("{".utf8), name: "t.json") }.hasPrefix("t.json:1:"))
        #expect(
            try fault { $0.template = .init(json: Array(#"{"a":"{{nme}}"}"#.utf8), name: "t.json") }.contains("nme"))
        #expect(try fault { $0.input = .file(try stage.write("a,b\n1,2\n", to: "no-token.csv")) }.contains("token"))
        #expect(
            try fault { $0.input = .file(try stage.write("token\n00\n", to: "no-payload.csv")) }.contains("payload"))
        #expect(
            try fault {
                $0.credentials = .providerToken(keyPEM: Array("x".utf8), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
            }.contains("signing key"))
    }

    @Test("A run directory with results of an earlier run is refused")
    func refusesOldDirectory() async throws {
        let stage = try Stage()
        let campaign = try stage.campaign(rows: Self.rows(1))
        _ = try await CampaignRun(campaign).send()
        #expect(throws: CampaignError.self) { try CampaignRun(campaign) }
    }

    @Test(
        "A directory with results but no ledger is another program's, and stays as it is",
        arguments: [
            "results.csv", "summary.json",
        ])
    func refusesForeignResults(name: String) throws {
        let stage = try Stage()
        let campaign = try stage.campaign(rows: Self.rows(1))
        let directory = try #require(campaign.runDirectory)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try "mine".write(toFile: "\(directory)/\(name)", atomically: true, encoding: .utf8)
        #expect { try CampaignRun(campaign) } throws: { ($0 as? CampaignError)?.code == .configuration }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [name])
        #expect(try String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8) == "mine")
    }

    @Test("A stopped run takes no more rows, and every row that was sent has its line")
    func stops() async throws {
        let script = SimulatorScript(latency: .fixed(20))
        let stage = try Stage(script: script, streams: 10)
        var campaign = try stage.campaign(rows: Self.rows(100_000))
        campaign.connections = 1
        let run = try CampaignRun(campaign)
        let running = Task { try await run.send() }
        await eventually {
            run.progress.accepted > 0
        } then: {
            run.stop()
        }
        let summary = try await running.value
        #expect(summary.ending == .interrupted)
        #expect(summary.accepted > 0 && summary.rows < 100_000)
        #expect(try stage.results(run).count == Int(summary.rows))
        #expect(stage.simulator.stop().tokens == Int(summary.rows))
    }

    @Test("Connections that are cut lose no row, and unanswered requests are sent again")
    func cutConnections() async throws {
        let stage = try Stage(script: SimulatorScript(latency: .fixed(30)), streams: 100)
        var campaign = try stage.campaign(rows: Self.rows(20_000))
        campaign.retryDelay = .milliseconds(5)
        let run = try CampaignRun(campaign)
        let running = Task { try await run.send() }
        await eventually { run.progress.accepted >= 300 }
        let next = try stage.replaceSimulator()
        let summary = try await running.value
        #expect(summary.ending == .complete)
        #expect(summary.accepted == 20_000)
        #expect(try stage.results(run).count == 20_000)
        let (before, after) = (stage.simulator.stop(), next.stop())
        #expect(before.tokens + after.tokens >= 20_000)
        #expect(before.requests + after.requests <= summary.attempts)
    }

    @Test("The number of streams is limited by the memory of the sender")
    func manyStreams() async throws {
        let stage = try Stage(script: SimulatorScript(latency: .fixed(100)), streams: 10_000)
        var campaign = try stage.campaign(rows: Self.rows(12_000))
        campaign.connections = 1
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.ending == .complete && summary.accepted == 12_000)
    }

    @Test("Two lanes end together when only one has rows")
    func idleLane() async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows(1))
        campaign.lanes = 4
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.ending == .complete && summary.accepted == 1)
    }

    @Test("A second stop waits for no answer, and the requests in flight are left to a resumed run")
    func stopsAtOnce() async throws {
        let stage = try Stage(script: SimulatorScript(latency: .fixed(60_000)), streams: 50)
        let run = try CampaignRun(try stage.campaign(rows: Self.rows(1000)))
        let running = Task { try await run.send() }
        await eventually { run.progress.inFlight > 0 }
        run.stop()
        run.stopAtOnce()
        let summary = try await running.value
        #expect(summary.ending == .interrupted)
        #expect(summary.unknown == 0 && summary.rows == 0)
        let (maybeSent, left) = (try #require(summary.maybeSent), try #require(summary.left))
        #expect(maybeSent > 0 && left == 1000 && summary.notSent == 1000 - maybeSent - (summary.notRead ?? 0))
        #expect(try RunStatus(of: run.directory).count(.unknown) == maybeSent)
    }

    @Test("A campaign with both a template and a payload column is refused")
    func templateAndPayload() throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows(1))
        campaign.template = .init(json: Array(#"{"aps":{"alert":"x"}}"#.utf8), name: "t.json")
        #expect(throws: CampaignError.self) { try CampaignRun(campaign) }
        campaign.template = .init(json: Array(#"{"aps":{"alert":"x"},"p":"{{payload:json}}"}"#.utf8), name: "t.json")
        #expect(throws: Never.self) { try CampaignRun(campaign) }
    }

    @Test("The preview shows what is sent")
    func preview() async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: "token,name\n\(token(10)),Zoë\nbad,x\n")
        campaign.template = .init(json: Array(#"{ "aps": { "alert": "Hi {{name}}" } }"#.utf8), name: "t.json")
        let preview = try CampaignPreview(campaign)
        let first = try #require(try preview.next())
        #expect(first.path == "/3/device/\(token(10))")
        #expect(String(decoding: first.payload, as: UTF8.self) == #"{"aps":{"alert":"Hi Zoë"}}"#)
        #expect(first.headers.map(\.name).prefix(4) == [":method", ":scheme", ":authority", ":path"])
        #expect(first.headers.contains { $0.name == "authorization" && $0.value == "bearer ..." })
        #expect(try preview.next()?.invalid?.contains("rows.csv:3:1: token") == true)
        #expect(try preview.next() == nil)
    }
}
