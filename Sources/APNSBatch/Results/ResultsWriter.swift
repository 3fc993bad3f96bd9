import APNSBatchNotification
import Glibc

/// The writer's thread: takes outcome batches, records them in the ledger, appends their lines to `results.csv`, counts
/// the reasons, and sees to it that all of it is durable before long.
final class ResultsWriter: @unchecked Sendable {
    /// What was recorded, and its lines.
    private struct Account: ~Copyable {
        var lines: ResultLines
        var reasons: OutcomeReasons
        var tally = Tally()

        /// Adds entries from one on, and their lines as far as there is room; gives the first that is not added.
        mutating func add(_ batch: OutcomeBatch, from first: Int, isWithoutLines: Bool) -> Int {
            for place in first..<batch.count {
                guard isWithoutLines || lines.hasRoom else { return place }
                let entry = batch.entries[place]
                tally.count(entry.outcome, attempts: entry.attempts)
                if entry.outcome.isAnswered && entry.reasonLength > 0 {
                    reasons.count(Reason(bytes: batch.reason(of: entry)), of: entry.outcome)
                } else if entry.outcome == .invalid {
                    reasons.count(invalid: entry.row, code: entry.status) {
                        String(decoding: batch.reason(of: entry), as: UTF8.self)
                    }
                }
                if !isWithoutLines { lines.append(entry, of: batch) }
            }
            return batch.count
        }
    }

    // Owned by the writer's thread while it runs, read by others only after it was joined.
    private var account: Account
    private var tokens = TokenRegister(bits: TokenRegister.bitsOfRun)
    private var failure: CampaignError?
    /// Outcomes could not be recorded: rows without one may have been sent.
    private var hasLost = false
    /// No more of them: the results could not be written, and the ledger tells all.
    private var isWithoutLines = false
    /// Something was recorded since the last mark.
    private var isUnmarked = false
    private var nextMark: UInt64 = 0
    private var marks = 0
    /// What lanes count is written with the first of so many marks only: it takes some kilobytes.
    private static let marksPerAccount = 60

    private let ledger: RunLedger
    private let exchange: OutcomeExchange
    private let control: RunControl
    /// Nanoseconds.
    private let interval: UInt64
    /// What the session did so far, with what its lanes counted where that is asked for.
    private let figures: @Sendable (_ withLanes: Bool) -> SessionFigures?
    /// As they stand in the ledger at its end.
    private(set) var lastFigures: SessionFigures?

    /// - Parameters:
    ///   - carried: columns of the input that each line has.
    ///   - reasons: counted before.
    init(
        ledger: RunLedger, campaign: (UInt64, UInt64), carried: Int = 0, reasons: OutcomeReasons = OutcomeReasons(),
        exchange: OutcomeExchange,
        control: RunControl, interval: UInt64, lineBytes: Int = ResultLines.usualCapacity,
        figures: @escaping @Sendable (_ withLanes: Bool) -> SessionFigures? = { _ in nil }
    ) {
        self.ledger = ledger
        self.exchange = exchange
        self.control = control
        self.interval = interval
        self.figures = figures
        account = Account(
            lines: ResultLines(campaign: campaign, carried: carried, capacity: lineBytes), reasons: reasons)
    }

    /// Runs until the exchange is closed; then everything is in the files and on the disk.
    func run() {
        nextMark = Self.now() + interval
        while true {
            switch isUnmarked ? exchange.filled.pop(until: nextMark) : waited() {
            case .element(let batch): take(batch)
            case .nothingYet: break
            case .closed: return end()
            }
            markIfDue(now: Self.now())
        }
    }

    /// One piece of work without waiting, for whoever has the clock in hand: false when there was none.
    func step(now: UInt64) -> Bool {
        markIfDue(now: now)
        guard case .element(let batch) = exchange.filled.tryPop() else { return false }
        take(batch)
        return true
    }

    /// After the last outcome: everything is durable, and the ledger says that the run ended in order.
    func end() {
        flush()
        lastFigures = figures(true)
        do {
            if !hasLost {
                try ledger.end(hasLines: !isWithoutLines, lastFigures)
            } else if !isWithoutLines {
                try ledger.mark(lastFigures)
            }
        } catch {
            fail(error)
        }
    }

    /// After the thread was joined: outcomes and answers by reason, as they were recorded, and what went wrong.
    func finish() -> (tally: Tally, reasons: OutcomeReasons, failure: CampaignError?) {
        (account.tally, account.reasons, failure)
    }

    private func waited() -> BoundedQueue<OutcomeBatch>.Taken {
        exchange.filled.pop().map { .element($0) } ?? .closed
    }

    /// After the thread was joined: tokens of several rows, and those of another size than all have today.
    var tokenFindings: (duplicate: DuplicateTokens?, unusual: UnusualTokens?) {
        (tokens.duplicates, tokens.unusualTokens)
    }

    private func take(_ batch: OutcomeBatch) {
        tokens.note(batch)
        record(batch)
        batch.removeAll()
        exchange.free.push(batch)
    }

    private func record(_ batch: OutcomeBatch) {
        // The ledger first: a line without a record would be one too many after a kill.
        do {
            try ledger.record(batch)
        } catch {
            hasLost = true
            return fail(error)
        }
        isUnmarked = true
        // One access for many entries: each would be checked for exclusivity.
        var place = 0
        while true {
            place = account.add(batch, from: place, isWithoutLines: isWithoutLines)
            guard place < batch.count else { return }
            flush()
        }
    }

    private func markIfDue(now: UInt64) {
        guard isUnmarked, now >= nextMark else { return }
        nextMark = now + interval
        isUnmarked = false
        flush()
        guard !isWithoutLines else { return }
        do {
            try ledger.mark(figures(marks % Self.marksPerAccount == 0))
            marks += 1
        } catch {
            isWithoutLines = true
            fail(error)
        }
    }

    private func flush() {
        guard !isWithoutLines else { return }
        do {
            try ledger.write(account.lines.bytes)
        } catch {
            isWithoutLines = true
            fail(error)
        }
        account.lines.removeAll()
    }

    /// What cannot be written stops the campaign: nothing more may be sent that could not be accounted for. What was sent
    /// is recorded as long as the ledger takes it.
    private func fail(_ error: StorageError) {
        let error = CampaignError(.results, "\(error)")
        failure = failure ?? error
        control.stop(.failure(error))
    }

    /// Nanoseconds of the monotonic clock.
    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// The text of the current errno, or of another.
func systemMessage(_ code: Int32 = errno) -> String { String(cString: strerror(code)) }
