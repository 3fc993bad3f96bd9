import APNSBatchBasics
import APNSBatchSimulator
import APNSBatchTransport
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords

@Suite("Resuming a run") struct ResumeTests {
    private static let payload = #""{""aps"":{""alert"":""Hi""}}""#

    private static func rows(_ count: Int) -> String {
        "token,payload\n" + (0..<count).map { "\(token($0)),\(payload)\n" }.joined()
    }

    /// Runs a campaign that is stopped when some rows have been accepted.
    private static func stopped(_ stage: Stage, rows: Int) async throws -> (StagedCampaign, CampaignSummary) {
        var campaign = try stage.campaign(rows: Self.rows(rows))
        campaign.connections = 1
        campaign.note = Array("mine".utf8)
        let run = try CampaignRun(campaign)
        // The stopper has its own thread, because other tests may occupy the threads of tasks for longer than the run
        // takes.
        let stopper = try NamedThread("stopper") {
            while run.progress.accepted == 0 && run.failure == nil { usleep(1000) }
            run.stop()
        }
        let summary = try await run.send()
        stopper.join()
        try #require(summary.ending == .interrupted && summary.rows < rows)
        return (campaign, summary)
    }

    private func fault(_ campaign: StagedCampaign) throws -> String {
        do {
            _ = try CampaignRun(campaign, resuming: true)
            return ""
        } catch {
            return error.description
        }
    }

    @Test("A resumed run sends only the rows that a stopped run did not send")
    func afterStop() async throws {
        let stage = try Stage(script: SimulatorScript(latency: .fixed(10)), streams: 10)
        let (campaign, before) = try await Self.stopped(stage, rows: 5000)
        let status = try RunStatus(of: campaign.runDirectory ?? "")
        #expect(status.state == .ended && status.note == Array("mine".utf8))
        #expect(status.count(.ended) == before.rows && status.count(.unknown) == 0)
        var next = campaign
        next.connections = 16
        let run = try CampaignRun(next, resuming: true)
        #expect(run.progress.accepted == before.accepted)
        let summary = try await run.send()
        #expect(summary.ending == .complete && summary.accepted == 5000 && summary.attempts == 5000)
        #expect(try stage.results(run).count == 5000)
        let report = stage.simulator.stop()
        #expect(report.requests == 5000 && report.tokensReceivedAgain == 0)
    }

    @Test("A complete run stays as it is")
    func complete() async throws {
        let stage = try Stage()
        let campaign = try stage.campaign(rows: Self.rows(100))
        let first = try await CampaignRun(campaign).send()
        let run = try CampaignRun(campaign, resuming: true)
        let path = first.isClean ? run.directory + "/summary.json" : ""
        let written = try Data(contentsOf: URL(filePath: path))
        #expect(try await run.send() == first)
        #expect(try Data(contentsOf: URL(filePath: path)) == written)
        #expect(try RunStatus(of: run.directory).sessions == 1)
        #expect(try stage.results(run).count == 100)
        // Without the summary, the account is read from the ledger.
        try FileManager.default.removeItem(atPath: path)
        var anew = try await CampaignRun(campaign, resuming: true).send()
        #expect(anew.lastSession.process == nil && FileManager.default.fileExists(atPath: path))
        anew.lastSession.process = first.lastSession.process
        anew.campaign.ended = first.campaign.ended
        #expect(anew == first)
        #expect(stage.simulator.stop().requests == 100)
    }

