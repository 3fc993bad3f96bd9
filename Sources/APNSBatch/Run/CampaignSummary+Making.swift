import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRecords
import APNSBatchRows
import APNSBatchSending
import APNSBatchTransport
import FoundationEssentials
import Glibc

/// The version of this library and of the command.
public enum ProductVersion {
    /// The version of this package, such as `1.2.0`.
    public static let current = "0.2.0"
}

/// The counts of this session and of earlier ones from which a summary is made.
struct SessionAccount {
    /// The rows that ended in this session.
    var tally = Tally()
    /// The reasons of all sessions.
    var reasons = OutcomeReasons()
    var figures = SessionFigures()
    var loop = LoopKind.automatic
    var ledgerSeconds = 0.0
    var tokens: (duplicate: DuplicateTokens?, unusual: UnusualTokens?)
    /// The rows of all sessions by the values of columns; nil if there are none.
    var breakdowns: [CampaignSummary.Breakdown]?
    /// The name of the file with rows that were not sent; nil if there is none.
    var notSentFile: String?
    /// The status at the end, from the ledger; nil if the run is complete, or if the status is not known.
    var status: RunStatus?
}

extension CampaignSummary {
    /// - Parameters:
    ///   - before: What earlier sessions did; nil for a new run.
    ///   - changes: What operators changed, in all sessions.
    ///   - stop: The cause for which the run ended early.
    init(
        _ account: SessionAccount, before: LedgerHistory?, changes: [RunChange] = [], stop: RunControl.Stop?,
        campaign: Identity, judge: ExpectationJudge = .standard, unfinished: [UnfinishedRun] = [],
        correctionOf: String? = nil
    ) {
        let tally = account.tally + (before?.tally ?? Tally())
        let figures = account.figures + (before?.figures ?? SessionFigures())
        var last = Work(account.tally.rows, account.tally[.accepted], account.figures)
        last.process = Process(
            cpuSeconds: ProcessUsage.cpuSeconds, ledgerCPUSeconds: account.ledgerSeconds,
            peakRSSBytes: ProcessUsage.peakRSSBytes, loop: account.loop.name)
        (last.duplicateTokens, last.unusualTokens) = account.tokens
        self.init(
            RunTotals(tally, account.reasons), invalid: account.reasons,
            sessions: Int(before?.session?.number ?? 0) + 1, all: figures, last: last, campaign: campaign)
        self.changes = changes
        killedSessions = before?.killedSessionsIfAny
        (breakdowns, notSentFile) = (account.breakdowns, account.notSentFile)
        (self.correctionOf, self.unfinished) = (correctionOf, unfinished.isEmpty ? nil : unfinished)
        if let stop { end(early: stop, account.status) }
        conclude(judge)
    }

    /// Creates the summary of a complete run from its ledger.
    package init(
        _ history: LedgerHistory, campaign: Identity, judge: ExpectationJudge = .standard,
        unfinished: [UnfinishedRun] = [], correctionOf: String? = nil, notSentFile: String? = nil
    ) {
        let ended = history.endedInSession
        self.init(
            history.totals, invalid: history.reasons, sessions: Int(history.session?.number ?? 0), all: history.figures,
            last: Work(ended.rows, ended.accepted, history.figuresOfSession), campaign: campaign)
        changes = history.changes
        killedSessions = history.killedSessionsIfAny
        (self.correctionOf, self.notSentFile) = (correctionOf, notSentFile)
        self.unfinished = unfinished.isEmpty ? nil : unfinished
        conclude(judge)
    }

    /// Creates the summary of a run whose last process was killed, as far as its ledger and the summary of an earlier process allow.
    ///
    /// - Parameters:
    ///   - status: What is left, with rows that were counted.
    ///   - earlier: The summary of an earlier process; nil if there is none.
    package init(
        ofKilled history: LedgerHistory, _ header: LedgerHeader, _ status: RunStatus, earlier: CampaignSummary?
    ) {
        let ended = history.endedInSession
        self.init(
            history.totals, invalid: history.reasons, sessions: Int(history.session?.number ?? 0), all: history.figures,
            last: Work(ended.rows, ended.accepted, history.figuresOfSession),
            campaign: Identity(header, earlier: earlier?.campaign, ended: history.lastTime))
        changes = history.changes
        killedSessions = history.killedSessionsIfAny
        end(early: .interrupted, status)
        cause = "the last process was killed"
        verdict = Verdict.text(of: self)
    }

    /// Creates the summary of a complete run that was not judged yet.
    private init(
        _ totals: RunTotals, invalid reasons: OutcomeReasons, sessions: Int, all: SessionFigures, last: Work,
        campaign: Identity
    ) {
        self.totals = totals
        self.sessions = sessions
        allSessions = Work(totals.rows, totals.accepted, all)
        lastSession = last
        invalidRules = reasons.invalidByRule.mapValues { InvalidRows(rows: $0.count, places: $0.places) }
        (left, maybeSent, notSent, notRead) = (0, 0, 0, 0)
        isLeftEstimated = false
        ending = .complete
        self.campaign = campaign
        exitCode = 0
    }

    /// - Parameter status: The status from the ledger; nil if it is not known.
    private mutating func end(early stop: RunControl.Stop, _ status: RunStatus?) {
        let failure: CampaignError? = if case .failure(let error) = stop { error } else { nil }
        ending = failure == nil ? .interrupted : .failed
        cause = failure?.description
        (left, notRead) = (status?.left, status?.unread.rows)
        (maybeSent, notSent) = (status?.count(.unknown), status?.count(.notSent))
        isLeftEstimated = status?.unread.isEstimate ?? false
        exitCode = Self.exitCode(endedEarlyBy: failure)
    }

