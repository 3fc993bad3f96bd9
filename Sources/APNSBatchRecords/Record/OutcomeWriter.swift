import APNSBatchBasics
import APNSBatchModel

/// The writer's thread: takes outcome batches, has them recorded, and sees to it that all of it is durable before long.
package final class OutcomeWriter: @unchecked Sendable {
    // Owned by the writer's thread while it runs, read by others only after it was joined.
    /// Outcomes could not be recorded: rows without one may have been sent.
    private var hasLost = false
    /// Something was recorded since the last mark.
    private var isUnmarked = false
    private var nextMark: UInt64 = 0
    private var marks = 0
    /// What lanes count takes some kilobytes, and is written with the first of so many marks only.
    private static let marksPerAccount = 60
    /// As they stand in the ledger at its end.
    package private(set) var lastFigures: SessionFigures?

    private let record: RunRecord
    private let exchange: OutcomeExchange
    /// Nanoseconds.
    private let interval: UInt64
    private let figures: @Sendable (_ withLanes: Bool) -> SessionFigures?

    /// - Parameters:
    ///   - interval: nanoseconds from an outcome to the mark that covers it, at most.
    ///   - figures: what the session did so far, with what its lanes counted where that is asked for.
    package init(
        _ record: RunRecord, exchange: OutcomeExchange, interval: UInt64,
        figures: @escaping @Sendable (_ withLanes: Bool) -> SessionFigures? = { _ in nil }
    ) {
        self.record = record
        self.exchange = exchange
        self.interval = interval
        self.figures = figures
    }

    /// Runs until the exchange is closed; then everything is in the files and on the disk.
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

    /// One piece of work without waiting, for whoever has the clock in hand: false when there was none.
    package func step(now: UInt64) -> Bool {
        markIfDue(now: now)
        guard case .element(let batch) = exchange.filled.tryPop() else { return false }
        take(batch)
        return true
    }

    /// After the last outcome: everything is durable, and the ledger says that the run ended in order.
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
        batch.removeAll()
        exchange.free.push(batch)
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
