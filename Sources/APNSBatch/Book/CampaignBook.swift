import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchSending
import FoundationEssentials
import Glibc

/// The history of one campaign, and what it says about the next start: which input was sent, which run is not finished.
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
        /// Resume the run in this directory, which has kept its rows, to its end; then ask again.
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
        /// The input is not there. The text says which one, and why.
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
        /// A complete run has sent some of the files.
        case partlySent(files: [String], by: String)
        /// A run has sent the first rows of the input, so many.
        case grown(from: String, rows: UInt64)
        /// A run has sent a part of the input, and its record is gone.
        case lost(String)
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
    /// The digest of template and header fields, in base64. Hex digits would look like a device token.
    let message: String
    private let rules: Campaign.BookRules
    private let look: InputLook

    /// Nothing is read. Nil for a campaign without rules, ``Campaign/book``.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/system`` if no digest can be computed.
    public init?(_ campaign: Campaign) throws(CampaignError) {
        guard let rules = campaign.book else { return nil }
        (self.rules, history) = (rules, RunHistory(rules.directory))
        self.campaign = KnownCampaign(campaign)
        message = Data(try CampaignDigest.of(campaign)).base64EncodedString()
        look = InputLook(campaign)
    }

    /// Decides what a start with this input does. Reads the history and, where sizes are equal, the input.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results`` if the history or a ledger cannot be read, and with
    ///   ``CampaignError/Code/input`` if the input cannot.
    public func decision(for input: CampaignInput) throws(CampaignError) -> Decision {
        let input = try RunInput(input)
        if let reason = look.absence(of: input) { return try decision(.absent(reason), history.entries()) }
        return try decision(look.seen(input).map { .seen($0) } ?? .unread, history.entries())
    }

    /// The input of a start, as far as it is known.
    private enum Seen {
        case absent(String)
        case unread
        case seen(KnownInput)
    }

    private func decision(_ input: Seen, _ content: RunHistory.Content) throws(CampaignError) -> Decision {
        BookTable.decision(try facts(input, content), rules)
    }

    /// The complete run of a directory in the history; nil if there is none.
    public func recorded(in directory: String) throws(CampaignError) -> RecordedRun? {
        try history.runs().last { $0.runDirectory == RunDirectory.absolute(directory) }
    }

    /// Whether two paths name one directory.
    public static func isSame(_ path: String, _ other: String) -> Bool {
        RunDirectory.absolute(path) == RunDirectory.absolute(other)
    }

    /// Whether the history has a run of a directory.
    public func knows(_ directory: String) throws(CampaignError) -> Bool {
        let path = RunDirectory.absolute(directory)
        return try PastRuns(history.entries().all, of: campaign).runs.contains { $0.key.runDirectory == path }
    }

    /// The unfinished runs of the campaign, the oldest first.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results`` if the history or a ledger cannot be read.
    public func unfinished() throws(CampaignError) -> [UnfinishedRun] {
        try unfinishedRuns(history.entries()).map {
            UnfinishedRun($0.state, $0.run.key, of: campaign, history: history.directory)
        }
    }

    /// Adds that a start was refused, unless the last line of the campaign says the same.
    ///
    /// - Parameters:
    ///   - exitCode: The exit code of the process.
    ///   - reason: One sentence without device tokens.
    public func note(refused reason: String, exitCode: Int32) throws(CampaignError) {
        let start = RefusedStart(
            campaign: campaign, time: Self.now, exitCode: exitCode, reason: Printable.text(reason))
        if case .refused(var last)? = try history.entries().all.last(where: { $0.campaign == campaign.name }) {
            last.time = start.time
            if last == start { return }
        }
        _ = try history.add(.refused(start))
    }

    private static var now: String { CampaignSummary.Identity.time(SystemClock.seconds()) }

    /// What is known of an input that was opened for a run.
    ///
    /// - Parameter copied: What was read of it for a copy in the run directory; nil if there is none.
    func known(_ input: RunInput, _ copied: CopiedInput?) -> KnownInput? { look.known(input, copied) }

    /// Enters the beginning of a run, if the decision about it is to send.
    ///
    /// - Parameters:
    ///   - input: What is known of the input, which was opened.
    ///   - directory: The run directory, which belongs to this process.
    ///   - start: When the run began, in seconds since 1970-01-01 00:00 UTC.
    func begin(_ input: KnownInput?, in directory: String, start: UInt64) throws(CampaignError) {
        let began = CampaignSummary.Identity.time(start)
        while true {
            let content = try history.entries()
            let decision = try decision(input.map { .seen($0) } ?? .unread, content)
            guard decision == .send else {
                let refusal = Refusal(decision)
                if case .busy = decision { throw CampaignError(.busy, refusal.description, cause: refusal) }
                throw CampaignError(.configuration, refusal.description, cause: refusal)
            }
            let entry = BegunRun(
                campaign: campaign, runDirectory: RunDirectory.absolute(directory), began: began, time: began,
                process: UInt32(getpid()), input: input, message: message)
            if try history.add(.began(entry), at: content.revision) { return }
        }
    }

    /// Enters that a session of a run has begun that may send rows again which had outcomes.
    ///
    /// - Parameter start: When the run began, in seconds since 1970-01-01 00:00 UTC.
    func reopen(in directory: String, start: UInt64) throws(CampaignError) {
        _ = try history.add(
            .began(
                BegunRun(
                    campaign: campaign, runDirectory: RunDirectory.absolute(directory),
                    began: CampaignSummary.Identity.time(start), time: Self.now, process: UInt32(getpid()), input: nil,
                    message: message)))
    }

    // MARK: What the history has

    /// A run of the history without an end, and what its directory says.
    private struct Open {
        let run: PastRuns.Run
        let state: BookFacts.Unfinished
    }

    private func unfinishedRuns(_ content: RunHistory.Content) throws(CampaignError) -> [Open] {
        var open: [Open] = []
        for run in PastRuns(content.all, of: campaign).runs where !run.isOver {
            guard let state = try BookFacts.Unfinished(of: run.key) else { continue }
            open.append(Open(run: run, state: state))
        }
        return open
    }

    /// The unfinished run that has begun to send an input.
    private func begun(_ input: KnownInput, in runs: [Open]) throws(CampaignError) -> Open? {
        for open in runs.reversed() where try look.holds(input, of: open.run) { return open }
        return nil
    }

    private func facts(_ input: Seen, _ content: RunHistory.Content) throws(CampaignError) -> BookFacts {
        let past = PastRuns(content.all, of: campaign).runs
        let open = try unfinishedRuns(content)
        let over = past.compactMap(\.over)
        let night = CampaignSummary.Identity.time(rules.nightBegan)
        var facts = BookFacts(input: .new)
        let finished = rules.finished.map(RunDirectory.absolute)
        let tonight = over.filter { $0.key.began >= night && !$0.isAbandoned }.map(\.key.runDirectory)
        facts.completeTonight = tonight.last
        facts.sentTonight = tonight.last { !finished.contains($0) }
        var own: Open?
        switch input {
        case .absent(let reason): facts.input = .absent(reason)
        case .unread:
            facts.input = .unread
            // It may have sent these rows: nobody knows what it read, unless it has kept it.
            own = open.last { $0.run.key.began >= night && ($0.state.isKept || $0.run.input == nil) }
        case .seen(let known):
            if let found = try begun(known, in: open) {
                if found.run.message == message {
                    own = found
                } else if found.run.key.began >= night {
                    facts.input = .changed(by: found.run.key.runDirectory)
                }
            }
            if own == nil, facts.input == .new {
                facts.input = try look.relation(of: known, to: over, message: message, night: night)
            }
        }
        if let own { facts.input = .unfinished(own.state) }
        facts.unfinished = open.map(\.state).filter { $0 != own?.state }
        return facts
    }
}

