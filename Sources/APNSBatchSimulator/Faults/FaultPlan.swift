/// Decides which faults occur, depending on connections, requests and the time. It is a state machine without sockets.
///
/// Times are in nanoseconds of the loop's clock. There are few connections and faults, so both are searched linearly.
struct FaultPlan {
    private struct Connection {
        var id: UInt64
        var ordinal: Int
        var requests = 0
        /// The last stream that is processed.
        var lastStream = UInt32.max
        var highest: UInt32 = 0
        var isOver = false
    }

    /// A fault that applies to a number of requests or for a time.
    private struct Span {
        var fault: Int
        /// The connection to which it applies; 0 for all.
        var connection: UInt64
        var left: Int
        var until: UInt64
    }

    private enum Due {
        case occasion(fault: Int, connection: UInt64)
        case action(FaultAction)

        /// The connection that the timer requires; nil for none or all.
        var connection: UInt64? {
            switch self {
            case .occasion(_, let connection): connection == 0 ? nil : connection
            case .action(.stall(let connection, _)), .action(.settings(let connection, _)): connection
            case .action: nil
            }
        }
    }

    private let faults: [SimulatorFault]
    private let streams: UInt32
    /// The numbers of the storms, by the index of the fault.
    private let storms: [Int: Int32]
    private var connections: [Connection] = []
    private var spans: [Span] = []
    private var timers: [(time: UInt64, due: Due)] = []
    private var requests = 0
    private var started: UInt64?
    /// The number of times that each fault has occurred.
    private(set) var counts: [Int]

    /// - Parameter streams: the MAX_CONCURRENT_STREAMS that applies without a fault.
    init(_ faults: [SimulatorFault], streams: UInt32) {
        self.faults = faults
        self.streams = streams
        counts = Array(repeating: 0, count: faults.count)
        var storms: [Int: Int32] = [:]
        for (index, fault) in faults.enumerated() {
            if case .storm = fault.what { storms[index] = Int32(storms.count) }
        }
        self.storms = storms
    }

    var isEmpty: Bool { faults.isEmpty }

    /// The next time at which `due` has an action, or UInt64.max.
    var nextTime: UInt64 { timers.map(\.time).min() ?? .max }

    // MARK: Events

    /// Adds a connection that is up, and returns the actions that apply to it at once.
    mutating func opened(_ id: UInt64, ordinal: Int, at now: UInt64) -> [FaultAction] {
        guard !isEmpty else { return [] }
        if started == nil {
            started = now
            startTimers(of: .all, connection: 0, at: now)
        }
        connections.append(Connection(id: id, ordinal: ordinal))
        startTimers(of: .connection, connection: id, at: now)
        var actions: [FaultAction] = []
        var treatment = FaultTreatment()
        for index in faults.indices where faults[index].when.isOpening {
            happen(index, on: connections.count - 1, stream: 0, at: now, &treatment, &actions)
        }
        return actions
    }

    /// Removes a connection that has ended, and all actions that are planned for it.
    mutating func closed(_ id: UInt64) {
        guard !isEmpty else { return }
        connections.removeAll { $0.id == id }
        spans.removeAll { $0.connection == id }
        timers.removeAll { $0.due.connection == id }
    }

    /// Counts a request, and returns its treatment and the other actions that it triggers.
    mutating func received(
        _ id: UInt64, stream: UInt32, at now: UInt64
    ) -> (treatment: FaultTreatment, actions: [FaultAction]) {
        var treatment = FaultTreatment()
        var actions: [FaultAction] = []
        guard !isEmpty, let place = connections.firstIndex(where: { $0.id == id }) else { return (treatment, actions) }
        guard !connections[place].isOver, stream <= connections[place].lastStream else {
            treatment.way = .passOver
            return (treatment, actions)
        }
        requests += 1
        connections[place].requests += 1
        connections[place].highest = max(stream, connections[place].highest)
        for index in faults.indices {
            let when = faults[index].when
            if when.hits(request: when.of == .all ? requests : connections[place].requests) {
                happen(index, on: place, stream: stream, at: now, &treatment, &actions)
            }
        }
        useSpans(connection: id, at: now, &treatment)
        return (treatment, actions)
    }

    /// Returns the actions that are due.
    mutating func due(by now: UInt64) -> [FaultAction] {
        var actions: [FaultAction] = []
        while let place = timers.indices.min(by: { timers[$0].time < timers[$1].time }), timers[place].time <= now {
            let (time, due) = timers.remove(at: place)
            switch due {
            case .action(let action): actions.append(action)
            case .occasion(let fault, let connection):
                if let every = faults[fault].when.everyMilliseconds {
                    timers.append((time + Self.nanoseconds(every), due))
                }
                happen(fault, onAllOf: connection, at: now, &actions)
            }
        }
        return actions
    }

    // MARK: Applying faults

    private mutating func startTimers(of scope: FaultOccasion.Scope, connection: UInt64, at now: UInt64) {
        for (index, fault) in faults.enumerated() where fault.when.isTimed && (fault.when.of ?? .connection) == scope {
            let after = fault.when.afterMilliseconds ?? fault.when.everyMilliseconds ?? 0
            timers.append((now + Self.nanoseconds(after), .occasion(fault: index, connection: connection)))
        }
    }

