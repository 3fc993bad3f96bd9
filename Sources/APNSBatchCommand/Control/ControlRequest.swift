import APNSBatch
import APNSBatchBasics

/// What an operator asks of a run at work: one line, such as `rate 500/s`.
enum ControlRequest: Equatable {
    case rate(Campaign.Rate?)
    case ramp(Duration)
    case spread(Duration?)
    case pause, unpause, stop

    /// The forms of a request, for messages.
    static let forms = "rate RATE, ramp DURATION, spread DURATION, pause, continue or stop"

    /// The words that may follow the run directory.
    static let words = ["rate", "ramp", "spread", "pause", "continue", "stop", "none"]

    /// Parses a request. A rate is `2000/s`, `120000/min` or `3000000/h`, a duration `90s`, `10m` or `2h`; `none` removes a
    /// limit.
    ///
    /// - Throws: ``UsageError`` with what was expected.
    init(_ text: String) throws {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        switch (words.first, words.count) {
        case ("pause", 1): self = .pause
        case ("continue", 1): self = .unpause
        case ("stop", 1): self = .stop
        case ("rate", 2): self = .rate(try Self.unlessNone(words[1], Self.rate))
        case ("ramp", 2): self = .ramp(try Self.unlessNone(words[1], Self.duration) ?? .zero)
        case ("spread", 2): self = .spread(try Self.unlessNone(words[1], Self.duration))
        default: throw UsageError("expected \(Self.forms), found \(text.quoted)")
        }
    }

    /// Returns the request for each of several processes that send a run together; nil if it is the same.
    func share(of processes: Int) throws -> String? {
        switch self {
        case .spread(.some):
            throw UsageError("spread: parts of a run have no access to each other's rows; give a rate instead")
        case .rate(let rate?):
            return "rate \(rate.share(of: UInt64(max(1, processes))))"
        case .rate(nil), .ramp, .spread(nil), .pause, .unpause, .stop: return nil
        }
    }

    private static func unlessNone<Value>(_ text: String, _ parse: (String) throws -> Value) rethrows -> Value? {
        text == "none" ? nil : try parse(text)
    }

    private static func rate(_ text: String) throws -> Campaign.Rate {
        guard let rate = Campaign.Rate(text) else {
            throw UsageError(
                "rate: expected a rate such as 2000/s, 120000/min or 3000000/h, or none, found \(text.quoted)")
        }
        return rate
    }

    private static func duration(_ text: String) throws -> Duration {
        guard let duration = CampaignSettings.duration(text) else {
            throw UsageError("expected a duration such as 90s, 10m or 2h, or none, found \(text.quoted)")
        }
        return duration
    }

    /// Does what is asked, and returns what was done.
    ///
    /// - Throws: ``CampaignError`` if a limit is out of its range; then nothing changes.
    func perform(on run: CampaignRun) throws -> String {
        var limit = run.rateLimit
        switch self {
        case .rate(let rate):
            limit.rate = rate
            // A ramp leads to a rate.
            if rate == nil { limit.ramp = .zero }
        case .ramp(let ramp): limit.ramp = ramp
        case .spread(let spread): limit.spread = spread
        case .pause:
            guard !run.isPaused else { return "the run was paused before" }
            run.pause()
            return "paused: answers are awaited, and nothing is sent until it is continued"
        case .unpause:
            guard run.isPaused else { return "the run was not paused" }
            run.unpause()
            return "continuing"
        case .stop:
            run.stop()
            return "stopping: no more rows are taken, and answers are awaited"
        }
        try run.setRateLimit(limit)
        return "\(limit)"
    }
}

extension Campaign.Rate {
    /// The share of each of several processes: in the unit that was given if the requests can be divided, and in a longer one if they cannot.
    /// What is left over an hour is not sent.
    func share(of processes: UInt64) -> Campaign.Rate {
        let longer = Unit.allCases.filter { $0.rawValue >= unit.rawValue }
        let whole = longer.map { Campaign.Rate(requests * ($0.rawValue / unit.rawValue), per: $0) }
        let found =
            whole.first { $0.requests.isMultiple(of: processes) } ?? Campaign.Rate(Self.perHour(of: self), per: .hour)
        return Campaign.Rate(max(1, found.requests / processes), per: found.unit)
    }

    private static func perHour(of rate: Campaign.Rate) -> UInt64 {
        rate.requests * (Unit.hour.rawValue / rate.unit.rawValue)
    }
}
