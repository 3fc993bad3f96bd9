import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchSending
import FoundationEssentials
import Glibc

/// The history of one campaign, and its consequences for the next start: which input was sent, which run is not finished.
///
/// The same rules hold at the start of a ``CampaignRun`` whose campaign has ``Campaign/book``: it throws the ``Refusal`` of a decision other
/// than ``Decision/send``, as the cause of its error, before anything is sent. A program asks first, so that it can continue a run instead.
///
/// ```swift
/// let decision = try CampaignBook(campaign)?.decision(for: .file("rows.csv"))
/// if case .resume(let directory) = decision { print("continue \(directory)") }
/// ```
public struct CampaignBook: Sendable {
    /// What a start does.
    @nonexhaustive
    public enum Decision: Sendable, Equatable {
        /// Send the input, in a run of its own.
        case send
        /// Resume the run in this directory: it has sent a part of the input.
        case resume(String)
        /// Resume the run in this directory, whose rows are there, to its end; then ask again.
        case finish(String)
        /// Send nothing: the complete run in this directory has sent what this night has to send.
        case answer(String)
        /// Another process is working on the run in this directory, which sends the input.
        case busy(String)
        /// Send nothing yet: the input may come by itself.
        case wait(Absence)
        /// Send nothing: a person must decide.
        case refuse(Objection)
    }

    /// Why there is nothing to send yet.
    @nonexhaustive
    public enum Absence: Sendable, Equatable {
        /// The input is not there. The text names it, and the reason.
        case absent(String)
        /// The input is the one that the complete run in this directory has sent in an earlier night.
        case sent(by: String)
    }

    /// Why a person must decide. Each case has the directory of a run.
    @nonexhaustive
    public enum Objection: Sendable, Equatable {
        /// A complete run of this night has sent another input.
        case another(String)
        /// A run of this night has the same rows, with another template or other header fields.
        case changed(by: String)
        /// A run was given up that has sent a part of the input, or may have.
        case abandoned(by: String)
        /// An unfinished run of another input has begun to send rows of this one.
        case shared(by: String)
        /// A complete run has sent some of the files.
        case partlySent(files: [String], by: String)
        /// A run has sent this many of the first rows of the input.
        case grown(from: String, rows: UInt64)
        /// A run has sent a part of the input, or may have, and its ledger or its rows are gone.
        case lost(String)
        /// The run of a correction cannot be corrected, for this reason.
        case correction(String)
    }

    /// A decision against sending, as an error.
    public struct Refusal: Error, Sendable, CustomStringConvertible {
        /// What to do instead.
        public let decision: Decision
        /// A sentence without a full stop.
        public let description: String

        /// Explains a decision.
        public init(_ decision: Decision) {
            self.decision = decision
            description = BookText.sentence(decision)
        }
    }

    let history: RunHistory
    let campaign: KnownCampaign
    /// The digest of template and header fields.
    let digest: [UInt8]
    /// The same in base64. Hex digits would look like a device token.
    let message: String
    let rules: Campaign.BookRules
    let look: InputLook
    private let runDirectory: String?

    /// Nothing is read. Nil for a campaign without rules, ``Campaign/book``.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/system`` if no digest can be computed.
    public init?(_ campaign: Campaign) throws(CampaignError) {
        guard let rules = campaign.book else { return nil }
        (self.rules, history) = (rules, RunHistory(rules.directory))
        self.campaign = KnownCampaign(campaign)
        digest = try CampaignDigest.of(campaign)
        message = Data(digest).base64EncodedString()
        (look, runDirectory) = (InputLook(campaign), campaign.runDirectory)
    }

    /// Decides what a start with this input does. Reads the history and, where it may have been sent before, the input. A run in
    /// ``Campaign/runDirectory`` that the history does not have is entered.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results`` if the history or a ledger cannot be read, with
    ///   ``CampaignError/Code/input`` if the input cannot, and with ``CampaignError/Code/configuration`` if the run directory has a run of
    ///   another environment or topic.
    public func decision(for input: CampaignInput) throws(CampaignError) -> Decision {
        if let runDirectory { try takeIn(runDirectory) }
        let input = try RunInput(input)
        if let run = rules.correcting { return try decision(correcting: run, with: input) }
        return try decision(try seen(input), history.entries())
    }

    /// Decides like ``decision(for:)``, and writes nothing: for a program that needs the effect of a start in advance.
    ///
    /// - Throws: ``CampaignError``, as ``decision(for:)`` does.
    public func outlook(for input: CampaignInput) throws(CampaignError) -> Decision {
        let input = try RunInput(input)
        if let run = rules.correcting { return try decision(correcting: run, with: input) }
        var content = try history.entries()
        if let runDirectory { content.all += try missing(of: runDirectory) }
        return try decision(try seen(input), content)
    }

