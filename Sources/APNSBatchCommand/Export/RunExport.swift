import APNSBatch
import APNSBatchBasics
import APNSBatchPostgres

/// The export of a run to the table of `results_to`, during the run. A failure there delays nothing, and is reported.
final class RunExport: Sendable {
    private let target: ResultsTarget
    private let campaign: String
    private let state = Guarded(State())

    private struct State {
        var follower: ResultsFollower?
        /// Whether the run is over, and only the export is awaited.
        var isEnding = false
    }

    /// How long a run waits for the first answer of its database. It begins without one.
    private static let checkPatience: UInt64 = 3_000_000_000

    /// Returns nil if the settings have no `results_to`.
    ///
    /// - Parameter campaign: The name of the campaign.
    init?(_ settings: CampaignSettings, campaign: String?) throws {
        guard let target = try ResultsTarget(settings) else { return nil }
        // The name that campaigns without one have everywhere.
        (self.target, self.campaign) = (target, campaign ?? "campaign")
    }

    /// Throws if the table cannot take the results. A database that is out of reach is a warning.
    ///
    /// - Parameter columns: The columns that the campaign carries.
    func check(columns: [String]) throws {
        guard let doubt = try doubt(columns: columns) else { return }
        complain("warning: results_to: \(doubt); the run begins, and results follow as soon as they can")
    }

    /// Throws likewise. Returns why the database is out of reach; nil if it is not.
    func doubt(columns: [String]) throws -> String? {
        switch answer(columns) {
        case .success: nil
        case .failure(let error) where error.code == .unavailable: "\(error)"
        case .failure(let error): throw UsageError("results_to: \(error)", cause: error)
        case nil: "the database does not answer"
        }
    }

    /// Returns the result of a check of the table; nil if it takes too long.
    private func answer(_ columns: [String]) -> Result<Void, DatabaseError>? {
        let answer = Guarded<Result<Void, DatabaseError>?>(nil)
        let table = target.table
        let isStarted = NamedThread.tryDetached("export check") {
            let result: Result<Void, DatabaseError>
            do throws(DatabaseError) { result = .success(try table.check(columns: columns)) } catch {
                result = .failure(error)
            }
            answer.change { $0 = result }
        }
        return isStarted ? answer.wait(until: SystemClock.monotonic() + Self.checkPatience) { $0 } : nil
    }

    /// Begins to follow the run in a directory.
    func begin(_ directory: String) {
        do {
            let follower = try ResultsFollower(ofRunIn: directory, campaign: campaign, to: target.table) {
                complain("warning: \($0)")
            }
            state.withLock { $0.follower = follower }
        } catch {
            complain("warning: export: \(error)")
        }
    }

    /// Waits for the last results. Call it after the run. Returns and reports the number of those that are not in the table.
    func end(_ directory: String, _ output: OutputArguments) async -> UInt64 {
        let follower = state.withLock { state in
            state.isEnding = true
            return state.follower
        }
        let service = Task { await ServiceManager.shared.keepAlive() }
        defer { service.cancel() }
        let notice = Task { [target] in
            // Most exports end at once.
            guard (try? await Task.sleep(for: .seconds(2))) != nil else { return }
            output.say("export: waiting for the database, up to \(target.patience.components.seconds) s")
        }
        defer { notice.cancel() }
        guard let left = await follower?.finish(within: target.patience).left, left > 0 else { return 0 }
        complain(Self.text(left: left, directory))
        return left
    }

    /// `export: 120,000 rows not written; apns-batch export runs/tonight`.
    private static func text(left: UInt64, _ directory: String) -> String {
        "export: \(left.grouped) rows not written; apns-batch export \(directory.shellQuoted)"
    }

    /// Ends the waiting of `end`. Returns false without a waiting thread.
    @discardableResult
    func giveUp() -> Bool {
        let follower = state.withLock { $0.isEnding ? $0.follower : nil }
        follower?.giveUp()
        return follower != nil
    }

    /// Writes what earlier processes have left of a run that is complete. Returns the number of results that are still not in the table.
    static func complete(_ call: CampaignCall, _ directory: String, _ output: OutputArguments) async throws -> UInt64 {
        guard let export = try call.reporting({ try RunExport(call.settings, campaign: call.name) }) else { return 0 }
        export.begin(directory)
        return await export.end(directory, output)
    }
}

extension RunEnd {
    /// Returns how the run ended if results of it are not in the database.
    func exporting(left: UInt64) -> RunEnd {
        guard left > 0 else { return self }
        return RunEnd(
            exitCode: exitCode == .success ? ExitStatus.someRowsLeft : exitCode,
            verdict: "\(verdict); \(left.grouped) rows are not in the database", of: self)
    }
}
