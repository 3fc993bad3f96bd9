import APNSBatchBasics
import APNSBatchNotification

/// Counts the outcomes of a run for its report, by outcome and by reason, and finds tokens that several rows have.
package final class OutcomeAccount: OutcomeReceiver {
    private let state: Guarded<State>

    private struct State: ~Copyable {
        var tally = Tally()
        var reasons: OutcomeReasons
        var tokens = TokenRegister(bits: TokenRegister.bitsOfRun)
    }

    /// - Parameter reasons: The counts of earlier sessions of the run.
    package init(reasons: OutcomeReasons = OutcomeReasons()) { state = Guarded(State(reasons: reasons)) }

    /// The outcomes of this session.
    package var tally: Tally { state.withLock { $0.tally } }

    /// The reasons of all sessions.
    package var reasons: OutcomeReasons { state.withLock { $0.reasons } }

    /// The tokens that several rows have, and the tokens whose length is not 32 bytes.
    package var tokens: (duplicate: DuplicateTokens?, unusual: UnusualTokens?) {
        state.withLock { ($0.tokens.duplicates, $0.tokens.unusualTokens) }
    }

    package func take(_ batch: OutcomeBatch) {
        state.withLock { state in
            state.tokens.note(batch)
            for index in 0..<batch.count {
                let entry = unsafe batch.entries[index]
                state.tally.count(entry.outcome, attempts: entry.attempts)
                if entry.outcome.isAnswered && entry.reasonLength > 0 {
                    unsafe state.reasons.count(Reason(bytes: batch.reason(of: entry)), of: entry.outcome)
                } else if entry.outcome == .invalid {
                    state.reasons.count(invalid: entry.row, code: entry.rule) {
                        unsafe String(decoding: batch.reason(of: entry), as: UTF8.self)
                    }
                }
            }
        }
    }
}
