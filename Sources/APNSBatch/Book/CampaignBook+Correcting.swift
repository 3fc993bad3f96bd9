import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows
import APNSBatchSending

extension CampaignBook {
    /// The directory of the run that is corrected by the run in a directory; nil if that is no correction.
    public static func correctedRun(by directory: String) -> String? {
        guard CorrectionRecord.exists(in: directory) else { return nil }
        return CorrectionPath(RunDirectory.absolute(directory))?.run ?? CorrectionRecord(in: directory)?.runDirectory
    }

    /// The directory of the next correction of a run, beside it: its absolute path, `-correction-` and a number from 1.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results`` if the history cannot be read.
    public func nextCorrection(of directory: String) throws(CampaignError) -> String {
        var path = CorrectionPath(run: RunDirectory.absolute(directory), number: 1)
        while try isOccupied(path.path) { path = CorrectionPath(run: path.run, number: path.number + 1) }
        return path.path
    }

    /// Decides about a start with corrected rows. A file is compared with those of earlier corrections; other inputs are when they have been read.
    func decision(correcting run: String, with input: RunInput) throws(CampaignError) -> Decision {
        let content = try look.wholeFile(input).map(CorrectedRows.content)
        let decision = CorrectionTable.decision(try correctionFacts(of: run, content, history.entries()))
        guard decision == .send, let reason = look.absence(of: input) else { return decision }
        return .wait(.absent(reason))
    }

    /// Enters the beginning of a correction, if its rows may be sent.
    ///
    /// - Parameter entry: The line of the history.
    func begin(_ rows: CorrectedRows?, of run: String, _ entry: BegunRun) throws(CampaignError) {
        guard let rows else {
            throw CampaignError(.configuration, "a correction is read before it is sent, and kept: spool is always")
        }
        while true {
            let content = try history.entries()
            let facts = try correctionFacts(of: run, rows.content, content, besides: entry.runDirectory)
            let decision = CorrectionTable.decision(facts)
            guard decision == .send else { throw Self.refusal(decision) }
            let opening = try RunOpening(of: run)
            let earlier = facts.corrections.compactMap { correction in
                CorrectionRecord(in: correction.directory).map {
                    CorrectionCheck.Earlier(directory: correction.directory, record: $0)
                }
            }
            if let text = try CorrectionCheck(run: run, earlier: earlier).objection(to: rows) {
                throw CampaignError(
                    .configuration,
                    "\(text); nothing was sent: leave only lines of not-sent.csv whose rows were not sent since")
            }
            let record = CorrectionRecord(
                campaign: campaign, runDirectory: RunDirectory.absolute(run), began: opening.began, input: rows.content,
                rows: rows.numbers)
            try record.write(to: entry.runDirectory)
            if try history.add(.began(entry), at: content.revision) { return }
        }
    }

    /// An error with a decision against sending.
    static func refusal(_ decision: Decision) -> CampaignError {
        let refusal = Refusal(decision)
        if case .busy = decision { return CampaignError(.busy, refusal.description, cause: refusal) }
        return CampaignError(.configuration, refusal.description, cause: refusal)
    }

    /// - Parameter own: A directory that this process has taken.
    private func correctionFacts(
        of run: String, _ content: KnownInput.Content?, _ entries: RunHistory.Content, besides own: String? = nil
    ) throws(CampaignError) -> CorrectionFacts {
        var facts = CorrectionFacts(run: run)
        guard RunDirectory.hasLedger(run) else { return facts }
        let found: RunOpening?
        do throws(CampaignError) {
            found = try RunOpening(ifBegunIn: run)
        } catch {
            facts.state = .lost
            return facts
        }
        guard let opening = found else { return facts }
        facts.state = Self.state(of: run) ?? .lost
        let there = try Self.corrections(
            of: run, opening.began, besides: own, in: Self.directories(of: history))
        let past = PastRuns(entries.all, of: campaign).corrections
        let givenUp = Set(past.filter(\.isAbandoned).map(\.key.runDirectory))
        let over = Set(past.filter(\.isOver).map(\.key.runDirectory))
        for (path, state) in there where !(state == .lost && givenUp.contains(path)) {
            let record = CorrectionRecord(in: path)
            let isUnnamed = record == nil && [.complete, .unfinished].contains(state)
            facts.corrections.append(
                .init(
                    directory: path, state: isUnnamed ? .unnamed : state,
                    hasInput: content != nil && record?.input == content, isOver: over.contains(path)))
        }
        let known = Set(there.map(\.path))
        // A correction whose directory is gone: it is unknown which rows it has sent.
        let absolute = RunDirectory.absolute(run)
        for gone in past
        where Self.names(gone.correctionOf, absolute) && !gone.isAbandoned && gone.key.began >= opening.began
            && !known.contains(gone.key.runDirectory) && gone.key.runDirectory != own
        {
            guard try BookFacts.Unfinished(of: gone.key)?.isLost == true else { continue }
            facts.corrections.append(.init(directory: gone.key.runDirectory, state: .lost))
        }
        return facts
    }

