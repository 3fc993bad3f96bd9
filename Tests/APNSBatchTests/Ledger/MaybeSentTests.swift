import APNSBatchBasics
import APNSBatchSimulator
import APNSBatchTransport
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords

/// Tests that a row that may have been sent is never reported as unsent, no matter how its run continues.
@Suite("Resuming rows that may have been sent") struct MaybeSentTests {
    private static let payload = #""{""aps"":{""alert"":""Hi""}}""#

    private static func rows(_ count: Int) -> String {
        "token,payload\n" + (0..<count).map { "\(token($0)),\(payload)\n" }.joined()
    }

    /// Returns a campaign that was killed with requests in flight.
    private static func killed(
        _ stage: Stage, rows: Int, handed: Int?, policy: UnknownPolicy = .resend
    ) async throws -> (StagedCampaign, MemoryFiles) {
        var campaign = try stage.campaign(rows: Self.rows(rows))
        campaign.onUnknown = policy
        try FileManager.default.createDirectory(
            atPath: campaign.runDirectory ?? "", withIntermediateDirectories: true)
        let files = MemoryFiles()
        let summary = try await CampaignRun(campaign, files: files).send()
        try #require(summary.ending == .complete)
        return (campaign, try files.killed(handed: handed))
    }

    @Test(
        "Rows that may have been sent are unknown after the deadline, and only others are expired",
        arguments: UnknownPolicy.allCases)
    func late(policy: UnknownPolicy) async throws {
        let stage = try Stage()
        var (campaign, files) = try await Self.killed(stage, rows: 50, handed: 20, policy: policy)
        campaign.notAfter = .at(1_000_000_000)
        let summary = try await CampaignRun(campaign, resuming: true, files: files).send()
        #expect(summary.ending == .complete && summary.unknown == 20 && summary.expired == 30)
        let line = try #require(files.resultLines[1])
        #expect(line[2...4] == ["unknown", "", "in flight when the previous process ended"])
        #expect(line[6].count == 36 && line[7] == "1")
    }

    @Test("Rows that wait to be sent again when the deadline passes are unknown")
    func tooLate() async throws {
        let stage = try Stage()
        var (campaign, files) = try await Self.killed(stage, rows: 50, handed: 20)
        let fault = SimulatorFault(.reset(ResetFault(code: 7)), when: FaultOccasion(every: 1))
        let other = try Stage(script: SimulatorScript(faults: [fault]), occasion: stage.occasion)
        campaign.destination = .host("127.0.0.1", port: other.port)
        campaign.notAfter = .at(SystemClock.seconds() + 2)
        let summary = try await CampaignRun(campaign, resuming: true, files: files).send()
        #expect(summary.unknown == 20 && summary.expired == 30, "\(summary)")
    }

