import APNSBatchNotification

/// Stops a campaign when too large a share of its answers shows that the campaign is wrong or that APNs is in trouble:
/// tokens of the other environment, tokens of another app, an error that every row has, or a limit of the campaign.
///
/// A pure value. Its input is sums of answers since the start, over all lanes of a provider; its output is a verdict or nil.
/// The sums grow by several answers at a time, so the window moves in steps of a sixteenth: it covers the last
/// ``Limits/window`` answers, and at most one step and one increment more.
package struct CircuitBreaker: Equatable, Sendable {
    /// The answers that a rule counts.
    enum Subject: Hashable, Sendable {
        /// All answers but 200.
        case refusals
        case reason(KnownReason)
        /// Final refusals that no single device can cause, with any status and reason.
        case noDevice
        /// Rows that break a rule. In place of answers, rows are counted.
        case invalidRows
    }

    struct Rule: Equatable, Sendable {
        var subject: Subject
        /// The limit, in percent of the answers in the window.
        var percent: Double
        /// The number of the campaign's first answers to which the rule applies; nil for all answers. The defaults end
        /// early: a wrong campaign has been stopped by then, and a right one is not stopped later.
        var until: UInt64?
        /// Whether the limit itself is allowed, so that only more trips the rule.
        var allowsLimit = false

        init(_ subject: Subject, percent: Double, until: UInt64? = nil) {
            (self.subject, self.percent, self.until) = (subject, percent, until)
        }

        /// - Parameter reason: Nil for all answers but 200.
        init(reason: KnownReason?, percent: Double, until: UInt64? = nil) {
            self.init(reason.map { .reason($0) } ?? .refusals, percent: percent, until: until)
        }

        var reason: KnownReason? { if case .reason(let reason) = subject { reason } else { nil } }

        func isBroken(by count: UInt64, of answers: UInt64) -> Bool {
            let (share, limit) = (Double(count) * 100, percent * Double(answers))
            return count > 0 && (allowsLimit ? share > limit : share >= limit)
        }
    }

    package struct Limits: Equatable, Sendable {
        var rules = Rule.defaults
        /// The number of latest answers that are considered.
        var window: UInt64 = 20_000
        /// The number of answers before a rule applies.
        var minimum: UInt64 = 500
    }

    /// The numbers of answers since the start: of all answers, and of those that each rule counts.
    struct Totals: Equatable, Sendable {
        var answered: UInt64
        var refused: [UInt64]
    }

    /// A rule whose limit was reached, with the numbers in the window.
    struct Trip: Equatable, Sendable {
        var rule: Rule
        var count: UInt64
        var answers: UInt64
    }

    private let limits: Limits
    /// The sums at possible beginnings of the window, oldest first; never empty. Each has the number of answers, and then those that each
    /// rule counts. The room for all of them is reserved, because sums are noted as often as a lane turns.
    private var marks: [UInt64]
    private var isOver = false

    init(_ limits: Limits) {
        self.limits = limits
        marks = Array(repeating: 0, count: 1 + limits.rules.count)
        marks.reserveCapacity(Self.marksMost * marks.count)
    }

    /// The window has sixteen steps; the sums grow by more than one at a time.
    private static let marksMost = 20

    private var width: Int { 1 + limits.rules.count }

    /// Notes grown sums, and returns a trip if a limit is reached. It does so at most once.
    mutating func note(_ totals: Totals) -> Trip? {
        note(answered: totals.answered) { totals.refused[$0] }
    }

    /// Notes grown sums likewise.
    ///
    /// - Parameter refused: Returns the number of answers that the rule with a number counts.
    mutating func note(answered: UInt64, refused: (Int) -> UInt64) -> Trip? {
        guard !isOver, answered > marks[0] else { return nil }
        slide(to: answered, refused)
        let answers = answered - marks[0]
        guard answers >= limits.minimum else { return nil }
        for (number, rule) in limits.rules.enumerated() where answered <= rule.until ?? .max {
            let count = refused(number) - marks[1 + number]
            guard rule.isBroken(by: count, of: answers) else { continue }
            isOver = true
            return Trip(rule: rule, count: count, answers: answers)
        }
        return nil
    }

    /// Drops the marks before the window.
    private mutating func slide(to answered: UInt64, _ refused: (Int) -> UInt64) {
        while marks.count > width, answered - marks[width] >= limits.window { marks.removeFirst(width) }
        guard answered - marks[marks.count - width] >= max(1, limits.window / 16) else { return }
        marks.append(answered)
        for number in limits.rules.indices { marks.append(refused(number)) }
    }
}

extension CircuitBreaker.Rule {
    /// The rules of answers that the table of answers calls alarming, and of refusals that no device can cause. A list with
    /// many dead tokens does not trip them, since those are answered with 410.
    static let defaults =
        AnswerRule.all.compactMap { answer in
            answer.alarm.map { CircuitBreaker.Rule(reason: answer.reason, percent: $0.sharePercent, until: 20_000) }
        } + [CircuitBreaker.Rule(.noDevice, percent: 100, until: 20_000)]
}

extension CircuitBreaker.Trip {
    /// The message of a trip, such as `450 of 500 answers (90.0 %, limit 80 %) are BadDeviceToken: …`, with its meaning and
    /// a remedy.
    ///
    /// - Parameter example: An answer that the rule counted, for a rule that is not about a single reason.
    func text(example: Answer? = nil) -> String {
        if rule.subject == .noDevice { return noDeviceText(example) }
        let share = Self.percent(Double(count) * 100 / Double(answers))
        let what = rule.reason?.text ?? "refusals"
        let facts = "\(count) of \(answers) answers (\(share), limit \(Self.percent(rule.percent))) are \(what)"
        let meaning = rule.reason?.rule.alarm?.meaning ?? rule.reason?.rule.note
        return [meaning.map { "\(facts): \($0)" } ?? facts, rule.reason?.remedy].compactMap(\.self)
            .joined(separator: "; ")
    }

    private func noDeviceText(_ example: Answer?) -> String {
        let answer = example.map { " (such as \($0.text))" } ?? ""
        return
            "all of the first \(answers) answers are refusals\(answer) that no single device can cause: check "
            + "host, port, proxy and credentials"
    }

    /// Formats with one decimal place, which is omitted if it is 0.
    static func percent(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded(.down))
        return tenths % 10 == 0 ? "\(tenths / 10) %" : "\(tenths / 10).\(tenths % 10) %"
    }
}

extension AnswerAlarm {
    /// The default limit in percent: all answers for an error that every row has, and 80 otherwise.
    fileprivate var sharePercent: Double { self == .everyRow ? 100 : 80 }

    fileprivate var meaning: String {
        switch self {
        case .wrongEnvironment: "do the tokens belong to the other environment, production or sandbox?"
        case .wrongTopic: "do the tokens belong to another app than the topic's?"
        case .everyRow: "every row has the same error"
        }
    }
}
