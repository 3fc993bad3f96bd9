import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows
import APNSBatchSending
import Synchronization

/// One thread of a check. It prepares rows like a lane, and releases them at once.
struct CheckWorker: ~Copyable {
    private let plan: CampaignPlan
    private let chunks: BoundedQueue<InputChunk>
    private let control: RunControl
    private let gauges: LaneGauges
    private var cursor: RowCursor
    private var preparer: RowPreparer
    private var arena = SendArena(blocks: 1)
    private var flights = FlightTable(capacity: 1)
    private var findings: FindingTally
    private let tokens: SharedTokens
    private let now = SystemClock.seconds()
    private let passesOverSome: Bool

    init(
        _ plan: CampaignPlan, chunks: BoundedQueue<InputChunk>, cursor: consuming RowCursor, control: RunControl,
        gauges: LaneGauges, tokens: SharedTokens, file: FindingsFile?
    ) {
        self.tokens = tokens
        passesOverSome = plan.passesOverSome
        self.plan = plan
        self.chunks = chunks
        self.control = control
        self.gauges = gauges
        self.cursor = cursor
        preparer = RowPreparer(plan: plan, isRehearsal: true)
        findings = FindingTally(file: file)
    }

    /// Checks chunks until there are no more or the check is stopped.
    mutating func run() {
        var row = Row()
        while !control.stopping, let chunk = chunks.pop()?.chunk {
            cursor.open(chunk)
            while cursor.next(into: &row) { look(at: row) }
            chunk.recycle()
            publish()
        }
    }

    mutating func finish(into report: inout CheckReport) { findings.finish(into: &report) }

    private mutating func look(at row: Row) {
        if passesOverSome, plan.passesOver(row) {
            return findings.addUnselected()
        }
        switch preparer.prepare(row, in: &arena, flights: &flights, now: now) {
        case .ready(let place):
            let isBroadcast = plan.broadcast != nil
            let other = unsafe isBroadcast ? nil : tokens.note(flights[place].record.recipient, row: row.row)
            flights.release(place, in: &arena)
            if let size = preparer.payloadSize { findings.sizes.add(size, row: row.row) }
            findings.sizes.bytesSaved += UInt64(max(0, preparer.bytesSaved(row)))
            good(row, sameToken: other)
        case .invalid(let first): bad(row, first)
        case .expired: findings.add([RowFault.expired(row, plan)], row: row.row)
        case .noRoom: preconditionFailure("the arena is empty")
        }
    }

    /// Adds a row that would be sent, with its warnings.
    @inline(__always)
    private mutating func good(_ row: Row, sameToken other: UInt64?) {
        let hasCard = preparer.holdsCardNumber()
        var headers = preparer.headerWarnings(of: row)
        if let other {
            let message = "token: row \(other) has the same token"
            headers.append(RowFault.finding(.duplicateToken, plan.roles.token, row, plan, message))
        }
        // A row is looked at again only for what its payload may have: many rows of a list may have the same token.
        let isOdd = preparer.verdict.hasWarning || hasCard || preparer.hasOddTopic(row)
        guard isOdd || !headers.isEmpty else { return findings.addClean() }
        let warnings = isOdd ? headers + preparer.findings(of: row, cardNumbers: hasCard) : headers
        if warnings.isEmpty { findings.addClean() } else { findings.add(warnings, row: row.row) }
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
