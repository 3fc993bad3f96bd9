import APNSBatchBasics
import APNSBatchSimulator

/// Where the simulator's thread and a test meet: it has the answers that the test has given, and keeps the requests that arrive.
final class RequestDesk: SimulatorProbe {
    /// A call that waits until this many requests have arrived.
    private struct Waiter {
        var number: UInt64
        var count: Int
        var call: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var log: RequestLog
        /// By device token, in lower case.
        var answers: [String: TokenAnswers] = [:]
        var waiting: [Waiter] = []
        var waiters: UInt64 = 0
        var isOver = false

        /// Removes and returns the calls that wait for no further request.
        mutating func takeReady() -> [CheckedContinuation<Void, any Error>] {
            guard waiting.contains(where: { $0.count <= log.total }) else { return [] }
            defer { waiting.removeAll { $0.count <= log.total } }
            return waiting.filter { $0.count <= log.total }.map(\.call)
        }

        mutating func takeWaiter(_ number: UInt64) -> CheckedContinuation<Void, any Error>? {
            waiting.firstIndex { $0.number == number }.map { waiting.remove(at: $0).call }
        }
    }

    private let state: Guarded<State>

    init(requestsKept: Int) {
        state = Guarded(State(log: RequestLog(capacity: requestsKept)))
    }

    // MARK: The test's side

    func add(_ answer: ChosenAnswer, for token: String, times: Int?) {
        state.withLock { $0.answers[token, default: TokenAnswers()].add(answer, times: times) }
    }

    var requests: [Simulator.Request] { state.withLock { $0.log.requests } }

    var requestsForgotten: Int { state.withLock { $0.log.forgotten } }

    /// Returns when at least this many requests have arrived.
    func wait(for count: Int) async throws {
        let number = state.withLock { state in
            state.waiters += 1
            return state.waiters
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { call in
                if let result = enter(Waiter(number: number, count: count, call: call)) { call.resume(with: result) }
            }
        } onCancel: {
            state.withLock { $0.takeWaiter(number) }?.resume(throwing: CancellationError())
        }
    }

    /// Lets a call wait, or returns its result if it need not.
    private func enter(_ waiter: Waiter) -> Result<Void, any Error>? {
        state.withLock { state in
            // A task that is cancelled later finds the waiter.
            if Task.isCancelled { return .failure(CancellationError()) }
            if waiter.count <= state.log.total { return .success(()) }
            if state.isOver { return .failure(Self.ended) }
            state.waiting.append(waiter)
            return nil
        }
    }

    /// Ends all waiting: no request follows.
    func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.call.resume(throwing: Self.ended) }
    }

    private static let ended = SimulatorError(.ended, "the simulator stopped before the awaited requests had arrived")

    // MARK: The simulator's side

    func answer(toDevice token: UnsafeRawBufferPointer) -> ChosenAnswer? {
        state.withLock { state in
            guard !state.answers.isEmpty else { return nil }
            return unsafe state.answers[String(decoding: token, as: UTF8.self)]?.next()
        }
    }

    func judged(_ request: JudgedRequest) {
        let request = Simulator.Request(request)
        let ready = state.withLock { state in
            state.log.append(request)
            return state.takeReady()
        }
        for call in ready { call.resume() }
    }
}
