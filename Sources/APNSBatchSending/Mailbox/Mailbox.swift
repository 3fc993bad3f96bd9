import APNSBatchBasics
import APNSBatchModel
import Synchronization

/// A task that waits to be resumed.
package typealias WaitingTask = UnsafeContinuation<Void, Never>

/// Who awaits the end of a submission.
package protocol SubmissionOwner: AnyObject, Sendable {
    /// Called once for each submission, without a lock, on any thread, possibly before `submit` has returned. It must not block.
    ///
    /// - Parameter tag: What was given with the submission.
    /// - Returns: The task that awaits the end, for the caller to resume, which may do so after the ends of other submissions.
    func submissionDidEnd(_ end: consuming Mailbox.End, tag: Int) -> WaitingTask?
}

/// The notifications that a program has given to a sender and that have not ended: those that wait for a lane, and those that
/// lanes have taken.
///
/// Any thread submits, cancels and closes. Lanes take submissions in batches and return their ends in batches. A lane that
/// waits is woken when there is something for it; while it works it looks by itself.
package final class Mailbox: Sendable {
    /// How a submission ends.
    package typealias End = Result<SendResult, SendError>

    /// Why the end of a submission is requested before there is a result.
    package enum Interruption: Sendable {
        case cancelled
        case timedOut
    }

    /// What a mailbox that was closed requests of its lanes.
    package enum Ending: Sendable, Equatable {
        case none
        /// They start no further request, and await the answers to those in flight.
        case startsNothing
        /// They await nothing.
        case now
    }

    private enum Phase {
        case free
        case waiting
        case taken(lane: Int)
    }

    /// The receiver of the end of a submission, and its tag.
    private struct Owner {
        let owner: any SubmissionOwner
        let tag: Int

        func tell(_ end: consuming End) -> WaitingTask? { unsafe owner.submissionDidEnd(end, tag: tag) }
    }

    private struct Place {
        var generation: UInt32 = 0
        var phase = Phase.free
        var fields: SubmittedFields?
        var owner: Owner?

        /// The id of the submission that is at this place, which has the number `place`.
        func id(_ place: Int) -> UInt64 { UInt64(generation) << 32 | UInt64(place) }

        mutating func begin(_ fields: SubmittedFields, _ owner: Owner) {
            (phase, self.fields, self.owner) = (.waiting, fields, owner)
        }

        /// Frees the place, and returns the receiver of the end of its submission. The two highest bits of an id stay zero.
        mutating func end() -> Owner? {
            generation = (generation + 1) & 0x3fff_ffff
            phase = .free
            fields = nil
            return owner.take()
        }

        /// Passes a waiting submission to a lane. Returns nil if it has ended.
        mutating func take(_ id: UInt64, lane: Int) -> SubmittedFields? {
            guard generation == UInt32(truncatingIfNeeded: id >> 32), case .waiting = phase else { return nil }
            phase = .taken(lane: lane)
            return fields.take()
        }
    }

    private struct State {
        var places: [Place] = []
        var free: [Int32] = []
        /// The ids of waiting submissions in their order. It may contain some that have ended meanwhile.
        var queue: [UInt64] = []
        var queueHead = 0
        /// The numbers of submissions in the phases waiting and taken.
        var waiting = 0
        var taken = 0
        var deadlines = DeadlineWheel()
        /// For each lane, the submissions whose end is requested.
        var interrupted: [[(id: UInt64, why: Interruption)]]
        var isClosed = false
        /// The number of submissions that ended with an error, by the place of its code among all codes.
        var errors = [UInt64](repeating: 0, count: SendError.Code.allCases.count)
        /// When the sender stops awaiting answers, in nanoseconds; nil before it is closed.
        var graceEnds: UInt64?
        /// When the sender starts no further request, in nanoseconds; nil before it is closed.
        var lastStart: UInt64?

        mutating func note(_ code: SendError.Code, count: Int = 1) {
            guard let place = SendError.Code.allCases.firstIndex(of: code) else { return }
            errors[place] &+= UInt64(count)
        }
    }

    private let state: Guarded<State>
    /// For each lane, whether it waits and is to be woken for a submission, and whether the end of some is requested.
    private let sleeping: [Flag]
    private let hasInterrupted: [Flag]
    /// Nil while there are no lanes.
    private let crew = Guarded<Crew?>(nil)
    private let most: Int
    /// The number of submissions that lanes may take, for a look without the lock.
    private let available = Atomic<Int>(0)
    private let pendingCount = Atomic<Int>(0)
    /// Whether it was closed, for a look without the lock.
    private let isClosing = Atomic<Bool>(false)

    /// What the mailbox needs of the lanes.
    private struct Crew {
        let wake: @Sendable (_ lane: Int) -> Void
        /// Returns why submissions wait, for errors.
        let explain: @Sendable () -> String?
    }

    private final class Flag: Sendable {
        let value = Atomic<Bool>(false)
    }

    /// - Parameter most: The number of submissions that lanes work on at once. Further ones wait.
    package init(lanes: Int, most: Int) {
        state = Guarded(State(interrupted: Array(repeating: [], count: lanes)))
        sleeping = (0..<lanes).map { _ in Flag() }
        hasInterrupted = (0..<lanes).map { _ in Flag() }
        self.most = most
    }

    /// Sets what the mailbox needs of the lanes.
    ///
    /// - Parameters:
    ///   - wake: Ends the wait of a lane.
    ///   - explain: Returns why submissions wait; nil if connections are not the cause.
    package func attach(wake: @escaping @Sendable (_ lane: Int) -> Void, explain: @escaping @Sendable () -> String?) {
        crew.withLock { $0 = Crew(wake: wake, explain: explain) }
    }

    /// Forgets the lanes, which have ended.
    package func detach() { crew.withLock { $0 = nil } }

    /// The number of submissions that have not ended.
    package var pending: Int { pendingCount.load(ordering: .relaxed) }

    /// How many submissions of some mailboxes have ended with an error, by its code.
    package static func errorCounts(_ mailboxes: [Mailbox]) -> [(code: String, count: UInt64)] {
        var counts = [UInt64](repeating: 0, count: SendError.Code.allCases.count)
        for mailbox in mailboxes {
            mailbox.state.withLock { state in
                for place in counts.indices { counts[place] &+= state.errors[place] }
            }
        }
        return zip(SendError.Code.allCases, counts).map { ($0.name, $1) }
    }

    // MARK: The program's side

    /// Submits the fields of a notification. Its owner is notified of its end once, if the result is an id.
    ///
    /// - Parameters:
    ///   - deadline: When the submission ends without a result, in nanoseconds.
    ///   - onlyIfRoom: Whether to refuse the notification while as many are pending as lanes work on at once.
    /// - Returns: The id; nil if it was refused for that reason.
    package func submit(
        _ fields: SubmittedFields, deadline: UInt64, onlyIfRoom: Bool = false,
        owner: any SubmissionOwner, tag: Int = 0
    ) throws(SendError) -> UInt64? {
        let id = try state.withLock { (state) throws(SendError) -> UInt64? in
            guard !state.isClosed else { throw Self.closed }
            if onlyIfRoom, state.waiting + state.taken >= most { return nil }
            return add(fields, deadline, Owner(owner: owner, tag: tag), to: &state)
        }
        if id != nil { wakeSleeper() }
        return id
    }

    private func add(
        _ fields: SubmittedFields, _ deadline: UInt64, _ owner: Owner, to state: inout State
    ) -> UInt64 {
        let place: Int
        if let free = state.free.popLast() {
            place = Int(free)
        } else {
            place = state.places.count
            state.places.append(Place())
        }
        state.places[place].begin(fields, owner)
        state.deadlines.add(place, deadline: deadline)
        let id = state.places[place].id(place)
        state.queue.append(id)
        state.waiting += 1
        publish(state)
        return id
    }

    /// Ends a submission because its task was cancelled: at once if no lane has taken it, and otherwise soon. Does nothing if
    /// it has ended.
    package func cancel(_ id: UInt64) { interrupt([id], .cancelled) }

    /// Ends all submissions of an owner, as ``cancel(_:)`` does.
    package func cancelAll(of owner: any SubmissionOwner) {
        let ids = state.withLock { state in
            state.places.indices.compactMap { place in
                state.places[place].owner?.owner === owner ? state.places[place].id(place) : nil
            }
        }
        interrupt(ids, .cancelled)
    }

    /// Closes the mailbox at the beginning of a grace period.
    ///
    /// - Parameter answers: The times of answers until now.
    package func close(now: UInt64, grace: UInt64, answers: AnswerTimeCounts) {
        let period = GracePeriod(grace, answers)
        close(graceEnds: Self.sum(now, period.length), lastStart: Self.sum(now, period.starting))
    }

    private static func sum(_ time: UInt64, _ length: UInt64) -> UInt64 {
        let (sum, isTooLarge) = time.addingReportingOverflow(length)
        return isTooLarge ? .max : sum
    }

    /// Takes no further submission. Those that it has are sent; what has no result when the grace period has passed ends with
    /// an error.
    ///
    /// - Parameters:
    ///   - graceEnds: In nanoseconds.
    ///   - lastStart: From when on no request is started, in nanoseconds, so that those in flight can be answered in time.
    package func close(graceEnds: UInt64, lastStart: UInt64 = .max) {
        state.withLock { state in
            state.isClosed = true
            state.graceEnds = min(state.graceEnds ?? .max, graceEnds)
            state.lastStart = min(state.lastStart ?? .max, lastStart)
        }
        isClosing.store(true, ordering: .releasing)
        for lane in sleeping.indices { wake(lane) }
    }

    /// Ends everything that is pending. Called after the lanes have ended, or instead of starting them.
    package func end() {
        let ended = state.withLock { state -> [(Owner, SendError)] in
            state.isClosed = true
            var ended: [(Owner, SendError)] = []
            for place in state.places.indices {
                // What a lane had taken may have been sent if the lane could not report more.
                let arrival: Arrival
                switch state.places[place].phase {
                case .free: continue
                case .waiting: arrival = .notSent
                case .taken: arrival = .maybeSent
                }
                if let owner = remove(place, from: &state) {
                    ended.append((owner, SendError(.shuttingDown, arrival, Self.endedText)))
                }
            }
            state.note(.shuttingDown, count: ended.count)
            publish(state)
            return ended
        }
        for (owner, error) in ended { unsafe owner.tell(.failure(error))?.resume() }
    }

    private static let closed = SendError(.shuttingDown, .notSent, "the sender takes no more notifications")
    private static let endedText = "the sender ended before the answer"
    private static let tooLateText = "the sender ended before it was sent"

    // MARK: The lanes' side

    /// Takes the submissions that have waited longest, at most `most`.
    func take(_ most: Int, lane: Int, into taken: inout [Submission]) {
        guard available.load(ordering: .acquiring) > 0 else { return }
        state.withLock { state in
            var room = min(most, self.most - state.taken)
            while room > 0, state.queueHead < state.queue.count {
                let id = state.queue[state.queueHead]
                state.queueHead += 1
                let place = Submission.place(of: id)
                guard let fields = state.places[place].take(id, lane: lane) else { continue }
                state.waiting -= 1
                state.taken += 1
                room -= 1
                taken.append(Submission(id: id, fields: fields))
            }
            if state.queueHead >= 1024 || state.queueHead == state.queue.count {
                state.queue.removeFirst(state.queueHead)
                state.queueHead = 0
            }
            publish(state)
        }
    }

    /// Whether a lane will get no further submission.
    var isExhausted: Bool { state.withLock { $0.isClosed && $0.waiting == 0 } }

    /// Ends the submissions of a batch of outcomes. Unknown ones are ignored: they ended before.
    ///
    /// - Returns: The tasks that await the ends, for the caller to resume.
    package func end(_ batch: OutcomeBatch, campaign: (UInt64, UInt64)) -> [WaitingTask] {
        var owners: [Owner?] = []
        owners.reserveCapacity(batch.count)
        state.withLock { state in
            for index in unsafe batch.entries.indices {
                owners.append(finish(unsafe batch.entries[index].row, in: &state))
            }
            publish(state)
        }
        var waiting: [WaitingTask] = unsafe []
        for (index, owner) in owners.enumerated() {
            let entry = unsafe batch.entries[index]
            let task = unsafe owner?.tell(.success(SendResult(entry, in: batch, campaign: campaign)))
            if let task = unsafe task { unsafe waiting.append(task) }
        }
        return unsafe waiting
    }

    /// Ends a submission without a result, because the sender ends.
    func giveUp(_ id: UInt64, _ arrival: Arrival) { fail(id, .shuttingDown, arrival, Self.endedText) }

    func fail(_ id: UInt64, _ code: SendError.Code, _ arrival: Arrival, _ description: String) {
        let owner = state.withLock { state in
            defer { publish(state) }
            let owner = finish(id, in: &state)
            if owner != nil { state.note(code) }
            return owner
        }
        unsafe owner?.tell(.failure(SendError(code, arrival, description)))?.resume()
    }

    /// Ends a submission whose end is requested.
    func fail(_ id: UInt64, _ why: Interruption, _ arrival: Arrival) {
        let (code, text) = describe(why)
        fail(id, code, arrival, text)
    }

    /// Whether the end of submissions is requested that this lane has taken.
    func hasInterrupted(lane: Int) -> Bool { hasInterrupted[lane].value.load(ordering: .relaxed) }

    /// Returns the submissions of a lane whose end is requested, each once.
    func takeInterrupted(lane: Int) -> [(id: UInt64, why: Interruption)] {
        state.withLock { state in
            defer { state.interrupted[lane].removeAll() }
            hasInterrupted[lane].value.store(false, ordering: .relaxed)
            return state.interrupted[lane]
        }
    }

    /// Whether a lane looks at the deadlines of all submissions. Before the mailbox is closed, the first lane does so for all;
    /// afterwards each does, because any of them may end first.
    func isWatched(by lane: Int) -> Bool { lane == 0 || isClosing.load(ordering: .acquiring) }

    /// Ends submissions whose deadlines have passed. Called every few milliseconds while there are any. Returns whether the sender
    /// ends: it is closed, and no result is awaited any more, or its grace period has passed, or so much of it that no further request
    /// could be answered in time; what waits then ends, because it will not be sent.
    package func tick(now: UInt64) -> Ending {
        let (expired, ending) = state.withLock { state -> ([UInt64], Ending) in
            let places = state.deadlines.expire(now: now)
            let isDone = state.isClosed && state.waiting + state.taken == places.count
            let isOver = isDone || state.graceEnds.map { now >= $0 } ?? false
            let startsNothing = state.lastStart.map { now >= $0 } ?? false
            return (places.map { state.places[$0].id($0) }, isOver ? .now : startsNothing ? .startsNothing : .none)
        }
        if !expired.isEmpty { interrupt(expired, .timedOut) }
        if ending == .startsNothing { endWaiting() }
        return ending
    }

    /// Ends what no lane has taken.
    private func endWaiting() {
        let owners = state.withLock { state -> [Owner] in
            guard state.waiting > 0 else { return [] }
            var owners: [Owner] = []
            for place in state.places.indices {
                guard case .waiting = state.places[place].phase, let owner = remove(place, from: &state) else {
                    continue
                }
                owners.append(owner)
            }
            state.note(.shuttingDown, count: owners.count)
            publish(state)
            return owners
        }
        for owner in owners {
            unsafe owner.tell(.failure(SendError(.shuttingDown, .notSent, Self.tooLateText)))?.resume()
        }
    }

    // MARK: Waking lanes

    /// A lane that will wait for anything announces it, and gets whether it may: not if there is a submission for it.
    func mayWait(lane: Int) -> Bool {
        sleeping[lane].value.store(true, ordering: .sequentiallyConsistent)
        guard available.load(ordering: .sequentiallyConsistent) == 0 else {
            didWait(lane: lane)
            return false
        }
        return true
    }

    func didWait(lane: Int) { sleeping[lane].value.store(false, ordering: .relaxed) }

    private func wakeSleeper() {
        for lane in sleeping.indices where sleeping[lane].value.exchange(false, ordering: .sequentiallyConsistent) {
            return wake(lane)
        }
    }

    private func wake(_ lane: Int) { crew.withLock { $0 }?.wake(lane) }

    // MARK: Within

    private func interrupt(_ ids: [UInt64], _ why: Interruption) {
        var ended: [Owner] = []
        var lanes: Set<Int> = []
        state.withLock { state in
            for id in ids {
                let place = Submission.place(of: id)
                guard state.places[place].generation == UInt32(truncatingIfNeeded: id >> 32) else { continue }
                switch state.places[place].phase {
                case .free: break
                case .waiting: if let owner = remove(place, from: &state) { ended.append(owner) }
                case .taken(let lane):
                    state.interrupted[lane].append((id, why))
                    hasInterrupted[lane].value.store(true, ordering: .relaxed)
                    lanes.insert(lane)
                }
            }
            publish(state)
        }
        for lane in lanes { wake(lane) }
        guard !ended.isEmpty else { return }
        let (code, text) = describe(why)
        state.withLock { $0.note(code, count: ended.count) }
        for owner in ended { unsafe owner.tell(.failure(SendError(code, .notSent, text)))?.resume() }
    }

    private func describe(_ why: Interruption) -> (SendError.Code, String) {
        switch why {
        case .cancelled: return (.cancelled, "the task was cancelled")
        case .timedOut:
            guard let crew = crew.withLock({ $0 }) else {
                return (.notRunning, "the sender was not started in time: call run()")
            }
            return crew.explain().map { (.unreachable, $0) } ?? (.timedOut, "no result in time")
        }
    }

    /// Frees the place of a submission that a lane had taken. Returns nil if it has ended before.
    private func finish(_ id: UInt64, in state: inout State) -> Owner? {
        let place = Submission.place(of: id)
        guard place < state.places.count, state.places[place].generation == UInt32(truncatingIfNeeded: id >> 32),
            case .taken = state.places[place].phase
        else { return nil }
        return remove(place, from: &state)
    }

    private func remove(_ place: Int, from state: inout State) -> Owner? {
        switch state.places[place].phase {
        case .free: return nil
        case .waiting: state.waiting -= 1
        case .taken: state.taken -= 1
        }
        state.deadlines.remove(place)
        state.free.append(Int32(place))
        return state.places[place].end()
    }

    private func publish(_ state: borrowing State) {
        available.store(min(state.waiting, max(0, most - state.taken)), ordering: .sequentiallyConsistent)
        pendingCount.store(state.waiting + state.taken, ordering: .relaxed)
    }
}
