import APNSBatchBasics
import APNSBatchRecords

/// Writes the results of a run into a table during the run.
///
/// ```swift
/// let table = try ResultsTable(in: "service=push")
/// try table.check(columns: campaign.resultColumns)
/// let run = try CampaignRun(campaign, input: .file("rows.csv"))
/// let follower = try ResultsFollower(ofRunIn: run.directory, campaign: campaign.name, to: table) { print($0) }
/// let summary = try await run.send()
/// let rowsLeft = await follower.finish(within: .seconds(600)).left
/// ```
///
/// A separate thread reads what is durable in the ledger, once or twice a second. The run does not depend on it and waits for
/// nothing: a database that is slow or down holds up no push. The thread then connects again, after a growing pause of up to 30 seconds.
/// What it has not written at the end, a ``ResultsExport`` writes later.
public final class ResultsFollower: Sendable {
    private struct State {
        var progress = ExportProgress()
        /// Whether the run is over, so that everything in the ledger counts.
        var isFinishing = false
        /// Whether the thread is to end after its present transaction.
        var isGivenUp = false
        /// Whether the thread does nothing more.
        var isOver = false
    }

    private let state = Guarded(State())
    private let directory: String
    private let tell: @Sendable (String) -> Void

    /// In nanoseconds.
    private static let (interval, firstPause, longestPause) = (
        500_000_000 as UInt64, 1_000_000_000 as UInt64, 30_000_000_000 as UInt64
    )

    /// Begins to follow.
    ///
    /// - Parameters:
    ///   - directory: The run directory, which may not hold the run yet.
    ///   - campaign: The name of the campaign, for the column `campaign`.
    ///   - table: The table.
    ///   - tell: Receives a sentence for the operator when results cannot be written, and when they can again. It is called on the
    ///     thread of the follower.
    /// - Throws: ``DatabaseError`` with `unavailable` if the system has no further thread.
    public init(
        ofRunIn directory: String, campaign: String, to table: ResultsTable,
        tell: @escaping @Sendable (String) -> Void
    ) throws(DatabaseError) {
        (self.directory, self.tell) = (directory, tell)
        let isStarted = NamedThread.tryDetached("export") { [self] in
            follow(ExportWork(table, ofRunIn: directory, campaign: campaign))
            state.change { $0.isOver = true }
        }
        guard isStarted else { throw DatabaseError(.unavailable, "the system has no thread for the export") }
    }

    /// What is recorded and written so far.
    public var progress: ExportProgress { state.withLock { $0.progress } }

    /// Waits until all results are written. Call it after the run has ended.
    ///
    /// - Parameter patience: The longest time to wait.
    /// - Returns: What was recorded and is written. If something is left, no further transaction is begun.
    public func finish(within patience: Duration) async -> ExportProgress {
        state.change { $0.isFinishing = true }
        let deadline = SystemClock.monotonic() + patience.nanoseconds
        while !state.withLock({ $0.isOver || $0.isGivenUp }), SystemClock.monotonic() < deadline {
            try? await Task.sleep(for: .milliseconds(20))
            if Task.isCancelled { break }
        }
        giveUp()
        var progress = progress
        progress.recorded = max(progress.recorded, Self.recorded(directory))
        return progress
    }

    /// Ends the following after the present transaction, and a ``finish(within:)`` that waits.
    public func giveUp() { state.change { $0.isGivenUp = true } }

    /// Returns the number of results in a ledger to which nothing is appended. The thread may not have read all of them, because it waits
    /// for a server.
    private static func recorded(_ directory: String) -> UInt64 {
        guard var outcomes = try? RecordedOutcomes(ifBegunIn: directory) else { return 0 }
        try? outcomes.settle()
        return outcomes.rowsDurable
    }

    // MARK: The thread

    private func follow(_ work: ExportWork) {
        var pause = Self.firstPause
        var trouble: DatabaseError?
        while !state.withLock({ $0.isGivenUp }) {
            let isFinishing = state.withLock { $0.isFinishing }
            do throws(DatabaseError) {
                let isBegun = try work.look(all: isFinishing)
                publish(work)
                let hasWritten = isBegun ? try work.step() : false
                publish(work)
                if isBegun, trouble != nil { tell("export: results are written again") }
                if isBegun { (trouble, pause) = (nil, Self.firstPause) }
                if hasWritten { continue }
                if isFinishing { return }
                wait(Self.interval) { $0.isFinishing }
            } catch {
                if error != trouble { tell("export: \(error); " + Self.consequence(error)) }
                if error.code != .unavailable { return }
                trouble = error
                // The end of the run is a reason to look at its ledger again, and to try once more.
                wait(pause) { $0.isFinishing != isFinishing }
                pause = min(2 * pause, Self.longestPause)
            }
        }
    }

    private static func consequence(_ error: DatabaseError) -> String {
        error.code == .unavailable ? "the run continues, and it is tried again" : "no results are written any more"
    }

    private func publish(_ work: ExportWork) { state.withLock { $0.progress = work.progress } }

    /// Waits for a time, or until the state is reached or the export is given up.
    private func wait(_ time: UInt64, until isWanted: (State) -> Bool) {
        _ = state.wait(until: SystemClock.monotonic() + time) { $0.isGivenUp || isWanted($0) ? true : nil }
    }
}
