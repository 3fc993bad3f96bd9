import APNSProtocol
import Credentials
import FoundationEssentials
import Glibc
import LaneTransport

/// This program.
public enum ProductVersion {
    public static let current = "0.1.0"
}

/// What a process did, and what it found done, from which a summary is made.
struct SessionAccount {
    /// Rows that ended in it.
    var tally = Tally()
    /// Of all sessions.
    var reasons = AnswerReasons()
    var figures = SessionFigures()
    var loop = LoopKind.automatic
    var ledgerSeconds = 0.0
    var tokens: (duplicate: DuplicateTokens?, unusual: UnusualTokens?)
    /// What lanes counted besides.
    var lanes = LaneAccount()
    /// Invalid rows of the sessions before this one, where they are known by their rules.
    var invalidBefore: [String: CampaignSummary.InvalidRows]?
    /// What the ledger says at the end; nil where all is done, or where nobody can say.
    var status: RunStatus?
}

extension CampaignSummary {
    /// - Parameters:
    ///   - before: what the sessions before this one did; nil for a new run.
    ///   - stop: why the run ended early.
    init(_ account: SessionAccount, before: LedgerHistory?, stop: RunControl.Stop?, campaign: Identity) {
        let tally = account.tally + (before?.tally ?? Tally())
        let figures = account.figures + (before?.figures ?? SessionFigures())
        let number = Int(before?.session?.number ?? 0) + 1
        (rows, accepted, rejected, unavailable) = (tally.rows, tally.accepted, tally.rejected, tally.unavailable)
        (invalid, unknown, expired, suppressed) = (tally.invalid, tally.unknown, tally.expired, tally.suppressed)
        (attempts, resent) = (tally.attempts, tally.resent)
        (requests, connections) = (figures.requests, figures.connections)
        sessions = number
        elapsedSeconds = figures.seconds
        acceptedPerSecond = Self.rate(tally.accepted, figures.seconds)
        session = Session(
            number: number, rows: account.tally.rows, accepted: account.tally.accepted,
            requests: account.figures.requests, connections: account.figures.connections,
            elapsedSeconds: account.figures.seconds,
            acceptedPerSecond: Self.rate(account.tally.accepted, account.figures.seconds))
        cpuSeconds = ProcessUsage.cpuSeconds
        ledgerCPUSeconds = account.ledgerSeconds
        peakRSSBytes = ProcessUsage.peakRSSBytes
        loop = account.loop.name
        retries = account.lanes.retries
        connectionsEnded = account.lanes.connectionEnds
        answerTimes = AnswerMilliseconds(account.lanes.answerTimes)
        invalidRules = Self.invalidRules(account, before?.tally.invalid ?? 0)
        reasons = account.reasons.rejected.byName
        unavailableReasons = account.reasons.unavailable.byName
        let failure: CampaignError? = if case .failure(let error) = stop { error } else { nil }
        ending = stop == nil ? .complete : failure == nil ? .interrupted : .failed
        cause = failure?.description
        isLeftEstimated = account.status?.unread.isEstimate ?? false
        if stop == nil {
            (left, maybeSent, notSent, notRead) = (0, 0, 0, 0)
        } else {
            (left, notRead) = (account.status?.left, account.status?.unread.rows)
            (maybeSent, notSent) = (account.status?.count(.unknown), account.status?.count(.notSent))
        }
        (duplicateTokens, unusualTokens) = account.tokens
        self.campaign = campaign
        exitCode = 0
        exitCode = Self.exitCode(ending, isClean: isClean, failure?.kind)
    }

    /// The ledger does not know rules: those of earlier sessions are as the summary then said, or one number.
    private static func invalidRules(_ account: SessionAccount, _ before: UInt64) -> [String: InvalidRows] {
        let earlier =
            before == 0 ? [:] : account.invalidBefore ?? ["of earlier processes": .init(rows: before, places: [])]
        return account.lanes.invalid.reduce(into: earlier) { rules, rule in
            let known = rules[rule.key] ?? InvalidRows(rows: 0, places: [])
            let places = (known.places + rule.value.places.map(\.text)).prefix(LaneAccount.Invalid.placesMax)
            rules[rule.key] = InvalidRows(rows: known.rows + rule.value.count, places: Array(places))
        }
    }

    private static func rate(_ rows: UInt64, _ seconds: Double) -> Double { seconds > 0 ? Double(rows) / seconds : 0 }

    /// As `sysexits.h` has them, but for 2.
    private static func exitCode(_ ending: Ending, isClean: Bool, _ kind: CampaignError.Kind?) -> Int32 {
        switch ending {
        case .complete: isClean ? 0 : 2
        case .interrupted: 75
        case .failed:
            switch kind {
            case .input, .results: 75
            case .configuration: 64
            case .system: 71
            default: 69
            }
        }
    }
}

extension CampaignSummary.AnswerMilliseconds {
    init?(_ times: AnswerTimes) {
        guard let p50 = times.quantile(0.5), let p90 = times.quantile(0.9), let p99 = times.quantile(0.99) else {
            return nil
        }
        func milliseconds(_ time: UInt32) -> Double { Double(time) / 1000 }
        self.init(
            p50: milliseconds(p50), p90: milliseconds(p90), p99: milliseconds(p99),
            max: milliseconds(times.longest), samples: times.count)
    }
}

extension SessionFigures {
    var seconds: Double { Double(milliseconds) / 1000 }
}

extension CampaignSummary.Identity {
    /// - Parameter ended: seconds since the epoch.
    init(_ plan: CampaignPlan, _ header: LedgerHeader, template: Campaign.Template?, ended: UInt64) {
        id = Self.uuid(header.identity)
        version = ProductVersion.current
        destination = plan.endpoint
        input = header.inputName
        inputBytes = header.inputBytes
        templateDigest = template.flatMap { try? SHA256.digest($0.json) }
            .map { "sha256-" + Data($0).base64EncodedString() }
        began = UTCTime.text(header.start)
        self.ended = UTCTime.text(ended)
    }

    private static func uuid(_ identity: (UInt64, UInt64)) -> String {
        let digits = hexadecimal(
            [identity.0, identity.1].flatMap { half in (0..<8).map { UInt8(half >> (56 - 8 * $0) & 0xFF) } })
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// Times as people and programs read them.
enum UTCTime {
    /// RFC 3339: `2026-11-21T03:00:00Z`.
    static func text(_ seconds: UInt64) -> String {
        var time = time_t(clamping: seconds)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return "" }
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
            + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }
}