    /// Whether the history means the run of a directory, which may have been moved since.
    private static func names(_ run: String?, _ directory: String) -> Bool {
        guard let run, run != directory else { return run != nil }
        return !RunDirectory.exists(run) && run.split(separator: "/").last == directory.split(separator: "/").last
    }

    /// Nil for a directory without a run, in which no process works.
    private static func state(of directory: String) -> CorrectionFacts.State? {
        // Looked at first: a process that takes the directory meanwhile writes lines only when its ledger has the run.
        let hasNoLines = RunDirectory.hasNoLines(directory)
        do {
            guard let opening = try RunOpening(ifBegunIn: directory) else {
                if try RunDirectory.isTaken(directory) { return .atWork }
                return hasNoLines ? nil : .lost
            }
            if opening.isAtWork { return .atWork }
            return try CampaignSummary(ofCompleteRunIn: directory) == nil ? .unfinished : .complete
        } catch {
            return .lost
        }
    }

    /// The corrections of a run that have begun, or whose directories a process has taken, in the order of their numbers.
    ///
    /// - Parameters:
    ///   - began: When the run began: an earlier run of its directory may have had corrections, too.
    ///   - directories: Where they may be besides the directory that holds the run, which may have been moved.
    private static func corrections(
        of run: String, _ began: String, besides own: String? = nil, in directories: Set<String>
    ) throws(CampaignError) -> [(path: String, state: CorrectionFacts.State)] {
        let absolute = RunDirectory.absolute(run)
        var found: [(String, CorrectionFacts.State)] = []
        for place in try CorrectionPath.all(in: directories.union([RunDirectory.parent(of: absolute)]))
        where place.path != own && isCorrection(place, of: absolute, began) {
            if let state = state(of: place.path) { found.append((place.path, state)) }
        }
        return found
    }

    private static func isCorrection(_ place: CorrectionPath, of run: String, _ began: String) -> Bool {
        guard let record = CorrectionRecord(in: place.path) else { return place.run == run }
        guard record.began == began else { return false }
        // The run may have been moved or renamed, and another one may have begun in the same second.
        return place.run == run || ((try? RunOpening(ifBegunIn: place.run)) ?? nil)?.began != began
    }

    /// The directories that hold, or held, runs of the history.
    private static func directories(of history: RunHistory) throws(CampaignError) -> Set<String> {
        Set(
            try history.entries().all.compactMap(\.key).map { RunDirectory.parent(of: $0.runDirectory) } + [
                history.directory
            ])
    }

    /// Throws if rows of a run that ended as unavailable were corrected since: they would be sent twice.
    ///
    /// - Parameter history: The history of the campaign; nil if it has none.
    static func refuseReopening(
        of directory: String, began: String, history: RunHistory?
    ) throws(CampaignError) {
        let path = CorrectionPath(RunDirectory.absolute(directory))
        let isCorrection = CorrectionRecord.exists(in: directory)
        let (run, first) = isCorrection ? (path?.run ?? directory, path?.number ?? 0) : (directory, 0)
        let own = isCorrection ? CorrectionRecord(in: directory)?.began ?? began : began
        let places = try history.map { (history) throws(CampaignError) in try directories(of: history) } ?? []
        let later = try corrections(of: run, own, in: places).map(\.path).filter {
            (CorrectionPath($0)?.number ?? 0) > first
        }
        guard let last = later.last else { return }
        throw CampaignError(
            .configuration,
            "\(last) has rows of this run, corrected, and unavailable rows could be sent twice: send the others with --correction, too"
        )
    }
}
