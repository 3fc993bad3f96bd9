import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows

/// Prepares rows of an input as a lane does, without sending them, and refuses an input that is broken as a whole.
///
/// A run judges its first rows. It judges all of them only where the campaign limits how many may be invalid. Used by one thread.
package final class InputJudge {
    /// Which rows are judged.
    package enum Scope: Sendable, Equatable {
        case first
        /// The share in the latest rows is judged as it is while they are sent, and expectations are judged at the end.
        case all
    }

    private let plan: CampaignPlan
    private let scope: Scope
    private let expectations: ExpectationJudge
    /// Nil if no share of invalid rows is too large.
    private let rule: CircuitBreaker.Rule?
    private var breaker: CircuitBreaker
    private var cursor: RowCursor
    private var preparer: RowPreparer
    private var arena = SendArena(blocks: 1)
    private var flights = FlightTable(capacity: 1)
    private var found = JudgedRows()
    private var trip: CircuitBreaker.Trip?

    private static let firstRows = CircuitBreaker.Limits.firstRows
    /// Where nearly all rows are left out, no more are looked at.
    private static let leftOutMax: UInt64 = 100_000
    /// The number of rows after which the share in the latest ones is looked at.
    private static let step: UInt64 = 64

    /// - Parameters:
    ///   - expectations: Those of the campaign. Only with ``Scope/all`` they are judged, and replace the standard share.
    ///   - cursor: A cursor of the reader whose chunks are judged.
    package init(
        _ plan: CampaignPlan, _ scope: Scope, _ expectations: ExpectationJudge, cursor: consuming RowCursor
    ) {
        (self.plan, self.scope, self.expectations) = (plan, scope, expectations)
        self.cursor = cursor
        preparer = RowPreparer(plan: plan, isRehearsal: true, looksAtTexts: false)
        let given = plan.brokenInput.rules.first
        rule = given == .brokenInput && scope == .all ? nil : given
        breaker = CircuitBreaker(plan.brokenInput)
    }

    /// Judges chunks of an input that can be read only once, before their rows are sent. With few rows, there is no judgement until there are
    /// more, or the input has ended.
    ///
    /// - Parameter isLast: Whether the input ends with the chunks.
    /// - Returns: Why their rows must not be sent; nil if they may be.
    package func refusal(of group: [InputChunk], isLast: Bool) -> CampaignError? {
        guard !isEnough else { return nil }
        let isFirst = found.rows == 0
        note(group)
        guard isLast || found.rows >= min(plan.brokenInput.minimum, Self.firstRows), let error else { return nil }
        return isFirst ? error : self.error(after: "the rows before these may have been sent, and the others are not")
    }

    /// Looks at rows that will not be sent, as far as they are judged.
    package func note(_ group: [InputChunk]) {
        for next in group where !isEnough { next.chunk.parsedBefore { look(at: next.chunk) } }
    }

    /// Whether no further rows are judged.
    var isEnough: Bool {
        trip != nil
            || scope == .first && (found.rows >= Self.firstRows || found.suppressed >= plan.firstRow + Self.leftOutMax)
    }

    /// Looks at rows whose chunk nobody parses afterwards, as far as they are judged.
    func look(at chunk: RowChunk) {
        var row = Row()
        cursor.open(chunk)
        while !isEnough, cursor.next(into: &row) { look(at: row) }
    }

    private func look(at row: Row) {
        if plan.passesOver(row) { return found.addSuppressed() }
        switch preparer.prepare(row, in: &arena, flights: &flights, now: plan.start) {
        case .ready(let place):
            flights.release(place, in: &arena)
            found.addValid()
        case .invalid(let finding): found.add(finding, row: row.row)
        case .expired: found.addValid()
        case .noRoom: preconditionFailure("the arena is empty")
        }
        guard scope == .all, rule != nil, found.rows % Self.step == 0 else { return }
        trip = breaker.note(.init(answered: found.rows, refused: [found.invalid]))
    }

    /// Why an input of these rows is not sent; nil if it is.
    package var error: CampaignError? { isBroken ? error(after: "nothing was sent") : unmet }

    private var isBroken: Bool {
        trip != nil || rule?.isBroken(by: found.invalid, of: found.rows) == true
    }

    private func error(after what: String) -> CampaignError {
        let limit = rule?.limitText ?? ""
        let cure = "correct the input, or send its other rows with stop_at: { invalid: never }"
        return CampaignError(
            .configuration, "\(plan.inputName): \(shares), \(limit): \(found.causes); \(what): \(cure)")
    }

    /// Such as `990 of the first 1,000 rows are invalid`.
    private var shares: String {
        if let trip {
            return "\(trip.count.grouped) of \(trip.answers.grouped) rows up to row "
                + "\((found.suppressed + found.rows).grouped) are invalid"
        }
        let isAll = scope == .all || found.rows < Self.firstRows
        return "\(found.invalid.grouped) of \(isAll ? "" : "the first ")\(found.rows.grouped) rows are invalid"
    }

    private var unmet: CampaignError? {
        guard scope == .all else { return nil }
        let rows = found.rows + found.suppressed
        guard let unmet = expectations.unmet(invalid: found.invalid, of: rows, suppressed: found.suppressed) else {
            return nil
        }
        let causes = found.invalid == 0 ? "" : ": \(found.causes)"
        return CampaignError(
            .configuration, "expect: \(plan.inputName): \(unmet.sentence)\(causes); nothing was sent: correct the input"
        )
    }
}