    /// Judges a complete run, and gives the verdict.
    mutating func conclude(_ judge: ExpectationJudge, _ scope: Verdict.Scope = .run) {
        if ending == .complete {
            expectations = judge.judge(figures)
            exitCode = isClean ? 0 : 2
        }
        verdict = Verdict.text(of: self, scope)
    }

    /// Notes that the record of the run is gone.
    mutating func lose(_ sentence: String?) {
        lostRecord = sentence
        verdict = Verdict.text(of: self)
    }

    /// Whether another summary of the run, which has more figures of the last session, has the same counts.
    func agrees(with other: CampaignSummary) -> Bool {
        func counts(_ summary: CampaignSummary) -> [UInt64] {
            Outcome.allCases.map { summary[$0] }
                + [summary.attempts, UInt64(clamping: summary.sessions), summary.allSessions.requests]
        }
        return ending == other.ending && counts(self) == counts(other)
            && expectations.map(\.text) == other.expectations.map(\.text)
    }

    /// The exit code, from `sysexits.h`, of a run that was interrupted or failed.
    private static func exitCode(endedEarlyBy failure: CampaignError?) -> Int32 {
        if (failure?.cause as? InputError)?.isDamage == true { return 64 }
        switch failure?.code {
        case nil, .input, .results, .busy: return 75
        case .configuration: return 64
        case .system: return 71
        default: return 69
        }
    }
}

extension CampaignSummary.Work {
    init(_ rows: UInt64, _ accepted: UInt64, _ figures: SessionFigures) {
        let seconds = Double(figures.milliseconds) / 1000
        self.rows = rows
        self.accepted = accepted
        requests = figures.requests
        elapsedSeconds = seconds
        acceptedPerSecond = seconds > 0 ? Double(accepted) / seconds : 0
        connectionsOpened = figures.connections
        connectionsEnded = figures.lanes?.connectionEnds ?? [:]
        retries = figures.lanes?.retries ?? [:]
        answerTimes = (figures.lanes?.answerTimes).flatMap { .init($0) }
        answerBins = (figures.lanes?.answerTimes).flatMap { CampaignSummary.AnswerBin.all(of: $0) }
    }
}

extension CampaignSummary.AnswerMilliseconds {
    package init?(_ times: AnswerTimeCounts) {
        guard let p50 = times.quantile(0.5), let p90 = times.quantile(0.9), let p99 = times.quantile(0.99) else {
            return nil
        }
        func milliseconds(_ time: UInt32) -> Double { Double(time) / 1000 }
        self.init(
            p50: milliseconds(p50), p90: milliseconds(p90), p99: milliseconds(p99),
            max: milliseconds(times.longest), samples: times.total)
    }
}

extension CampaignSummary.AnswerBin {
    private static let binsPerDecade = 10.0

    /// Returns the bins from the first to the last one that has answers; nil without answers.
    static func all(of times: AnswerTimeCounts) -> [CampaignSummary.AnswerBin]? {
        var counts: [Int: UInt64] = [:]
        times.forEach { time, count in
            let decades = log(Double(max(1, time)) / 1000) / log(10)
            counts[Int((decades * binsPerDecade - 1e-9).rounded(.up)), default: 0] += count
        }
        return all(counts)
    }

    /// Returns the bins likewise, from the numbers of answers by the index of their bin.
    static func all(_ counts: [Int: UInt64]) -> [CampaignSummary.AnswerBin]? {
        guard let first = counts.keys.min(), let last = counts.keys.max() else { return nil }
        return (first...last).map { index in
            let limit = pow(10, Double(index) / binsPerDecade)
            return .init(upToMilliseconds: (limit * 1e5).rounded() / 1e5, answers: counts[index] ?? 0)
        }
    }

    /// The index of the bin with this longest time; nil for a time that no bin has.
    static func index(ofLimit milliseconds: Double) -> Int? {
        let index = (log(milliseconds) / log(10) * binsPerDecade).rounded()
        return index.magnitude <= 100 ? Int(index) : nil
    }
}

extension CampaignSummary.Identity {
    /// - Parameters:
    ///   - checksum: The CRC-32C of the whole input.
    ///   - ended: In seconds since 1970-01-01 00:00 UTC.
    init(
        _ plan: CampaignPlan, _ header: LedgerHeader, template: Campaign.Template?, checksum: UInt32?, ended: UInt64
    ) {
        id = CampaignID(header.identity)
        version = ProductVersion.current
        destination = plan.endpoint
        input = header.inputName
        inputBytes = header.inputBytes
        inputPacking = header.packing?.rawValue
        isInputSpooled = header.isKept ? true : nil
        inputCRC32C = checksum.map(KnownInput.text(ofSum:))
        templateDigest = template.flatMap { try? SHA256.digest($0.json) }
            .map { "sha256-" + Data($0).base64EncodedString() }
        began = Self.time(header.start)
        self.ended = Self.time(ended)
    }

    /// The identity of a run that no process is working on.
    ///
    /// - Parameter earlier: The summary of an earlier process.
    init(_ header: LedgerHeader, earlier: CampaignSummary.Identity?, ended: UInt64) {
        (id, input, inputBytes) = (CampaignID(header.identity), header.inputName, header.inputBytes)
        (version, destination) = (earlier?.version ?? "", earlier?.destination ?? "")
        templateDigest = earlier?.templateDigest
        inputPacking = header.packing?.rawValue
        isInputSpooled = header.isKept ? true : nil
        (began, self.ended) = (Self.time(header.start), Self.time(ended))
    }

    static func time(_ seconds: UInt64) -> String { Timestamp.text(ofSeconds: seconds) }
}

extension LedgerHistory {
    fileprivate var killedSessionsIfAny: Int? { killedSessions > 0 ? killedSessions : nil }
}
