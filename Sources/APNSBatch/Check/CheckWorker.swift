import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchPlanning
import APNSBatchRows
import APNSBatchSending
import Synchronization

/// One thread of a check. It prepares rows like a lane, and releases them at once.
struct CheckWorker: ~Copyable {
    private let plan: CampaignPlan
    private let pass: PlanPass
    private let control: RunControl
    private let gauges: LaneGauges
    private var cursor: RowCursor
    private var preparer: RowPreparer
    private var arena = SendArena(blocks: 1)
    private var flights = FlightTable(capacity: 1)
    private var findings: FindingTally
    private var tokens: CheckedTokens
    private let now = SystemClock.seconds()
    private let passesOverSome: Bool

    init(
        _ plan: CampaignPlan, pass: PlanPass, cursor: consuming RowCursor, control: RunControl, gauges: LaneGauges,
        tokens: consuming CheckedTokens, file: FindingsFile?
    ) {
        self.tokens = tokens
        passesOverSome = plan.passesOverSome
        self.plan = plan
        self.pass = pass
        self.control = control
        self.gauges = gauges
        self.cursor = cursor
        preparer = RowPreparer(plan: plan, isRehearsal: true)
        findings = FindingTally(file: file)
    }

    /// Checks chunks until there are no more or the check is stopped.
    mutating func run() {
        var row = Row()
        while !control.stopping, let chunk = pass.next() {
            cursor.open(chunk)
            while cursor.next(into: &row) { look(at: row) }
            chunk.recycle()
            publish()
        }
        tokens.passOn()
    }

    mutating func finish(into report: inout CheckReport) { findings.finish(into: &report) }

    private mutating func look(at row: Row) {
        if passesOverSome, plan.passesOver(row) {
            return findings.addUnselected()
        }
        switch preparer.prepare(row, in: &arena, flights: &flights, now: now) {
        case .ready(let place):
            let digest = plan.broadcast == nil ? CheckedTokens.digest(of: flights[place].record.recipient) : nil
            flights.release(place, in: &arena)
            if let size = preparer.payloadSize { findings.sizes.add(size, row: row.row) }
            findings.sizes.bytesSaved += UInt64(max(0, preparer.bytesSaved(row)))
            let hasWarning = good(row)
            if let digest { note(digest, of: row, hasWarning: hasWarning) }
        case .invalid(let first): bad(row, first)
        case .expired: findings.add([RowFault.expired(row, plan)], row: row.row)
        case .noRoom: preconditionFailure("the arena is empty")
        }
    }

    /// Adds a row that would be sent, and returns whether it has warnings.
    @inline(__always)
    private mutating func good(_ row: Row) -> Bool {
        let hasCard = preparer.holdsCardNumber()
        var warnings = preparer.headerWarnings(of: row)
        if preparer.verdict.hasWarning || hasCard || preparer.hasOddTopic(row) {
            warnings += preparer.findings(of: row, cardNumbers: hasCard)
        }
        if warnings.isEmpty { findings.addClean() } else { findings.add(warnings, row: row.row) }
        return !warnings.isEmpty
    }

    @inline(__always)
    private mutating func note(_ digest: (UInt64, UInt64), of row: Row, hasWarning: Bool) {
        let (line, column) = row.place(of: plan.roles.token)
        tokens.note(digest, row: row.row, at: TokenPlace(line: line, column: column, hasWarning: hasWarning))
    }

    /// Adds the first error of a row that would not be sent, or all errors of its payload.
    private mutating func bad(_ row: Row, _ first: RowFinding) {
        if preparer.sizeTooLarge > 0 { findings.sizes.add(preparer.sizeTooLarge, row: row.row) }
        // An error of the template itself is reported once, and not for every row.
        if preparer.isReportedOnce(first) { return findings.addBad() }
        let all = preparer.findings(of: row, cardNumbers: true)
        findings.add(all.contains(first) ? all : [first] + all, row: row.row)
    }

    private func publish() {
        let (bad, others) = (findings.rowsWithErrors, findings.rowsNotSelected)
        gauges.publish(
            [.accepted: findings.rows - bad - others, .invalid: bad, .suppressed: others], connections: 0, streams: 0,
            inFlight: 0, opened: 0)
    }
}