    private func seen(_ input: RunInput) throws(CampaignError) -> Seen {
        if let reason = look.absence(of: input) { return .absent(reason) }
        return look.seen(input).map { .seen($0) } ?? (input.isProduced ? .produced : .unread)
    }

    /// The input of a start, as far as it is known.
    private enum Seen {
        case absent(String)
        case unread
        case produced
        /// It is sent while it is read, and nothing is known of it.
        case unknown
        case seen(KnownInput)
    }

    private func decision(_ input: Seen, _ content: RunHistory.Content) throws(CampaignError) -> Decision {
        BookTable.decision(try facts(input, content), rules)
    }

    /// Whether a run of the campaign has a directory, or had it and left files there.
    public func isOccupied(_ directory: String) throws(CampaignError) -> Bool {
        // The lines first, and then the ledger: another process may write them meanwhile.
        let hasNoLines = RunDirectory.hasNoLines(directory)
        do {
            if try RunOpening(ifBegunIn: directory) != nil { return true }
            // A start that ended before its ledger had anything sent nothing, and the next one has its directory.
            if hasNoLines, RunDirectory.hasLedger(directory) { return false }
            guard RunDirectory.hasResults(directory) else { return false }
        } catch {
            // A ledger that cannot be read may be that of another program.
        }
        let path = RunDirectory.absolute(directory)
        return try history.entries().all.contains { $0.key?.runDirectory == path }
    }

    /// The complete run of a directory in the history; nil if there is none.
    public func recorded(in directory: String) throws(CampaignError) -> RecordedRun? {
        try history.runs().last { $0.runDirectory == RunDirectory.absolute(directory) }
    }

    /// Says which lines of the history cannot be understood, in one sentence without a full stop; nil if there are none.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results`` if the history cannot be read.
    public func damage() throws(CampaignError) -> String? { try history.damage() }

    /// Whether two paths name one directory.
    public static func isSame(_ path: String, _ other: String) -> Bool {
        RunDirectory.absolute(path) == RunDirectory.absolute(other)
    }

    /// The unfinished runs of the campaign, the oldest first.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results`` if the history or a ledger cannot be read.
    public func unfinished() throws(CampaignError) -> [UnfinishedRun] {
        try history.unfinished(of: campaign)
    }

    private static var now: String { CampaignSummary.Identity.time(SystemClock.seconds()) }

    /// What is known of an input that was opened for a run.
    ///
    /// - Parameters:
    ///   - copied: What was read of it for a copy in the run directory; nil if there is none.
    ///   - copy: The path of the copy.
    ///   - reader: The reader of an input that is not copied. No other thread reads from it.
    /// - Throws: an error if the reader cannot return to its first row.
    func known(
        _ input: RunInput, _ copied: CopiedInput?, copy: String?, opened reader: InputReader?
    ) throws(CampaignError) -> KnownInput? {
        try look.known(input, copied, copy: copy, opened: reader)
    }

    /// Enters the beginning of a run, if the decision about it is to send.
    ///
    /// - Parameters:
    ///   - input: What is known of the input, which was opened.
    ///   - directory: The run directory, which belongs to this process.
    ///   - ledger: What identifies the file of the ledger, which is empty.
    ///   - start: When the run began, in seconds since 1970-01-01 00:00 UTC.
    ///   - corrected: The rows of a correction.
    func begin(
        _ input: KnownInput?, in directory: String, ledger: String?, start: UInt64, corrected: CorrectedRows? = nil
    ) throws(CampaignError) {
        var entry = entry(of: directory, began: CampaignSummary.Identity.time(start), input: input)
        entry.ledger = ledger
        if let run = rules.correcting { return try begin(corrected, of: run, entry) }
        while true {
            let content = try history.entries()
            let facts = try facts(input.map { .seen($0) } ?? .unknown, content, beginning: entry)
            let decision = BookTable.decision(facts, rules)
            guard decision == .send else { throw Self.refusal(decision) }
            guard try history.add(.began(entry), at: content.revision) else { continue }
            for run in facts.superseded { _ = try history.abandon(run.directory, began: run.began) }
            return
        }
    }

    /// Enters that another session of a run has begun, if the history does not have the run, or if the session may send rows again which
    /// had outcomes.
    ///
    /// - Parameter start: When the run began, in seconds since 1970-01-01 00:00 UTC.
    func resume(
        in directory: String, start: UInt64, reopening: Bool
    ) throws(CampaignError) {
        var entry = entry(of: directory, began: CampaignSummary.Identity.time(start), input: nil)
        if try !has(entry.key) { try takeIn(directory) }
        guard reopening else { return }
        entry.time = Self.now
        _ = try history.add(.began(entry))
    }