    /// Applies a timed fault to one connection, or to all.
    private mutating func happen(
        _ index: Int, onAllOf connection: UInt64, at now: UInt64, _ actions: inout [FaultAction]
    ) {
        var treatment = FaultTreatment()
        if case .refuseConnects = faults[index].what {
            happen(index, on: nil, stream: 0, at: now, &treatment, &actions)
            return
        }
        for place in connections.indices where connection == 0 || connections[place].id == connection {
            guard !connections[place].isOver else { continue }
            happen(index, on: place, stream: 0, at: now, &treatment, &actions)
        }
    }

    private mutating func happen(
        _ index: Int, on place: Int?, stream: UInt32, at now: UInt64, _ treatment: inout FaultTreatment,
        _ actions: inout [FaultAction]
    ) {
        let fault = faults[index]
        guard isOpen(fault.when, index, at: now) else { return }
        if let place, !fault.when.concerns(connection: connections[place].ordinal) { return }
        counts[index] += 1
        let id = place.map { connections[$0].id } ?? 0
        switch fault.what {
        case .goaway(let goaway): say(goaway, on: place, stream: stream, &actions)
        case .abort(let how):
            if let place { connections[place].isOver = true }
            treatment.way = .unanswered
            actions.append(.abort(connection: id, how))
        case .stall(let stall):
            actions.append(.stall(connection: id, stall.side))
            later(stall.milliseconds, .stall(connection: id, nil), at: now)
        case .settings(let settings):
            actions.append(.settings(connection: id, settings.settings()))
            later(settings.milliseconds, .settings(connection: id, settings.restored(streams: streams)), at: now)
        case .ignorePings: actions.append(.ignorePings(connection: id))
        case .refuseConnects(let milliseconds):
            actions.append(.listen(false))
            later(milliseconds, .listen(true), at: now)
        case .storm(let storm):
            begin(index, storm.requests ?? (storm.milliseconds == nil ? 1 : nil), storm.milliseconds, id, at: now)
        case .slow(let slow): begin(index, slow.requests, nil, id, at: now)
        case .shape(let shape):
            if shape.form == .early { actions.append(.early(connection: id, true)) }
            begin(index, shape.requests, nil, id, at: now)
        case .reset(let reset):
            treatment.reset = reset
            if reset.isRefusal { treatment.way = .refuse }
        case .malformed(let malformed):
            if malformed.isAboutStream { treatment.way = .unanswered }
            actions.append(.bytes(connection: id, malformed.bytes(stream: stream)))
        case .flood(let flood):
            if flood.kind.isAnswer {
                treatment.flood = flood
            } else if flood.kind == .settings {
                // The frames are sent by the library, because it expects the same number of acknowledgements.
                let unknown = FaultAction.settings(connection: id, [FaultSetting(id: 0xF0, value: 1)])
                actions += Array(repeating: unknown, count: flood.count)
            } else {
                if flood.kind == .continuation { treatment.way = .unanswered }
                actions.append(.bytes(connection: id, FaultFrames.flood(flood, stream: stream)))
            }
        }
    }

    private func isOpen(_ when: FaultOccasion, _ index: Int, at now: UInt64) -> Bool {
        if let times = when.times, counts[index] >= times { return false }
        let elapsed = now - (started ?? now)
        if let from = when.fromMilliseconds, elapsed < Self.nanoseconds(from) { return false }
        if let until = when.untilMilliseconds, elapsed > Self.nanoseconds(until) { return false }
        return true
    }

    private mutating func say(
        _ goaway: GoAwayFault, on place: Int?, stream: UInt32, _ actions: inout [FaultAction]
    ) {
        guard let place else { return }
        let id = connections[place].id
        var last = stream > 0 ? stream : connections[place].highest
        if case .number(let number) = goaway.lastStream { last = UInt32(number) }
        connections[place].lastStream = min(last, connections[place].lastStream)
        if goaway.graceful {
            actions.append(.goaway(connection: id, lastStream: UInt32(Int32.max), code: 0, debug: ""))
        }
        let action = FaultAction.goaway(connection: id, lastStream: last, code: goaway.code, debug: goaway.debug)
        actions += Array(repeating: action, count: goaway.twice ? 2 : 1)
    }

    private mutating func later(_ milliseconds: Int?, _ action: FaultAction, at now: UInt64) {
        guard let milliseconds else { return }
        timers.append((now + Self.nanoseconds(milliseconds), .action(action)))
    }

    // MARK: Spans

    private mutating func begin(_ index: Int, _ requests: Int?, _ milliseconds: Int?, _ id: UInt64, at now: UInt64) {
        let connection = faults[index].when.of == .all ? 0 : id
        spans.removeAll { $0.fault == index && $0.connection == connection }
        spans.append(
            Span(
                fault: index, connection: connection, left: requests ?? .max,
                until: milliseconds.map { now + Self.nanoseconds($0) } ?? .max))
    }

    private mutating func useSpans(connection: UInt64, at now: UInt64, _ treatment: inout FaultTreatment) {
        guard !spans.isEmpty else { return }
        spans.removeAll { $0.left == 0 || $0.until <= now }
        for place in spans.indices where spans[place].connection == 0 || spans[place].connection == connection {
            if spans[place].left < .max { spans[place].left -= 1 }
            switch faults[spans[place].fault].what {
            case .storm: treatment.storm = storms[spans[place].fault] ?? -1
            case .slow(let slow): treatment.delay += Self.nanoseconds(slow.milliseconds)
            case .shape(let shape):
                treatment.form = shape.form
                treatment.isEarly = treatment.isEarly || shape.form == .early
            default: break
            }
        }
    }

    private static func nanoseconds(_ milliseconds: Int) -> UInt64 { UInt64(milliseconds) * 1_000_000 }
}
