import APNSBatchBasics
import APNSBatchModel

/// The body of the writer thread: takes batches of outcomes, records them, and makes them durable at regular intervals.
package final class OutcomeWriter: @unchecked Sendable {
    // Only the writer thread uses these while it runs. Other threads read them only after joining it.
    /// Whether outcomes could not be recorded. Rows without an outcome may then have been sent.
    private var hasLost = false
    /// Whether something was recorded since the last mark.
    private var isUnmarked = false
    private var nextMark: UInt64 = 0
    private var marks = 0
    /// The counters of lanes take some kilobytes, so only one of 60 marks is followed by them.
    private static let marksPerAccount = 60
    /// The figures that the ledger ends with.
    package private(set) var lastFigures: SessionFigures?

    private let record: RunRecord
    private let exchange: OutcomeExchange
    /// In nanoseconds.
    private let interval: UInt64
    private let figures: @Sendable (_ withLanes: Bool) -> SessionFigures?

    /// - Parameters:
    ///   - interval: the maximum time from an outcome to the mark that covers it, in nanoseconds.
    ///   - figures: returns the figures of the session so far, with the counters of its lanes if requested.
    package init(
        _ record: RunRecord, exchange: OutcomeExchange, interval: UInt64,
        figures: @escaping @Sendable (_ withLanes: Bool) -> SessionFigures? = { _ in nil }
    ) {
        self.record = record
        self.exchange = exchange
        self.interval = interval
        self.figures = figures
    }

    /// Runs until the exchange is closed, and returns when everything is in the files and durable.
    package func run() {
        nextMark = SystemClock.monotonic() + interval
        while true {
            switch isUnmarked ? exchange.filled.pop(until: nextMark) : waited() {
            case .element(let batch): take(batch)
            case .nothingYet: break
            case .closed: return end()
            }
            markIfDue(now: SystemClock.monotonic())
        }
    }

    /// Does one piece of work without waiting, for callers that control the clock; returns false if there was none.
    package func step(now: UInt64) -> Bool {
        markIfDue(now: now)
        guard case .element(let batch) = exchange.filled.tryPop() else { return false }
        take(batch)
        return true
    }

    /// Makes everything durable after the last outcome, and records that the session ended in order, unless outcomes were
    /// lost.
    package func end() {
        lastFigures = figures(true)
        do {
            if hasLost { try record.mark(lastFigures) } else { try record.end(lastFigures) }
        } catch {
            record.fail(error)
        }
    }

    private func waited() -> BoundedQueue<OutcomeBatch>.Taken {
        exchange.filled.pop().map { .element($0) } ?? .closed
    }

    private func take(_ batch: OutcomeBatch) {
        do {
            try record.record(batch)
            isUnmarked = true
        } catch {
            hasLost = true
            record.fail(error)
        }
        exchange.release(batch)
    }

    private func markIfDue(now: UInt64) {
        guard isUnmarked, now >= nextMark else { return }
        nextMark = now + interval
        isUnmarked = false
        do {
            try record.mark(figures(marks % Self.marksPerAccount == 0))
            marks += 1
        } catch {
            record.fail(error)
        }
    }
}
