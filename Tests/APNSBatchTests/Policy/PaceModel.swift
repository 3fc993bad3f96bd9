import APNSBatchBasics

@testable import APNSBatchModel
@testable import APNSBatchSending

/// A server that takes a limited number of requests per second, one after the other.
struct RateServer {
    enum Kind {
        /// Capacity that was not used is kept for up to this many requests.
        case bucket(Double)
        /// The rate applies to each second, counted from the beginning of the second.
        case window
        case free
    }

    let rate: Double
    let kind: Kind
    /// The share of requests that are refused at any rate.
    let refusedShare: Double
    private var tokens = 0.0
    private var filledAt: UInt64 = 0
    private var second: UInt64 = .max
    private var random: SplitMix64

    init(_ kind: Kind, rate: Double = 1, refusedShare: Double = 0, seed: UInt64 = 5) {
        (self.kind, self.rate, self.refusedShare) = (kind, rate, refusedShare)
        random = SplitMix64(seed: seed)
        if case .bucket(let burst) = kind { tokens = burst }
    }

    mutating func takes(at now: UInt64) -> Bool {
        if refusedShare > 0, random.unit() < refusedShare { return false }
        switch kind {
        case .free: return true
        case .bucket(let burst):
            tokens = min(burst, tokens + Double(now - filledAt) / 1e9 * rate)
            filledAt = now
        case .window:
            let its = (now + 370_000_000) / 1_000_000_000
            if its != second { (second, tokens) = (its, rate) }
        }
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}

/// A model of lanes that send rows to a server in virtual time. Turns take about a millisecond, and sometimes fifteen.
/// Answers arrive after a round trip, and rows that were refused are sent again after a delay. All lanes share one
/// pace.
struct PaceModel {
    struct Report {
        var seconds = 0.0
        var requests = 0
        var givenUp = 0
        /// The share of the server's rate that was used while there were rows that had not been sent. Afterwards the
        /// model only waits for the delays of the last rows.
        var share = 0.0
        /// The rate in each second.
        var rates: [Double?] = []
    }

    var rows: Int
    var server: RateServer
    /// The round-trip time, in milliseconds.
    var roundTrip: UInt64
    var lanes = 1
    /// The number of streams over all lanes.
    var streams = 1000
    /// The `retry-after` of refusals, in seconds.
    var retryAfter: Double?

    private var pace = RatePace(start: 0)
    private var totals = AnswerSums()
    private var random = SplitMix64(seed: 3)
    private var parts: [Part] = []
    private var report = Report()
    private var fresh = 0
    private var ended = 0
    private var accepted = 0
    private var now: UInt64 = 0

    private struct Part {
        var nextTurn: UInt64
        var answered: UInt64 = 0
        var start = FirstRequests()
        /// The requests in the order in which they were sent. The first `head` of them were answered.
        var sent: [(at: UInt64, isTaken: Bool, attempt: Int)] = []
        var head = 0
        /// The rows that wait to be sent again. Those that are due last come first.
        var waiting: [(at: UInt64, attempt: Int)] = []
    }

    private static let attempts = 5

    init(_ rows: Int, _ server: RateServer, roundTrip: UInt64, lanes: Int = 1, retryAfter: Double? = nil) {
        (self.rows, self.server, self.roundTrip) = (rows, server, roundTrip)
        (self.lanes, self.retryAfter) = (lanes, retryAfter)
        streams = max(1000, Int(2 * server.rate) * Int(roundTrip) / 1000)
    }

    static func run(_ model: PaceModel) -> Report {
        var model = model
        return model.run()
    }

    private mutating func run() -> Report {
        fresh = rows
        parts = (0..<lanes).map { Part(nextTurn: UInt64($0) * 300_000 + 1) }
        while ended < rows, now < 900_000_000_000 {
            let lane = parts.indices.min { parts[$0].nextTurn < parts[$1].nextTurn } ?? 0
            now = parts[lane].nextTurn
            let isStill = random.unit() < 0.002
            parts[lane].nextTurn = now + 500_000 + UInt64(1e6 * random.unit()) + (isStill ? 15_000_000 : 0)
            while report.rates.count <= Int(now / 1_000_000_000) { report.rates.append(pace.rate) }
            takeAnswers(lane)
            totals.inFlight = UInt64(parts.reduce(0) { $0 + $1.sent.count - $1.head })
            pace.look(now: now, totals: totals, isStarting: parts[lane].start.isOn)
            parts[lane].start.note(answered: parts[lane].answered)
            send(lane)
        }
        report.seconds = Double(now) / 1e9
        return report
    }

    private mutating func takeAnswers(_ lane: Int) {
        while parts[lane].head < parts[lane].sent.count, parts[lane].sent[parts[lane].head].at <= now {
            let answer = parts[lane].sent[parts[lane].head]
            parts[lane].head += 1
            parts[lane].answered += 1
            totals.answered += 1
            if answer.isTaken {
                totals.good += 1
                (ended, accepted) = (ended + 1, accepted + 1)
                continue
            }
            if answer.attempt == 1 { totals.troubledFirst += 1 }
            if answer.attempt < Self.attempts {
                wait(lane, answer.attempt)
            } else {
                (report.givenUp, ended) = (report.givenUp + 1, ended + 1)
            }
        }
        if parts[lane].head > 10_000 {
            parts[lane].sent.removeFirst(parts[lane].head)
            parts[lane].head = 0
        }
    }

    private mutating func wait(_ lane: Int, _ attempt: Int) {
        let longest = Double(1 << (attempt - 1))
        var delay = longest * (0.5 + random.unit() / 2)
        if let retryAfter { delay = max(delay, retryAfter + random.unit() * max(longest, retryAfter / 2)) }
        let due = now + UInt64(delay * 1e9)
        var (low, high) = (0, parts[lane].waiting.count)
        while low < high {
            let middle = (low + high) / 2
            if parts[lane].waiting[middle].at > due { low = middle + 1 } else { high = middle }
        }
        parts[lane].waiting.insert((due, attempt), at: low)
    }

    private mutating func send(_ lane: Int) {
        let most = streams / lanes
        let ceiling = parts[lane].start.isOn ? min(most, parts[lane].start.allowed) : most
        var room = min(pace.allowance(now: now), ceiling - parts[lane].sent.count + parts[lane].head, 60)
        var sent = 0
        while room > 0, let attempt = nextRow(lane, sent) {
            let isTaken = server.takes(at: now + roundTrip * 500_000)
            parts[lane].sent.append((now + roundTrip * 1_000_000, isTaken, attempt))
            (room, sent) = (room - 1, sent + 1)
        }
        pace.didSend(sent)
        report.requests += sent
    }

    /// Returns the attempt of the row that is sent next. Rows that are due again and new rows alternate.
    private mutating func nextRow(_ lane: Int, _ sent: Int) -> Int? {
        if let due = parts[lane].waiting.last, due.at <= now, sent % 2 == 0 || fresh == 0 {
            parts[lane].waiting.removeLast()
            return due.attempt + 1
        }
        guard fresh > 0 else { return nil }
        fresh -= 1
        if fresh == 0 { report.share = Double(accepted) / (Double(now) / 1e9) / server.rate }
        return 1
    }
}
