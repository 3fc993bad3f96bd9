import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords
@testable import APNSBatchSending

@Suite("Account of a run") struct AccountTests {
    @Test("Unread rows are estimated from the remaining bytes, and exact at the end")
    func unread() {
        #expect(UnreadRows.estimate(rowsRead: 100, bytesRead: 1000, bytesTotal: 4000) == .estimated(300))
        #expect(UnreadRows.estimate(rowsRead: 100, bytesRead: 4000, bytesTotal: 4000) == .counted(0))
        #expect(UnreadRows.estimate(rowsRead: 0, bytesRead: 0, bytesTotal: 4000) == .unknown)
        #expect(UnreadRows.estimate(rowsRead: 5, bytesRead: 10, bytesTotal: nil) == .unknown)
    }

    @Test("Records are counted as the reader reads them, from any range on")
    func counting() throws {
        let stage = try Stage()
        let text = "token,payload\nA,\"x\ny\"\nB,z\nC,w"
        let path = try stage.write(text, to: "rows.csv")
        func count(from offset: UInt64?, bytes: Int) -> UInt64? {
            UnreadRows.count(in: path, .csv(.comma), from: offset, bytes: UInt64(bytes))
        }
        #expect(count(from: nil, bytes: text.utf8.count) == 3)
        #expect(count(from: 22, bytes: text.utf8.count) == 2)
        #expect(count(from: UInt64(text.utf8.count), bytes: text.utf8.count) == 0)
        #expect(count(from: nil, bytes: text.utf8.count + 1) == nil, "another input")
    }

    @Test("Progress is a share of rows, not of bytes that were read ahead")
    func fraction() {
        var progress = CampaignProgress()
        (progress.bytesRead, progress.bytesTotal) = (900, 1000)
        #expect(progress.fraction == nil)
        (progress.accepted, progress.invalid, progress.rowsTotal) = (20, 5, 100)
        #expect(progress.fraction == 0.25)
        var extent = RowEstimate()
        extent.note(rows: 45, bytes: 450)
        extent.note(rows: 9, bytes: 90)
        #expect(extent.rowsTotal(of: 1000) == 100 && extent.rowsTotal(of: nil) == nil)
        extent.note(rows: 99, bytes: 1000)
        #expect(extent.rowsTotal(of: 1000) == 99)
    }

    @Test("Figures are summed over sessions, with the last record of a session that was killed")
    func figures() throws {
        typealias Sample = LedgerSample
        let history = try Sample.read(
            Sample.ledger([
                { encoder, _ in encoder.add(Sample.header) }, { encoder, _ in encoder.add(Sample.session(1)) },
                { encoder, _ in encoder.add(SessionFigures(milliseconds: 1000, requests: 5, connections: 1)) },
                { encoder, _ in encoder.add(SessionFigures(milliseconds: 2000, requests: 9, connections: 2)) },
                { encoder, _ in encoder.add(Sample.session(2)) },
                { encoder, _ in encoder.add(SessionFigures(milliseconds: 500, requests: 1, connections: 1)) },
            ]).bytes
        ).history
        #expect(history.figures == SessionFigures(milliseconds: 2500, requests: 10, connections: 3))
        #expect(history.figuresOfSession == SessionFigures(milliseconds: 500, requests: 1, connections: 1))
    }

    @Test("Lane counts come from the last record that has them, summed over sessions")
    func lanes() throws {
        typealias Sample = LedgerSample
        func figures(_ retries: Int, requests: UInt64) -> SessionFigures {
            var figures = SessionFigures(milliseconds: 1000, requests: requests, connections: 1)
            var lanes = LaneAccount()
            for _ in 0..<retries { lanes.noteRetry(after: "503") }
            lanes.answerTimes.note(UInt32(retries))
            figures.lanes = lanes
            return figures
        }
        let (early, late, next) = (figures(1, requests: 5), figures(4, requests: 9), figures(2, requests: 3))
        let history = try Sample.read(
            Sample.ledger([
                { encoder, _ in encoder.add(Sample.header) }, { encoder, _ in encoder.add(Sample.session(1)) },
                { encoder, _ in encoder.add(early) }, { encoder, _ in encoder.add(late) },
                { encoder, _ in encoder.add(SessionFigures(milliseconds: 3000, requests: 12, connections: 1)) },
                { encoder, _ in encoder.add(Sample.session(2)) }, { encoder, _ in encoder.add(next) },
            ]).bytes
        ).history
        #expect(history.figures.requests == 15 && history.figures.lanes?.retries == ["503": 6])
        #expect(history.figures.lanes?.answerTimes.total == 2 && history.figures.lanes?.answerTimes.longest == 4)
        #expect(history.figuresOfSession == next)
    }

    @Test("Rows sent again after they may have arrived are counted")
    func resent() throws {
        typealias Sample = LedgerSample
        let history = try Sample.read(
            Sample.ledger(
                rows: 2,
                [
                    .init(row: 1, outcome: .accepted, status: 200, attempts: Attempts(bits: 2 | 1 << 15)),
                    .init(row: 2, outcome: .accepted, status: 200, attempts: 3),
                ])
        ).history
        #expect(history.tally == Tally(outcomes: [.accepted: 2], attempts: 5, resent: 1))
    }

    @Test("Resident sets are the kernel's figures for this process")
    func residentSet() {
        let expected: UInt64? = 35840 * 1024
        #expect(ProcessUsage.highWaterMark(in: "Name:\tx\nVmHWM:\t  35840 kB\nVmRSS:\t 1 kB\n") == expected)
        #expect(ProcessUsage.highWaterMark(in: "Name:\tx\n") == nil)
        #expect(ProcessUsage.residentPages(in: "12345 678 9 0\n") == 678 && ProcessUsage.residentPages(in: "") == nil)
        #expect(ProcessUsage.rssBytes > 1 << 20 && ProcessUsage.peakRSSBytes > 1 << 20)
    }

    @Test("Times are RFC 3339")
    func times() {
        #expect(CampaignSummary.Identity.time(1_700_000_000) == "2023-11-14T22:13:20Z")
        #expect(CampaignSummary.Identity.time(.max) == "9999-12-31T23:59:59Z")
    }
}
