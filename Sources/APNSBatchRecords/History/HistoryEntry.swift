import APNSBatchModel
import FoundationEssentials

/// One line of the history.
package enum HistoryEntry: Sendable, Equatable {
    /// A process began to work on a run. Nothing was sent before the line was on the disk.
    case began(BegunRun)
    /// A process ended its work on a run.
    case ended(RecordedRun)
    /// Nothing was sent, and no run began.
    case refused(RefusedStart)
    /// An operator gave up a run whose record is lost.
    case abandoned(BegunRun)

    /// The name that distinguishes the kinds; lines of ended runs have none, as in version 0.2.0.
    private enum Kind: String, Codable {
        case began, refused, abandoned
    }

    private struct Kinded: Codable { var event: Kind? }

    /// Returns nil for a line that cannot be understood.
    init?(_ line: Data) {
        let decoder = JSONDecoder()
        guard let kinded = try? decoder.decode(Kinded.self, from: line) else { return nil }
        let entry: HistoryEntry? =
            switch kinded.event {
            case .began: (try? decoder.decode(BegunRun.self, from: line)).map { .began($0) }
            case .abandoned: (try? decoder.decode(BegunRun.self, from: line)).map { .abandoned($0) }
            case .refused: (try? decoder.decode(RefusedStart.self, from: line)).map { .refused($0) }
            case nil: (try? decoder.decode(RecordedRun.self, from: line)).map { .ended($0) }
            }
        guard let entry else { return nil }
        self = entry
    }

    /// The run that it is about; nil for a start that was refused.
    package var key: RunKey? {
        switch self {
        case .began(let run), .abandoned(let run): run.key
        case .ended(let run): run.key
        case .refused: nil
        }
    }

    /// Replaces the path of the corrected run by the one that it has now.
    mutating func moveCorrected(_ paths: [String: String]) {
        switch self {
        case .began(var run):
            run.correctionOf = run.correctionOf.map { paths[$0] ?? $0 }
            self = .began(run)
        case .abandoned(var run):
            run.correctionOf = run.correctionOf.map { paths[$0] ?? $0 }
            self = .abandoned(run)
        case .ended(var run):
            run.correctionOf = run.correctionOf.map { paths[$0] ?? $0 }
            self = .ended(run)
        case .refused: break
        }
    }

    /// Replaces the run directory.
    mutating func move(to path: String) {
        switch self {
        case .began(var run):
            run.runDirectory = path
            self = .began(run)
        case .abandoned(var run):
            run.runDirectory = path
            self = .abandoned(run)
        case .ended(var run):
            run.runDirectory = path
            self = .ended(run)
        case .refused: break
        }
    }

    /// The name of its campaign.
    package var campaign: String {
        switch self {
        case .began(let run), .abandoned(let run): run.campaign.name
        case .ended(let run): run.campaign
        case .refused(let start): start.campaign.name
        }
    }

    /// The line, without its end.
    var line: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return switch self {
            case .began(let run): try encoder.encode(Event(event: .began, body: run))
            case .abandoned(let run): try encoder.encode(Event(event: .abandoned, body: run))
            case .refused(let start): try encoder.encode(Event(event: .refused, body: start))
            case .ended(let run): try encoder.encode(run)
            }
        }
    }

    private struct Event<Body: Encodable>: Encodable {
        let event: Kind
        let body: Body

        private enum Key: CodingKey { case event }

        func encode(to encoder: any Encoder) throws {
            try body.encode(to: encoder)
            var members = encoder.container(keyedBy: Key.self)
            try members.encode(event, forKey: .event)
        }
    }
}

/// What makes runs those of one campaign.
package struct KnownCampaign: Sendable, Hashable, Codable {
    package var name: String
    /// `production`, `sandbox`, or the name of another host.
    package var environment: String
    /// Empty if rows have topics of their own.
    package var topic: String

    package init(name: String, environment: String, topic: String) {
        (self.name, self.environment, self.topic) = (name, environment, topic)
    }

    enum CodingKeys: String, CodingKey {
        case environment, topic
        case name = "campaign"
    }
}

