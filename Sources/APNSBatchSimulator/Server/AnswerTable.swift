/// All answers that a simulator can give, encoded once, and how often each was given: first the fixed ones in their
/// order, then those of the script's rules, of its storms and of its rate limit.
@safe struct AnswerTable: ~Copyable {
    /// One answer. Body and `retry-after` (empty for none) are owned by the table.
    @safe struct Prepared {
        var status: UInt16
        var body: Bytes
        var retryAfter: Bytes
        var given: UInt64
    }

    let entries: UnsafeMutablePointer<Prepared>
    private let count: Int
    private let firstStorm: Int
    private let names: [(status: Int, reason: String)]

    /// - Parameter started: milliseconds since the epoch, for rules of status 410 without a time of their own.
    init(_ script: SimulatorScript, started: Int64) {
        let fixed = FixedAnswer.allCases.map { SimulatorRule(share: 0, status: Int($0.status), reason: $0.reason) }
        let rules = fixed + script.rules + script.stormRules + [script.rateLimit?.rule].compactMap(\.self)
        names = rules.map { ($0.status, $0.reason ?? "") }
        firstStorm = fixed.count + script.rules.count
        count = rules.count
        unsafe entries = .allocate(capacity: count)
        for (index, rule) in rules.enumerated() {
            let body = Self.body(rule.reason ?? "", timestamp: rule.status == 410 ? rule.timestamp ?? started : nil)
            let delay = rule.retryAfter.map { String($0) } ?? ""
            unsafe (entries + index).initialize(
                to: Prepared(status: UInt16(rule.status), body: Self.copy(body), retryAfter: Self.copy(delay), given: 0)
            )
        }
    }

    deinit {
        for index in 0..<count {
            unsafe entries[index].body.deallocate()
            unsafe entries[index].retryAfter.deallocate()
        }
        unsafe entries.deallocate()
    }

    @inline(__always)
    static func number(_ answer: FixedAnswer) -> Int {
        Int(answer.rawValue)
    }

    @inline(__always)
    static func number(rule: Int) -> Int {
        FixedAnswer.allCases.count + rule
    }

    func number(storm: Int32) -> Int {
        firstStorm + Int(storm)
    }

    var numberOfRateLimit: Int { count - 1 }

    /// Counts one more use of an answer.
    ///
    /// A function of its own, not a statement where it is used: there, without optimisation, the thread sanitizer's
    /// instrumentation assumes that the server's first field is written, and reports a false race.
    func countGiven(_ number: Int) {
        unsafe entries[number].given += 1
    }

    /// Returns the answers that were given, with equal ones added up, the most frequent first.
    func counts() -> [SimulatorReport.AnswerCount] {
        var sums: [SimulatorReport.AnswerCount] = []
        for index in 0..<count where unsafe entries[index].given > 0 {
            let (status, reason) = names[index]
            if let same = sums.firstIndex(where: { $0.status == status && $0.reason == reason }) {
                unsafe sums[same].count += entries[index].given
            } else {
                unsafe sums.append(.init(status: status, reason: reason, count: entries[index].given))
            }
        }
        return sums.sorted { ($1.count, $0.status, $0.reason) < ($0.count, $1.status, $1.reason) }
    }

    private static func copy(_ text: String) -> Bytes {
        let text = Array(text.utf8)
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, text.count), alignment: 1)
        unsafe copy.copyBytes(from: text)
        return unsafe Bytes(start: copy.baseAddress, count: text.count)
    }

    private static func body(_ reason: String, timestamp: Int64?) -> String {
        guard !reason.isEmpty else { return "" }
        guard let timestamp else { return #"{"reason":"\#(reason)"}"# }
        return #"{"reason":"\#(reason)","timestamp":\#(timestamp)}"#
    }
}