extension KnownCampaign {
    init(_ campaign: Campaign) {
        self.init(
            name: campaign.name, environment: CampaignDigest.environmentName(campaign.destination),
            topic: campaign.headers.topic ?? "")
    }
}

extension PastRuns.Run {
    /// The run, if it is over; nil if not. A process that was killed before it could enter the end has left that in the run directory.
    fileprivate var over: PastRuns.Run? {
        if isOver { return self }
        guard let summary = (try? CampaignSummary(ofCompleteRunIn: key.runDirectory)) ?? nil,
            summary.campaign.began == key.began
        else { return nil }
        var run = self
        run.rows = summary.rows
        if let sum = summary.campaign.inputCRC32C { run.take(inputSum: sum) }
        return run
    }
}

extension BookFacts.Unfinished {
    /// Returns nil for a run that is complete, or of which nothing was sent. A run whose ledger cannot be read is lost.
    init?(of key: RunKey) throws(CampaignError) {
        self.init(directory: key.runDirectory)
        guard RunDirectory.exists(key.runDirectory) else {
            isLost = true
            return
        }
        let found: RunOpening?
        do throws(CampaignError) {
            found = try RunOpening(ifBegunIn: key.runDirectory)
        } catch {
            isLost = true
            return
        }
        guard let opening = found else {
            // The run was entered before its ledger had anything: nothing was sent. A directory without a ledger had one.
            isLost = !RunDirectory.hasLedger(key.runDirectory)
            if isLost { return }
            return nil
        }
        guard opening.began == key.began else {
            // Another run has the directory now.
            isLost = true
            return
        }
        (isKept, isAtWork) = (opening.keepsRows, opening.isAtWork)
        if !isAtWork, try CampaignSummary(ofCompleteRunIn: key.runDirectory) != nil { return nil }
    }
}