    @Test("A request whose answer has begun was processed, whatever the reset says")
    func refusedBehindFields() async throws {
        let fault = SimulatorFault(.reset(ResetFault(code: 7, answer: .fields)), when: FaultOccasion(every: 10))
        let stage = try Stage(script: SimulatorScript(faults: [fault]))
        var campaign = try stage.campaign(rows: Self.rows(500))
        campaign.onUnknown = .report
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.unknown == 50 && summary.accepted == 450 && summary.resent == 0, "\(summary)")
        let report = await stage.simulator.report()
        #expect(report.tokensReceivedAgain == 0)
    }

    @Test(
        "Rows of a run whose giving up was killed were not sent by that", arguments: UnknownPolicy.allCases,
        [nil, 20, 50])
    func killedGivingUp(policy: UnknownPolicy, handed: Int?) async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows(50))
        campaign.onUnknown = policy
        try FileManager.default.createDirectory(
            atPath: campaign.runDirectory ?? "", withIntermediateDirectories: true)
        let files = MemoryFiles()
        let run = try CampaignRun(campaign, files: files)
        run.abandon()
        #expect(try await run.send().expired == 50)
        let summary = try await CampaignRun(campaign, resuming: true, files: files.killed(handed: handed)).send()
        #expect(summary.accepted == 50 && summary.unknown == 0 && summary.resent == 0, "\(summary)")
    }

    @Test("Rows that may have been sent before a run was given up may still have been, wherever that was killed")
    func killedGivingUpAfterSending() async throws {
        let stage = try Stage()
        let (campaign, files) = try await Self.killed(stage, rows: 50, handed: 20, policy: .report)
        let run = try CampaignRun(campaign, resuming: true, files: files)
        run.abandon()
        #expect(try await run.send().ending == .complete)
        let killed = try files.killedInLastSession()
        let summary = try await CampaignRun(campaign, resuming: true, files: killed).send()
        #expect(summary.unknown == 20 && summary.accepted == 30, "\(summary)")
    }

    @Test("Space is reserved for the remaining rows of a range only")
    func room() async throws {
        let stage = try Stage()
        let (campaign, files) = try await Self.killed(stage, rows: 2000, handed: nil)
        var encoder = LedgerEncoder()
        encoder.add(LedgerSample.batch((1...1999).map { .init(row: $0, outcome: .accepted, status: 200) }))
        files.ledger.bytes += Array(encoder.bytes)
        files.ledger.capacity = files.ledger.length + 100_000
        let summary = try await CampaignRun(campaign, resuming: true, files: files).send()
        #expect(summary.ending == .complete && summary.accepted == 2000, "\(summary.cause ?? "")")
    }

    @Test("Rows are in the ledger before the hand-over record that named them is replaced")
    func recordLast() async throws {
        let stage = try Stage()
        let (campaign, files) = try await Self.killed(stage, rows: 50, handed: 20)
        let run = try CampaignRun(campaign, resuming: true, files: files)
        #expect(try await run.send().ending == .complete)
        // This is the state of the ledger when the hand-over record was replaced.
        #expect(files.handedAtOpening == [20])
    }

    @Test("Unknown rows of an earlier session do not fail the canary", arguments: [1, 3])
    func canary(lanes: Int) async throws {
        let stage = try Stage()
        var (campaign, files) = try await Self.killed(stage, rows: 50, handed: 20, policy: .report)
        campaign.lanes = lanes
        campaign.canary = .init(rows: 10)
        let summary = try await CampaignRun(campaign, resuming: true, files: files).send()
        #expect(summary.ending == .complete, "\(summary.cause ?? "")")
        #expect(summary.unknown == 20 && summary.accepted == 30)
    }

    @Test("Rows whose provider was removed are unknown, not invalid")
    func providerGone() async throws {
        let stage = try TeamsStage()
        var campaign = try stage.campaign(rows: TeamsStage.rows(30))
        try FileManager.default.createDirectory(
            atPath: campaign.runDirectory ?? "", withIntermediateDirectories: true)
        let before = MemoryFiles()
        _ = try await CampaignRun(campaign, files: before).send()
        let files = try before.killed(handed: 15)
        campaign.providers = Array(try stage.providers().prefix(1))
        let summary = try await CampaignRun(campaign, resuming: true, files: files).send()
        #expect(summary.accepted == 20 && summary.unknown == 5 && summary.invalid == 5)
    }

    /// Returns a run that lost the answers to its rows, and was stopped while they waited to be sent again.
    private static func stopped(_ policy: UnknownPolicy) async throws -> (Stage, StagedCampaign, MemoryFiles) {
        let fault = SimulatorFault(.reset(ResetFault(code: 2)), when: FaultOccasion(every: 1))
        let stage = try Stage(script: SimulatorScript(faults: [fault]))
        var campaign = try stage.campaign(
            rows: "token,payload,collapse_id\n"
                + (0..<20).map {
                    "\(token($0)),\(payload),\($0 < 10 ? "a" : "")\n"
                }.joined())
        campaign.onUnknown = policy
        campaign.retryDelay = .milliseconds(3_600_000)
        try FileManager.default.createDirectory(
            atPath: campaign.runDirectory ?? "", withIntermediateDirectories: true)
        let files = MemoryFiles()
        let run = try CampaignRun(campaign, files: files)
        let waiting = policy == .resend ? 20 : 10
        let stopper = try NamedThread("stopper") {
            while run.progress.retrying < waiting && run.failure == nil { usleep(1000) }
            run.stop()
        }
        let summary = try await run.send()
        stopper.join()
        try #require(summary.ending == .interrupted && summary.rows == 20 - waiting)
        return (stage, campaign, files)
    }

    @Test("Rows that waited when the run stopped are in the ledger as possibly sent")
    func waited() async throws {
        let (stage, campaign, files) = try await Self.stopped(.resend)
        let status = try RunStatus(
            try LedgerSample.read(files.ledger.bytes).history, notes: [], boot: files.boot, isFree: true)
        #expect(status.state == .ended && status.count(.unknown) == 20)
        var next = campaign
        next.onUnknown = .resendIfCollapsible
        let other = try Stage(occasion: stage.occasion)
        next.destination = .host("127.0.0.1", port: other.port)
        let summary = try await CampaignRun(next, resuming: true, files: files).send()
        #expect(summary.ending == .complete && summary.accepted == 10 && summary.unknown == 10)
    }

    @Test("Waiting rows that must not be sent twice are unknown when the run stops")
    func waitedWithReport() async throws {
        let (_, _, files) = try await Self.stopped(.resendIfCollapsible)
        let history = try LedgerSample.read(files.ledger.bytes).history
        #expect(history.isEnded && history.tally[.unknown] == 10)
        #expect(history.ranges.map(\.handed) == [10])
    }

    @Test("A refusal of a later request does not make a possibly accepted row rejected")
    func thenRefused() async throws {
        let lost = SimulatorFault(.reset(ResetFault(code: 2)), when: FaultOccasion(after: 1, times: 1))
        let stage = try Stage(
            script: SimulatorScript(
                rules: [SimulatorRule(share: 1, status: 503, reason: "ServiceUnavailable")], faults: [lost]))
        var campaign = try stage.campaign(rows: Self.rows(1))
        (campaign.attempts, campaign.retryDelay) = (2, .milliseconds(1))
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.unknown == 1 && summary.attempts == 2)
        #expect(
            try stage.results(run)[1]?[2...4]
                == ["unknown", "", "no answer to one request and 503 ServiceUnavailable to the last"])
    }
}
