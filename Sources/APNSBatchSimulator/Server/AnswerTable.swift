/// All answers of a simulator, encoded once, and the number of times that each was given. The fixed answers come first,
/// followed by those of the script's rules, of its storms and of its rate limit, and then by those that a probe has chosen.
@safe struct AnswerTable: ~Copyable {
    /// One answer. Body and `retry-after` (empty for none) are owned by the table.
    @safe struct Prepared {
        var status: UInt16
        var body: Bytes
        var retryAfter: Bytes
        var given: UInt64
    }

    private(set) var entries: UnsafeMutablePointer<Prepared>
    private var count: Int
    private var capacity: Int
    private let firstStorm: Int
    let numberOfRateLimit: Int
    private var names: [(status: Int, reason: String)]
    /// The indexes of the answers that a probe has chosen.
    private var chosen: [SimulatorRule: Int] = [:]
    private let started: Int64

    /// - Parameter started: the `timestamp` of rules of status 410 that have none, in milliseconds since the epoch.
    init(_ script: SimulatorScript, started: Int64) {
        let fixed = FixedAnswer.allCases.map { SimulatorRule(share: 0, status: Int($0.status), reason: $0.reason) }
        let rules = fixed + script.rules + script.stormRules + [script.rateLimit?.rule].compactMap(\.self)
        self.started = started
        firstStorm = fixed.count + script.rules.count
        numberOfRateLimit = rules.count - 1
        (names, count, capacity) = ([], 0, rules.count)
        unsafe entries = .allocate(capacity: capacity)
        for rule in rules { append(rule) }
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

    /// Returns the index of an answer that a probe has chosen, which is added when it is first used. The table grows with the
    /// number of different ones.
    mutating func number(chosen rule: SimulatorRule) -> Int {
        if let known = chosen[rule] { return known }
        chosen[rule] = count
        append(rule)
        return count - 1
    }

    func reason(of number: Int) -> String { names[number].reason }

    private mutating func append(_ rule: SimulatorRule) {
        if count == capacity { grow() }
        let body = Self.body(rule.reason ?? "", timestamp: rule.status == 410 ? rule.timestamp ?? started : nil)
        let delay = rule.retryAfter.map { String($0) } ?? ""
        unsafe (entries + count).initialize(
            to: Prepared(status: UInt16(rule.status), body: Self.copy(body), retryAfter: Self.copy(delay), given: 0))
        names.append((rule.status, rule.reason ?? ""))
        count += 1
    }

    /// Moves the entries to a larger block. Bodies stay where they are, because answers that wait refer to them.
    private mutating func grow() {
        capacity *= 2
        let larger = UnsafeMutablePointer<Prepared>.allocate(capacity: capacity)
        unsafe larger.moveInitialize(from: entries, count: count)
        unsafe entries.deallocate()
        unsafe entries = unsafe larger
    }

    /// Counts one more use of an answer.
    ///
    /// This is a separate function. If the statement is inlined without optimisation, the thread sanitizer's
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
