import APNSBatchNotification

/// Stops a campaign when too large a share of its answers says that it is wrong, or that APNs is in trouble: tokens of the
/// other environment, another app's tokens, a fault that every row has, or whatever the campaign names.
///
/// Pure: sums of answers since the start go in, over all lanes of a provider, and perhaps a verdict comes out. The sums come
/// in lumps, so the window slides in steps of a sixteenth: what is judged is the last ``Limits/window`` answers, and up to a
/// step and a lump more.
package struct CircuitBreaker: Equatable, Sendable {
    /// Which answers a rule counts.
    enum Subject: Hashable, Sendable {
        /// All but 200.
        case refusals
        case reason(KnownReason)
        /// Final refusals that no single device can be the cause of, whatever their status and reason are.
        case noDevice
    }

    struct Rule: Equatable, Sendable {
        var subject: Subject
        /// Of the answers in the window.
        var percent: Double
        /// Judged in the campaign's first so many answers only; nil for all of them. By then a campaign is what it should
        /// be, and a wrong one has done little harm.
        var until: UInt64?

        init(_ subject: Subject, percent: Double, until: UInt64? = nil) {
            (self.subject, self.percent, self.until) = (subject, percent, until)
        }

        /// - Parameter reason: nil for all answers but 200.
        init(reason: KnownReason?, percent: Double, until: UInt64? = nil) {
            self.init(reason.map { .reason($0) } ?? .refusals, percent: percent, until: until)
        }

        var reason: KnownReason? { if case .reason(let reason) = subject { reason } else { nil } }
    }

    package struct Limits: Equatable, Sendable {
        var rules = Rule.defaults
        /// How many answers are looked back at.
        var window: UInt64 = 20_000
        /// Fewer say nothing.
        var minimum: UInt64 = 500
    }

    /// Answers since the start: all of them, and those that each rule is about.
    struct Totals: Equatable, Sendable {
        var answered: UInt64
        var refused: [UInt64]
    }

    /// Too many.
    struct Trip: Equatable, Sendable {
        var rule: Rule
        var count: UInt64
        var answers: UInt64
    }

    private let limits: Limits
    /// Where the window may begin, oldest first; never empty.
    private var marks: [Totals]
    private var isOver = false

    init(_ limits: Limits) {
        self.limits = limits
        marks = [Totals(answered: 0, refused: Array(repeating: 0, count: limits.rules.count))]
    }

    /// The sums have grown. Gives a verdict once at most.
    mutating func note(_ totals: Totals) -> Trip? {
        guard !isOver, totals.answered > marks[0].answered else { return nil }
        slide(to: totals)
        let answers = totals.answered - marks[0].answered
        guard answers >= limits.minimum else { return nil }
        for (number, rule) in limits.rules.enumerated() where totals.answered <= rule.until ?? .max {
            let count = totals.refused[number] - marks[0].refused[number]
            guard count > 0, Double(count) * 100 >= rule.percent * Double(answers) else { continue }
            isOver = true
            return Trip(rule: rule, count: count, answers: answers)
        }
        return nil
    }

    /// Forgets what lies before the window.
    private mutating func slide(to totals: Totals) {
        while marks.count > 1, totals.answered - marks[1].answered >= limits.window { marks.removeFirst() }
        if totals.answered - marks[marks.count - 1].answered >= max(1, limits.window / 16) { marks.append(totals) }
    }
}

extension CircuitBreaker.Rule {
    /// What the table of answers calls alarming, and refusals of every row that no device is the cause of. A list with many
    /// dead tokens is not stopped: those are answered 410.
    static let defaults =
        AnswerRule.all.compactMap { answer in
            answer.alarm.map { CircuitBreaker.Rule(reason: answer.reason, percent: $0.sharePercent, until: 20_000) }
        } + [CircuitBreaker.Rule(.noDevice, percent: 100, until: 20_000)]
}

extension CircuitBreaker.Trip {
    /// `450 of 500 answers (90.0 %, limit 80 %) are BadDeviceToken: …`, with what it means and what can be done.
    ///
    /// - Parameter example: an answer that the rule counted, where it is not about one reason.
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

    /// One digit behind the point, none where it is 0.
    private static func percent(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded(.down))
        return tenths % 10 == 0 ? "\(tenths / 10) %" : "\(tenths / 10).\(tenths % 10) %"
    }
}

extension AnswerAlarm {
    /// The share of answers that speaks of the campaign; where every row has the same error it is all.
    fileprivate var sharePercent: Double { self == .everyRow ? 100 : 80 }

    fileprivate var meaning: String {
        switch self {
        case .wrongEnvironment: "do the tokens belong to the other environment, production or sandbox?"
        case .wrongTopic: "do the tokens belong to another app than the topic's?"
        case .everyRow: "every row has the same error"
        }
    }
}