    private func entry(of directory: String, began: String, input: KnownInput?) -> BegunRun {
        BegunRun(
            campaign: campaign, runDirectory: RunDirectory.absolute(directory), began: began, time: began,
            process: UInt32(getpid()), input: input, message: message,
            correctionOf: rules.correcting.map(RunDirectory.absolute) ?? Self.corrected(by: directory))
    }

    /// The absolute path of the run that is corrected by the run in a directory; nil if that is no correction.
    static func corrected(by directory: String) -> String? { correctedRun(by: directory).map(RunDirectory.absolute) }

    private func has(_ key: RunKey) throws(CampaignError) -> Bool {
        try history.entries().all.contains { if case .began(let run) = $0 { run.key == key } else { false } }
    }

    // MARK: What the history has

    /// A run of the history without an end, and the content of its directory.
    private struct Open {
        let run: PastRuns.Run
        let state: BookFacts.Unfinished
    }

    private func unfinishedRuns(_ past: [PastRuns.Run], taken: String? = nil) throws(CampaignError) -> [Open] {
        var open: [Open] = []
        for run in past where !run.isOver {
            if run.key.runDirectory == taken {
                // Its ledger was removed: the one that is there belongs to this process.
                let state = BookFacts.Unfinished(
                    directory: run.key.runDirectory, isLost: true, isOther: run.message != message,
                    began: run.key.began)
                open.append(Open(run: run, state: state))
                continue
            }
            guard var state = try BookFacts.Unfinished(of: run.key) else { continue }
            (state.isOther, state.isEarlier) = (run.message != message, !Night(rules).has(run.key))
            state.isUnfinishable = rules.unfinishable.contains { RunDirectory.absolute($0) == run.key.runDirectory }
            open.append(Open(run: run, state: state))
        }
        return open
    }

    /// What an input is to the unfinished runs; nil if none of them has begun to send its rows.
    private func relation(
        of input: KnownInput, to open: [Open], _ night: Night
    ) throws(CampaignError) -> BookFacts.Input? {
        for open in relevant(open, night) where try look.holds(input, of: open.run, open.state) {
            return open.state.isOther ? .changed(by: open.run.key.runDirectory) : .unfinished(open.state)
        }
        // The rows of a stream that was not kept are unknown.
        if input.isStream,
            let run = open.last(where: { $0.run.input == nil && $0.state.isLost && night.has($0.run.key) })
        {
            return .unfinished(run.state)
        }
        for open in relevant(open, night) where try isShared(input, with: open, night) {
            return open.state.isOther ? .changed(by: open.run.key.runDirectory) : .shared(open.state)
        }
        return nil
    }

    /// The runs whose rows may be those of an input, the latest first.
    private func relevant(_ open: [Open], _ night: Night) -> [Open] {
        open.reversed().filter { open in
            if night.has(open.run.key) { return true }
            // Another template makes another message of the same rows, but not in one night. Once each night, only what can be finished
            // of earlier nights counts.
            return !open.state.isOther && !(rules.repeatsNightly && open.state.isLost)
        }
    }

    private func isShared(_ input: KnownInput, with open: Open, _ night: Night) throws(CampaignError) -> Bool {
        if rules.repeatsNightly, !night.has(open.run.key) { return false }
        return try look.shares(input, with: open.run, open.state)
    }

    /// The unfinished runs whose rows an input has, too.
    private func superseded(
        by input: KnownInput, in open: [Open], _ night: Night
    ) throws(CampaignError) -> [BookFacts.Unfinished] {
        var found: [BookFacts.Unfinished] = []
        for run in relevant(open, night) where !run.state.isAtWork {
            let isHeld = try look.holds(input, of: run.run, run.state)
            if isHeld {
                found.append(run.state)
            } else if try isShared(input, with: run, night) {
                found.append(run.state)
            }
        }
        return found
    }

    /// The time that belongs to the night of a start.
    struct Night {
        private let began: String
        private let ends: String

        /// A clock that was ahead, or that of another machine, is wrong by less than an hour; a run that began later than that belongs to no
        /// night.
        init(_ rules: Campaign.BookRules, now: UInt64 = SystemClock.seconds()) {
            began = CampaignSummary.Identity.time(rules.nightBegan)
            ends = CampaignSummary.Identity.time(max(now, rules.nightBegan) + 3600)
        }

        func has(_ run: RunKey) -> Bool { run.began >= began && run.began <= ends }
    }

