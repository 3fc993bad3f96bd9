import APNSBatchRecords
import Testing

/// Which runs of a history count.
@Suite("The runs of a history") struct PastRunsTests {
    private static let campaign = KnownCampaign(name: "news", environment: "production", topic: "com.example.app")

    private static func began(
        _ began: String, in directory: String = "/runs/tonight", ledger: String?, topic: String = campaign.topic
    ) -> HistoryEntry {
        var own = campaign
        own.topic = topic
        return .began(
            BegunRun(
                campaign: own, runDirectory: directory, began: began, time: began, process: 1, input: nil,
                message: "message", ledger: ledger))
    }

    private static func correction(_ began: String) -> BegunRun {
        BegunRun(
            campaign: campaign, runDirectory: "/runs/tonight-correction-1", began: began, time: began, process: 1,
            input: nil, message: "message", correctionOf: "/runs/tonight")
    }

    @Test func `a correction is none of the runs, also when it was resumed or given up`() {
        let correction = Self.correction("2026-11-21T04:00:00Z")
        for later in [HistoryEntry.began(correction), .abandoned(correction)] {
            let past = PastRuns(
                [Self.began("2026-11-21T03:00:00Z", ledger: nil), .began(correction), later], of: Self.campaign)
            #expect(past.runs.map(\.key.runDirectory) == ["/runs/tonight"])
            #expect(past.corrections.map(\.key) == [correction.key])
            #expect(past.corrections.first?.correctionOf == "/runs/tonight")
        }
        // Only the line of its end says what became of it: it is none of the runs either.
        let lost = PastRuns([.abandoned(correction)], of: Self.campaign)
        #expect(lost.runs.isEmpty && lost.corrections.map(\.isAbandoned) == [true])
    }

    private func runs(_ entries: HistoryEntry...) -> [String] {
        PastRuns(entries, of: Self.campaign).runs.map(\.key.began)
    }

    @Test func `a run whose ledger another one found empty has sent nothing, and is none`() {
        let first = Self.began("2026-11-21T03:00:00Z", ledger: "1:2")
        #expect(runs(first) == ["2026-11-21T03:00:00Z"])
        #expect(runs(first, Self.began("2026-11-21T04:00:00Z", ledger: "1:2")) == ["2026-11-21T04:00:00Z"])
        // The directory is the same, whichever campaign has it.
        #expect(runs(first, Self.began("2026-11-21T04:00:00Z", ledger: "1:2", topic: "com.example.other")).isEmpty)
    }

    @Test func `a run whose ledger was another one, or is not known, may have sent rows`() {
        let both = ["2026-11-21T03:00:00Z", "2026-11-21T04:00:00Z"]
        for (first, second) in [("1:2", "1:3"), (nil, "1:2"), ("1:2", nil), (nil, nil)] as [(String?, String?)] {
            #expect(runs(Self.began(both[0], ledger: first), Self.began(both[1], ledger: second)) == both)
        }
        let elsewhere = Self.began(both[1], in: "/runs/other", ledger: "1:2")
        #expect(runs(Self.began(both[0], ledger: "1:2"), elsewhere) == both)
    }
}
