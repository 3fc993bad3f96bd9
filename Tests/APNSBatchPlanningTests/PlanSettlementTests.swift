import APNSBatchBasics
import Testing

@testable import APNSBatchModel
@testable import APNSBatchPlanning
@testable import APNSBatchRecords
@testable import APNSBatchRows

@Suite("Session 0: rows that a plan suppresses") struct PlanSettlementTests {
    private let given = PlanMakerTests.Given(3_000, seed: 11)

    private static let session = LedgerSession.planned(
        process: 42, time: 1_800_000_001, boot: (3, 4), policy: .report)

    private func header(_ seal: PlanSeal?) -> LedgerHeader {
        LedgerHeader(
            identity: (7, 8), start: 1_800_000_000, digest: Array(0..<32), inputBytes: 4_711, columnsSum: 9,
            inputName: "rows.csv", note: Array("note".utf8), plan: seal)
    }

    private func read(_ ledger: PlanStorage) throws(LedgerReader.Failure) -> LedgerContent {
        try LedgerContent(ledger, boot: (3, 4))
    }

    /// One process: begins the session, or goes on with it. Throws if its disk fails.
    private func work(_ ledger: PlanStorage, _ plan: PlanStorage, _ seal: PlanSeal) throws {
        let session: PlannedSession
        if let content = try? read(ledger) {
            guard PlannedSession.isDue(in: content.history, suppressed: 1) else { return }
            session = try PlannedSession(continuing: content, Self.session)
        } else {
            // A ledger without a whole header is a new one.
            ledger.bytes = []
            session = try PlannedSession(in: ledger, of: header(seal), Self.session)
        }
        let input = try PlanMakerTests.reader(given.text, threads: 1)
        var settlement = PlanSettlement(input, cursor: input.makeCursor()) { row, batch in
            batch.append(
                row: row.row, outcome: .suppressed, code: 0, attempts: 0, timestamp: OutcomeEntry.noTimestamp,
                token: row.fields[0], reason: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        try settlement.run(PlanReader(plan), into: session)
    }

    private func expectSettled(_ ledger: PlanStorage, _ plan: MadePlan) throws {
        let history = try read(ledger).history
        #expect(history.isEnded && history.isInputRead && history.header == header(plan.seal))
        #expect(history.session?.number == LedgerSession.planned && history.nextSession == 1)
        #expect(history.ranges.count == Int(plan.facts.ranges) && history.rows == plan.facts.rows)
        #expect(history.tally[.suppressed] == plan.facts.suppressed && history.tally.rows == plan.facts.suppressed)
        #expect(history.killedSessions == 0)
        let done = history.ranges.flatMap { range in (0..<range.facts.rows).map { range.isDone($0) } }
        #expect(done == given.isSuppressed)
        #expect(history.ranges.allSatisfy { history.handed($0, handOvers: nil) == 0 })
    }

    @Test("Suppressed rows have their outcomes, and the others are left to the first session")
    func whole() throws {
        let (plan, made) = try PlanMakerTests.plan(of: given)
        let ledger = PlanStorage()
        try work(ledger, plan, made.seal)
        try expectSettled(ledger, made)
    }

    @Test("A process that was killed at any write is continued by the next one")
    func kills() throws {
        let (plan, made) = try PlanMakerTests.plan(of: given)
        var calls = 0
        while true {
            let ledger = PlanStorage()
            ledger.callsLeft = calls
            let isWhole = (try? work(ledger, plan, made.seal)) != nil
            // The next process is killed, too, and the one after it is not.
            for left in [2, Int.max] where !isWhole {
                ledger.callsLeft = left
                _ = try? work(ledger, plan, made.seal)
            }
            try expectSettled(ledger, made)
            if isWhole { break }
            calls += 1
        }
        #expect(calls > 5)
    }

    @Test("An input that has changed since its plan is refused")
    func changed() throws {
        let (plan, made) = try PlanMakerTests.plan(of: given)
        var other = given
        other.keys[1_500] += 1
        let session = try PlannedSession(in: PlanStorage(), of: header(made.seal), Self.session)
        let input = try PlanMakerTests.reader(other.text, threads: 1)
        var settlement = PlanSettlement(input, cursor: input.makeCursor()) { _, _ in }
        do throws(PlanSettlement.Failure) {
            let reader: PlanReader
            do throws(PlanReader.Failure) { reader = try PlanReader(plan) } catch { throw .plan(error) }
            try settlement.run(reader, into: session)
            Issue.record("changed rows are no error")
        } catch .input(let error) {
            #expect(error.message(input: "rows.csv").contains("rows"))
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("Session 0 is due while suppressed rows lack outcomes")
    func due() throws {
        var history = LedgerHistory()
        try history.take(header(PlanSeal(bytes: 64, sum: 1)))
        #expect(PlannedSession.isDue(in: history, suppressed: 1))
        #expect(!PlannedSession.isDue(in: history, suppressed: 0))
        try history.take(Self.session)
        #expect(PlannedSession.isDue(in: history, suppressed: 0))
        try history.takeEnd(isInputRead: true)
        #expect(!PlannedSession.isDue(in: history, suppressed: 1))
    }

    @Test("A ledger has the seal of a plan in its header, and one without a plan is as before")
    func seal() throws {
        for seal in [nil, PlanSeal(bytes: 1 << 40, sum: 0xFFFF_FFFF)] {
            var encoder = LedgerEncoder()
            encoder.add(header(seal))
            let ledger = PlanStorage(Array(encoder.bytes))
            #expect(try read(ledger).history.header == header(seal))
            let frame = try #require(LedgerFrame(encoder.bytes))
            #expect(frame.fixedLength == (seal == nil ? 80 : 96))
        }
    }

    @Test("A session 0 is that of a plan, the first one, and sends nothing")
    func misplaced() throws {
        func session(_ number: UInt32, sendsNothing: Bool = true) -> LedgerSession {
            LedgerSession(
                number: number, process: 42, time: 1, boot: (3, 4), policy: .report, sendsNothing: sendsNothing)
        }
        func take(_ seal: PlanSeal?, _ sessions: [LedgerSession]) throws(LedgerHistory.Fault) -> LedgerHistory {
            var history = LedgerHistory()
            try history.take(header(seal))
            for session in sessions { try history.take(session) }
            return history
        }
        let seal = PlanSeal(bytes: 64, sum: 1)
        #expect(try take(seal, [session(0), session(1)]).session?.number == 1)
        #expect(try take(seal, [session(1)]).session?.number == 1)
        #expect(throws: LedgerHistory.Fault.misplaced) { try take(nil, [session(0)]) }
        #expect(throws: LedgerHistory.Fault.misplaced) { try take(seal, [session(0, sendsNothing: false)]) }
        #expect(throws: LedgerHistory.Fault.misplaced) { try take(seal, [session(1), session(0)]) }
        #expect(throws: LedgerHistory.Fault.misplaced) { try take(seal, [session(0), session(0)]) }
        #expect(throws: LedgerHistory.Fault.misplaced) { try take(seal, [session(0), session(2)]) }
    }

    @Test(
        "Each error of a plan names the file and what to do",
        arguments: [
            .notOne, .damaged(at: 17), .foreign, .newer, .storage(StorageError("read", "runs/1/plan", code: 5)),
        ] as [PlanReader.Failure])
    func messages(failure: PlanReader.Failure) {
        let error = failure.error(in: "runs/1")
        #expect(error.code == .results && error.description.contains("runs/1/plan"))
        if case .storage = failure { return }
        #expect(error.description.contains("nothing is sent; re"), "\(error)")
    }
}