    /// - Parameter entry: The beginning of a run that this process is about to enter, whose directory it has taken.
    private func facts(
        _ input: Seen, _ content: RunHistory.Content, beginning entry: BegunRun? = nil
    ) throws(CampaignError) -> BookFacts {
        let entries = content.all + (entry.map { [.began($0)] } ?? [])
        let past = PastRuns(entries, of: campaign).runs.filter { $0.key != entry?.key }
        let open = try unfinishedRuns(past, taken: entry?.runDirectory)
        let over = past.compactMap(\.over)
        let night = Night(rules)
        var facts = BookFacts(input: .new)
        let finished = rules.finished.map(RunDirectory.absolute)
        let tonight = over.filter { night.has($0.key) && !$0.isAbandoned }.map(\.key.runDirectory)
        facts.completeTonight = tonight.last
        facts.sentTonight = tonight.last { !finished.contains($0) }
        // It may have sent these rows: the content of a stream is unknown before it is read.
        let stream = open.last { night.has($0.run.key) && $0.run.isOfStream }
        let lost = stream.flatMap { $0.state.isLost && $0.run.input == nil ? $0.state : nil }
        // Nor whether it has other rows than the one whose run was given up, unless another run was complete since.
        let givenUp =
            facts.completeTonight != nil
            ? nil : over.last { $0.isAbandoned && night.has($0.key) && $0.isOfStream }?.key.runDirectory
        switch input {
        case .absent(let reason): facts.input = .absent(reason)
        case .unread: facts.input = lost.map { .unfinished($0) } ?? .unread
        case .produced:
            facts.input = stream.map { .unfinished($0.state) } ?? givenUp.map { .abandoned(by: $0) } ?? .produced
        case .unknown: facts.input = stream.map { .shared($0.state) } ?? givenUp.map { .abandoned(by: $0) } ?? .new
        case .seen(let known):
            if let found = try relation(of: known, to: open, night) {
                facts.input = found
            } else {
                // Once each night, what earlier nights have sent does not matter.
                let others = over.filter { !rules.repeatsNightly || night.has($0.key) }
                facts.input = try look.relation(of: known, to: others, message: message, night)
            }
        }
        if rules.again, entry != nil {
            if case .seen(let known) = input { facts.superseded = try superseded(by: known, in: open, night) }
            if case .shared(let state) = facts.input, facts.superseded.isEmpty { facts.superseded = [state] }
        }
        facts.unfinished = open.map(\.state).filter { state in
            if case .unfinished(state) = facts.input { false } else { true }
        }
        return facts
    }
}

extension KnownCampaign {
    init(_ campaign: Campaign) {
        self.init(
            name: campaign.name, environment: CampaignDigest.environmentName(campaign.destination),
            topic: Printable.message(campaign.headers.topic ?? ""))
    }
}

extension PastRuns.Run {
    /// Whether its input was no file.
    var isOfStream: Bool { input?.isStream ?? true }

    /// The run, if it is over; nil if not. A process that was killed before it could enter the end has left that in the run directory.
    fileprivate var over: PastRuns.Run? {
        if isOver { return self }
        guard let summary = (try? CampaignSummary(ofCompleteRunIn: key.runDirectory)) ?? nil,
            summary.campaign.began == key.began
        else { return nil }
        var run = self
        run.rows = summary.rows
        if let sum = summary.campaign.inputCRC32C { run.take([.init(sum: sum)]) }
        return run
    }
}

extension BookFacts.Unfinished {
    /// Returns nil for a run that is complete, or from which nothing was sent. A run whose ledger cannot be read is lost, and one whose rows
    /// are gone.
    init?(of key: RunKey) throws(CampaignError) {
        self.init(directory: key.runDirectory, began: key.began)
        guard RunDirectory.exists(key.runDirectory) else {
            isLost = true
            return
        }
        // Another process may write these files meanwhile, the ledger first: lines that are seen before a ledger without a run are no
        // lines of the run that begins in it.
        let hasNoLines = RunDirectory.hasNoLines(key.runDirectory)
        let found: RunOpening?
        do throws(CampaignError) {
            found = try RunOpening(ifBegunIn: key.runDirectory)
        } catch {
            if error.saysNothing { throw error }
            isLost = true
            return
        }
        guard let opening = found else {
            // The run was entered before its ledger had anything: nothing was sent, but a process may be about to. A directory without
            // a ledger had one.
            isLost = !RunDirectory.hasLedger(key.runDirectory) || !hasNoLines
            if isLost { return }
            isAtWork = try RunDirectory.isTaken(key.runDirectory)
            if isAtWork { return }
            return nil
        }
        guard opening.began == key.began else {
            // Another run has the directory now.
            isLost = true
            return
        }
        (isKept, isAtWork) = (opening.keepsRows, opening.isAtWork)
        if isAtWork { return }
        do throws(CampaignError) {
            if try CampaignSummary(ofCompleteRunIn: key.runDirectory) != nil { return nil }
            let status = try RunStatus(of: key.runDirectory)
            // Its first rows were refused, or none came.
            if !opening.header.isResumable, status.rowsRead == 0 { return nil }
            isLost =
                !opening.header.isResumable || RunDirectory.lacksKeptRows(opening, in: key.runDirectory)
        } catch {
            if error.saysNothing { throw error }
            isLost = true
        }
    }
}