    @Test(
        "The account comes from the ledger alone, whatever summary.json contains",
        arguments: [true, false])
    func account(hasSummary: Bool) async throws {
        let stage = try Stage(script: SimulatorScript(latency: .fixed(10)), streams: 10)
        let bad = "token,payload\nno,\(Self.payload)\n\(token(1)),{\n"
        var campaign = try stage.campaign(rows: Self.rows(5000).replacing("token,payload\n", with: bad))
        (campaign.connections, campaign.lanes) = (1, 1)
        let run = try CampaignRun(campaign)
        let stopper = try NamedThread("stopper") {
            while run.progress.accepted == 0 && run.failure == nil { usleep(1000) }
            run.stop()
        }
        let before = try await run.send()
        stopper.join()
        try #require(before.ending == .interrupted && before.invalid == 2 && before.campaign.inputCRC32C == nil)
        // A process that cannot begin still reports what is known.
        let handOvers = run.directory + "/ledger.board"
        try FileManager.default.removeItem(atPath: handOvers)
        try FileManager.default.createDirectory(atPath: handOvers, withIntermediateDirectories: false)
        let failed = try await CampaignRun(campaign, resuming: true).send()
        #expect(failed.ending == .failed && failed.rows == before.rows && failed.invalidRules == before.invalidRules)
        try FileManager.default.removeItem(atPath: handOvers)
        if !hasSummary { try FileManager.default.removeItem(atPath: run.directory + "/summary.json") }
        let summary = try await CampaignRun(campaign, resuming: true).send()
        #expect(summary.invalid == 2 && summary.invalidRules == before.invalidRules)
        #expect(summary.invalidRules.mapValues(\.rows) == ["device-token": 1, "json-syntax": 1])
        let (all, last) = (summary.allSessions, summary.lastSession)
        #expect(all.rows == 5002 && last.rows == 5002 - before.rows && before.lastSession.rows == before.rows)
        #expect(all.accepted == 5000 && last.accepted == 5000 - before.accepted)
        #expect(all.requests == before.allSessions.requests + last.requests)
        #expect(all.connectionsOpened == 2 && last.connectionsOpened == 1)
        #expect(
            all.answerTimes?.samples == (before.allSessions.answerTimes?.samples ?? 0)
                + (last.answerTimes?.samples ?? 0))
        #expect(all.answerTimes?.max == max(before.lastSession.answerTimes?.max ?? 0, last.answerTimes?.max ?? 0))
        #expect(summary.campaign.inputCRC32C?.count == 8)
    }

    @Test("Rows left by a fatal answer are sent with other credentials")
    func afterFatal() async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows(1000))
        let good = campaign.credentials
        campaign.credentials = .providerToken(
            keyPEM: try Occasion.make(hosts: ["localhost"]).signingKeyPEM, keyID: Occasion.keyID,
            teamID: Occasion.teamID)
        #expect(try await CampaignRun(campaign).send().ending == .failed)
        campaign.credentials = good
        let run = try CampaignRun(campaign, resuming: true)
        let summary = try await run.send()
        #expect(summary.ending == .complete && summary.accepted == 1000)
        #expect(try stage.results(run).count == 1000)
    }

    @Test("Another input or another campaign is refused with the cause")
    func changes() async throws {
        let stage = try Stage(script: SimulatorScript(latency: .fixed(10)), streams: 10)
        let (campaign, _) = try await Self.stopped(stage, rows: 5000)
        var other = campaign
        other.headers.priority = .init(5)
        other.headers.collapseID = "one"
        #expect(try fault(other).hasPrefix("push_type or priority, collapse_id: changed since the run began, "))
        let text = Self.rows(5000)
        _ = try stage.write(String(text.dropLast()), to: "rows.csv")
        #expect(
            try fault(campaign).contains(
                "rows.csv: the input changed: it had \(text.utf8.count) bytes and has \(text.utf8.count - 1)"))
        _ = try stage.write(text.replacing("token,payload", with: "token,payloae"), to: "rows.csv")
        #expect(try fault(campaign) != "")
        // The content of a row that has not ended is changed, but not its size.
        _ = try stage.write(String(text.dropLast(10)) + "Ho\"\"}}\"\n" + "\n", to: "rows.csv")
        let size = try #require(
            try FileManager.default.attributesOfItem(atPath: stage.directory.path + "/rows.csv")[.size] as? Int)
        _ = try stage.write(
            String(text.dropLast(10)) + String(repeating: "x", count: 9) + "\n", to: "rows.csv")
        #expect(size != 0)
        let run = try CampaignRun(campaign, resuming: true)
        let summary = try await run.send()
        #expect(summary.ending == .failed)
        #expect(summary.cause?.contains("rows.csv: the input changed: rows ") == true, "\(summary.cause ?? "")")
    }

    @Test("An input that grew is read to its earlier end only")
    func grown() async throws {
        let stage = try Stage(script: SimulatorScript(latency: .fixed(10)), streams: 10)
        let (campaign, _) = try await Self.stopped(stage, rows: 3000)
        _ = try stage.write(Self.rows(3500), to: "rows.csv")
        var next = campaign
        next.connections = 16
        let run = try CampaignRun(next, resuming: true)
        #expect(try await run.send().accepted == 3000)
        #expect(try stage.results(run).count == 3000)
        let added = Self.rows(3500).utf8.count - Self.rows(3000).utf8.count
        #expect(
            run.session.facts.reader.additionWarning?.contains("rows.csv: \(added) bytes were appended after the first")
                == true)
    }

    @Test("Lost results are rewritten from the ledger", arguments: [false, true])
    func resultsAnew(isMissing: Bool) async throws {
        let stage = try Stage(script: SimulatorScript(latency: .fixed(10)), streams: 10)
        let (campaign, _) = try await Self.stopped(stage, rows: 3000)
        let path = (campaign.runDirectory ?? "") + "/results.csv"
        if isMissing {
            try FileManager.default.removeItem(atPath: path)
        } else {
            try Data("row,tok".utf8).write(to: URL(filePath: path))
        }
        let run = try CampaignRun(campaign, resuming: true)
        let summary = try await run.send()
        #expect(summary.ending == .complete && summary.accepted == 3000)
        #expect(try stage.results(run).count == 3000)
    }

    @Test("Replaced or sorted results are rewritten")
    func otherResults() async throws {
        let stage = try Stage(script: SimulatorScript(latency: .fixed(10)), streams: 10)
        let (campaign, _) = try await Self.stopped(stage, rows: 3000)
        let path = (campaign.runDirectory ?? "") + "/results.csv"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try #require(text.hasSuffix("\n"))
        try Data(text.split(separator: "\n").sorted().map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: path))
        let run = try CampaignRun(campaign, resuming: true)
        #expect(try await run.send().ending == .complete)
        #expect(try stage.results(run).count == 3000)
    }

    @Test("An unfinished new ledger is created again, and any other is kept", arguments: ["", "torn", "mine"])
    func unbegun(kind: String) async throws {
        let stage = try Stage()
        let campaign = try stage.campaign(rows: Self.rows(10))
        let directory = campaign.runDirectory ?? ""
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let content = kind == "torn" ? Data(LedgerSample.usual.bytes.prefix(50)) : Data(kind.utf8)
        try content.write(to: URL(filePath: directory + "/ledger"))
        try Data("row,tok".utf8).write(to: URL(filePath: directory + "/results.csv"))
        if kind == "mine" {
            #expect(throws: CampaignError.self) { try CampaignRun(campaign) }
            #expect(try Data(contentsOf: URL(filePath: directory + "/ledger")) == content)
            return
        }
        let run = try CampaignRun(campaign)
        #expect(try await run.send().accepted == 10)
        #expect(try stage.results(run).count == 10)
    }

    @Test("Results without a ledger are never overwritten")
    func foreign() throws {
        let stage = try Stage()
        let campaign = try stage.campaign(rows: Self.rows(10))
        let directory = campaign.runDirectory ?? ""
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data("row,tok".utf8).write(to: URL(filePath: directory + "/results.csv"))
        #expect(throws: CampaignError.self) { try CampaignRun(campaign) }
        try Data().write(to: URL(filePath: directory + "/ledger"))
        try Data(String(repeating: "row", count: 100).utf8).write(to: URL(filePath: directory + "/results.csv"))
        #expect(throws: CampaignError.self) { try CampaignRun(campaign) }
    }

    @Test("Two processes cannot work on one run")
    func lock() async throws {
        let stage = try Stage(script: SimulatorScript(latency: .fixed(10)), streams: 10)
        let (campaign, _) = try await Self.stopped(stage, rows: 2000)
        let first = try CampaignRun(campaign, resuming: true)
        #expect(try fault(campaign).hasSuffix(": process \(getpid()) is working on this run"))
        #expect(try RunStatus(of: campaign.runDirectory ?? "").state != .ended)
        _ = first
    }

    @Test("The ledger states the policy of the last session")
    func policy() async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows(10))
        campaign.note = Array("mine".utf8)
        for policy in [UnknownPolicy.resend, .report, .resendIfCollapsible] {
            campaign.onUnknown = policy
            // The run is never complete, because a complete run has no further session.
            let run = try CampaignRun(campaign, resuming: policy != .resend)
            run.stop()
            #expect(try await run.send().ending == .interrupted)
            let opening = try RunOpening(of: campaign.runDirectory ?? "")
            #expect(opening.onUnknown == policy && opening.note == Array("mine".utf8))
        }
    }

    @Test("A run that is over can be resumed while its object still exists")
    func twice() async throws {
        let stage = try Stage()
        let campaign = try stage.campaign(rows: Self.rows(10))
        let first = try CampaignRun(campaign)
        #expect(try await first.send().ending == .complete)
        let second = try CampaignRun(campaign, resuming: true)
        #expect(try await second.send().ending == .complete)
        let third = try CampaignRun(campaign, resuming: true)
        #expect(try await third.send().ending == .complete)
        #expect([first, second, third].count == 3)
    }

    @Test("A summary that cannot be written is a failure")
    func summary() async throws {
        let stage = try Stage()
        let campaign = try stage.campaign(rows: Self.rows(10))
        let path = (campaign.runDirectory ?? "") + "/summary.json"
        let run = try CampaignRun(campaign)
        try FileManager.default.createDirectory(atPath: path + "/x", withIntermediateDirectories: true)
        let summary = try await run.send()
        #expect(summary.ending == .failed && summary.accepted == 10)
        #expect(summary.cause?.hasPrefix("cannot write \(path)") == true)
    }

    @Test("The second process in a new directory leaves nothing in it")
    func secondComer() async throws {
        let stage = try Stage()
        let campaign = try stage.campaign(rows: Self.rows(10))
        let first = try CampaignRun(campaign)
        func kindOfSecond() -> CampaignError.Code? {
            do {
                _ = try CampaignRun(campaign)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(kindOfSecond() == .busy)
        #expect(try FileManager.default.contentsOfDirectory(atPath: first.directory) == ["ledger"])
        #expect(try await first.send().ending == .complete)
        let path = first.directory + "/summary.json"
        let written = try Data(contentsOf: URL(filePath: path))
        #expect(kindOfSecond() == .configuration)
        #expect(try Data(contentsOf: URL(filePath: path)) == written)
        #expect(try stage.results(first).count == 10)
    }

    @Test("A directory without a run is refused")
    func nothingThere() throws {
        let stage = try Stage()
        let campaign = try stage.campaign(rows: Self.rows(1))
        #expect(try fault(campaign).contains("/ledger: No such file or directory"))
        #expect(throws: CampaignError.self) { try RunStatus(of: stage.directory.path) }
    }
}