/// The beginning of a session of a run.
package struct BegunRun: Sendable, Equatable, Codable {
    package var campaign: KnownCampaign
    /// The absolute path of the run directory.
    package var runDirectory: String
    /// When the first session began, in UTC, such as `2026-11-21T03:00:00Z`.
    package var began: String
    /// When this session began, in the same form.
    package var time: String
    package var process: UInt32
    /// Nil in the lines of resumed sessions.
    package var input: KnownInput?
    /// The ``CampaignDigest`` of template and header fields, in base64.
    package var message: String
    /// What identifies the file of the ledger while it is empty; nil if that is not known, and in the lines of resumed sessions. A ledger that
    /// has a run is taken by no other one, so that of two runs with the same one the first has sent nothing.
    package var ledger: String?
    /// The absolute path of the run whose rows it sends again, corrected; nil for a run of an input of its own.
    package var correctionOf: String?

    package init(
        campaign: KnownCampaign, runDirectory: String, began: String, time: String, process: UInt32, input: KnownInput?,
        message: String, ledger: String? = nil, correctionOf: String? = nil
    ) {
        (self.campaign, self.runDirectory, self.began, self.time) = (campaign, runDirectory, began, time)
        (self.process, self.input, self.message) = (process, input, message)
        (self.ledger, self.correctionOf) = (ledger, correctionOf)
    }

    package var key: RunKey { RunKey(runDirectory: runDirectory, began: began) }

    private enum Key: String, CodingKey {
        case began, time, process, input, message, ledger
        case runDirectory = "run_dir"
        case correctionOf = "correction_of"
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        self.init(
            campaign: try KnownCampaign(from: decoder),
            runDirectory: try members.decode(String.self, forKey: .runDirectory),
            began: try members.decode(String.self, forKey: .began),
            time: try members.decode(String.self, forKey: .time),
            process: try members.decode(UInt32.self, forKey: .process),
            input: try members.decodeIfPresent(KnownInput.self, forKey: .input),
            message: try members.decode(String.self, forKey: .message),
            ledger: try members.decodeIfPresent(String.self, forKey: .ledger),
            correctionOf: try members.decodeIfPresent(String.self, forKey: .correctionOf))
    }

    package func encode(to encoder: any Encoder) throws {
        try campaign.encode(to: encoder)
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(runDirectory, forKey: .runDirectory)
        try members.encode(began, forKey: .began)
        try members.encode(time, forKey: .time)
        try members.encode(process, forKey: .process)
        try members.encodeIfPresent(input, forKey: .input)
        try members.encode(message, forKey: .message)
        try members.encodeIfPresent(ledger, forKey: .ledger)
        try members.encodeIfPresent(correctionOf, forKey: .correctionOf)
    }
}

/// A start that sent nothing, in the history.
public struct RefusedStart: Sendable, Equatable, Codable {
    package var campaign: KnownCampaign
    /// When it was refused last, in UTC, such as `2026-11-21T03:00:00Z`: several refusals in a row for the same reason are one.
    public var time: String
    /// The exit code of the command.
    public var exitCode: Int32
    /// One sentence, without device tokens.
    public var reason: String

    /// The name of the campaign.
    public var campaignName: String { campaign.name }

    package init(campaign: KnownCampaign, time: String, exitCode: Int32, reason: String) {
        (self.campaign, self.time, self.exitCode, self.reason) = (campaign, time, exitCode, reason)
    }

    private enum Key: String, CodingKey {
        case time, reason
        case exitCode = "exit_code"
    }

    /// Decodes a line of the history.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        self.init(
            campaign: try KnownCampaign(from: decoder), time: try members.decode(String.self, forKey: .time),
            exitCode: try members.decode(Int32.self, forKey: .exitCode),
            reason: try members.decode(String.self, forKey: .reason))
    }

    /// Encodes the start as a line of the history has it.
    public func encode(to encoder: any Encoder) throws {
        try campaign.encode(to: encoder)
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(time, forKey: .time)
        try members.encode(exitCode, forKey: .exitCode)
        try members.encode(reason, forKey: .reason)
    }
}
