/// When an answer leaves: its turn, where only so many are given in a second, and then its latency.
struct AnswerTime {
    private var latency: LatencyDraw
    /// Nanoseconds between two answers.
    private let gap: UInt64
    /// When the next request has its turn.
    private var turn: UInt64 = 0

    init(_ script: SimulatorScript) {
        latency = LatencyDraw(script.latency, seed: script.seed)
        gap = script.answersPerSecond > 0 ? 1_000_000_000 / UInt64(script.answersPerSecond) : 0
    }

    /// Whether answers go at once.
    var isAtOnce: Bool { gap == 0 && latency.isNone }

    /// When the request that came at `tick`, in nanoseconds, is answered.
    mutating func next(after tick: UInt64) -> UInt64 {
        turn = max(turn + gap, tick)
        return turn + latency.next()
    }
}
