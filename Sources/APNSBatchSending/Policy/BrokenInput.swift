import APNSBatchBasics
import APNSBatchModel
import APNSBatchRows

/// Whether an input is broken as a whole, by the share of its rows that are invalid.
extension CircuitBreaker.Rule {
    /// The rule of a campaign that gives no share: more than half.
    static let brokenInput = {
        var rule = CircuitBreaker.Rule(.invalidRows, percent: 50)
        rule.allowsLimit = true
        return rule
    }()

    /// The limit, as messages name it.
    var limitText: String {
        let percent = CircuitBreaker.Trip.percent(percent)
        return allowsLimit ? "more than \(percent)" : "the limit is \(percent)"
    }
}

extension CircuitBreaker.Limits {
    /// The number of rows that are judged of every input before the first push.
    static let firstRows: UInt64 = 1000

    /// The limits while rows are sent. Without a share of the campaign's own, the rule for the first rows before the first push is not
    /// applied to fewer of them afterwards: while no stream is free yet, invalid rows end and valid ones wait.
    var whileSending: Self {
        var limits = self
        if rules == [.brokenInput] { limits.minimum = max(minimum, Self.firstRows) }
        return limits
    }
}

/// Counts the rows of a run while they are sent, over all lanes, and reports when too many of the latest ones are invalid.
package final class InvalidRowsWatch: Sendable {
    private struct State {
        var breaker: CircuitBreaker
        var lanes: [(rows: UInt64, invalid: UInt64)]
    }

    private let state: Guarded<State>

    init(_ limits: CircuitBreaker.Limits, lanes: Int) {
        state = Guarded(State(breaker: CircuitBreaker(limits), lanes: Array(repeating: (0, 0), count: lanes)))
    }

    /// Notes what a lane has taken of the input since the start of its session. Rows that it has given back since, because the run ends,
    /// count all the same. Returns a trip if a limit is reached, once.
    func note(lane: Int, rows: UInt64, invalid: UInt64) -> CircuitBreaker.Trip? {
        state.withLock { state in
            state.lanes[lane] = (max(rows, state.lanes[lane].rows), max(invalid, state.lanes[lane].invalid))
            let all = state.lanes.reduce(into: (rows: UInt64(0), invalid: UInt64(0))) {
                ($0.rows, $0.invalid) = ($0.rows + $1.rows, $0.invalid + $1.invalid)
            }
            return state.breaker.note(answered: all.rows) { _ in all.invalid }
        }
    }
}

extension CircuitBreaker.Trip {
    /// The error of a run that was stopped while it sent.
    func error(ofInput input: String) -> CampaignError {
        let share = Self.percent(Double(count) * 100 / Double(answers))
        return CampaignError(
            .configuration,
            "\(input): \(count.grouped) of the last \(answers.grouped) rows are invalid (\(share), \(rule.limitText)): "
                + "invalid_rules in summary.json has the places of the first ones; the remaining rows are not sent: correct the input "
                + "and send it, or resume the run with stop_at: { invalid: never }")
    }
}
