import APNSBatchBasics
import APNSBatchSimulator
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords

/// Tests of what a run says that it is held back by, with a server.
@Suite(.ownThread, .serialized) struct HeldBackTests {
    /// Plays a run with a server that stops reading or writing after 200 requests, until it is held back by something. Returns its last
    /// progress.
    private static func progress(
        without side: StallFault.Side, streamWindow: UInt32 = 0,
        until isEnough: @escaping @Sendable (CampaignProgress) -> Bool
    ) async throws -> CampaignProgress {
        let fault = SimulatorFault(.stall(StallFault(side: side)), when: FaultOccasion(after: 200))
        let stage = try Stage(script: SimulatorScript(faults: [fault])) { $0.streamWindow = streamWindow }
        let text = String(repeating: "x", count: 3_000)
        var campaign = try stage.campaign(rows: "token,text\n" + (0..<5_000).map { "\(token($0)),\(text)\n" }.joined())
        campaign.template = .init(json: Array(#"{"aps":{"alert":"{{text}}"}}"#.utf8), name: "t.json")
        (campaign.lanes, campaign.connections) = (1, 1)
        let run = try CampaignRun(campaign)
        let sending = Task { try await run.send() }
        let found = Guarded(CampaignProgress())
        let deadline = SystemClock.monotonicSeconds() + 60
        await eventually {
            let progress = run.progress
            found.withLock { $0 = progress }
            return isEnough(progress) || SystemClock.monotonicSeconds() > deadline
        }
        run.stopAtOnce()
        _ = try await sending.value
        return found.withLock { $0 }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a server that opens no flow-control window is named as that`() async throws {
        let progress = try await Self.progress(without: .reading, streamWindow: 64) { $0.heldBackBy == .windows }
        #expect(progress.heldBackBy == .windows)
    }

    @Test(.timeLimit(.minutes(2)))
    func `streams that are free are not said to be in use`() async throws {
        let progress = try await Self.progress(without: .writing) { $0.heldBackBy == .answers }
        #expect(progress.heldBackBy == .answers && progress.inFlight < progress.streams, "\(progress)")
    }
}

@Suite("Sessions that were killed") struct KilledSessionTests {
    @Test("Every session that did not end in order counts, also those before the last one")
    func count() throws {
        var history = LedgerHistory()
        #expect(history.killedSessions == 0)
        try history.take(LedgerSample.header)
        #expect(history.killedSessions == 0)
        try history.take(LedgerSample.session(1))
        #expect(history.killedSessions == 1, "it has not ended")
        try history.take(LedgerSample.session(2))
        #expect(history.killedSessions == 2)
        try history.takeEnd(isInputRead: false)
        #expect(history.killedSessions == 1)
        try history.take(LedgerSample.session(3))
        try history.takeEnd(isInputRead: true)
        #expect(history.killedSessions == 1)
    }
}
