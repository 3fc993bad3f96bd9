import Testing

/// A server, in memory, that sends the bytes of a violation once, at one place of the conversation, and answers every
/// other request with 200. It takes frames, and returns what it sends: each element is received by itself.
struct HostileServer {
    /// Where in the conversation the bytes are.
    enum Place: CaseIterable, Sendable {
        /// Behind the first SETTINGS, and read together with them.
        case withSettings
        /// Behind the first SETTINGS, before any request.
        case behindSettings
        /// Behind the answer to the only open request.
        case behindLastAnswer
        /// Behind one of three answers.
        case betweenAnswers
        /// While the bodies of three requests wait for their windows.
        case whileBodiesWait
        /// Behind one of three answers, of which the client awaits the last ones before it closes.
        case whileDraining
        /// Behind GOAWAY, which lets three requests be answered.
        case behindGoaway
        /// Behind the answer to the only open request, and GOAWAY.
        case behindLastGoaway

        /// Whether a request is open, which the bytes may concern.
        var hasOpenStream: Bool {
            switch self {
            case .withSettings, .behindSettings, .behindLastAnswer, .behindLastGoaway: false
            case .betweenAnswers, .whileBodiesWait, .whileDraining, .behindGoaway: true
            }
        }

        /// How many requests must be open at once for the place to be reached.
        var width: Int { hasOpenStream ? 3 : 1 }
        var hasGoaway: Bool { self == .behindGoaway || self == .behindLastGoaway }
    }

    /// How the bytes are divided.
    struct Split: Sendable, CustomTestStringConvertible {
        enum Joint: Sendable {
            /// They begin with what they follow.
            case before
            /// They begin by themselves.
            case none
            /// They are received together with what they follow and with the answers to the open requests.
            case both
        }

        var joint: Joint
        /// The numbers of bytes behind which a new piece begins, ascending.
        var cuts: [Int] = []

        var testDescription: String { "\(joint), cut at \(cuts)" }

        /// All splits in two, with those of single bytes. Of long bytes only the first and the last ones are split.
        static func all(of count: Int) -> [Split] {
            if count > 1000 {
                return few(of: count) + [1, 8, 9, 10, count - 1].map { Split(joint: .before, cuts: [$0]) }
            }
            let places = count <= 80 ? Array(0..<count).dropFirst() : Array(1..<24) + [count / 2, count - 1]
            return few(of: count) + places.map { Split(joint: .before, cuts: [$0]) }
        }

        /// The whole bytes, with and without what is beside them, and single ones.
        static func few(of count: Int) -> [Split] {
            let single = Array((0..<min(count, 40)).dropFirst())
            return [
                Split(joint: .before), Split(joint: .none), Split(joint: .both), Split(joint: .none, cuts: single),
            ]
        }
    }

    let violation: Violation
    let place: Place
    let split: Split
    /// Whether the bytes were sent.
    private(set) var isDone = false
    /// The stream of an open request that they may concern.
    private(set) var target: UInt32?
    /// The streams of requests, in order of their HEADERS.
    private(set) var opened: [UInt32] = []
    /// Those that were reset by the client.
    private(set) var reset: Set<UInt32> = []
    private(set) var answered: Set<UInt32> = []
    private var complete: [UInt32] = []
    /// What comes later than the bytes in the same turn.
    private var later: [UInt8] = []

    init(_ violation: Violation, _ place: Place, _ split: Split) {
        (self.violation, self.place, self.split) = (violation, place, split)
    }

    // MARK: The conversation

    mutating func greet() -> [[UInt8]] {
        let settings = Frame.settings(place == .whileBodiesWait ? [3: 100, 4: 0] : [3: 100]).bytes
        return place == .withSettings ? misbehave(behind: settings) : [settings]
    }

    mutating func take(_ frame: Frame) -> [[UInt8]] {
        var sent: [[UInt8]] = []
        switch frame.type {
        case Frame.settings where frame.flags & 1 == 0: sent.append(Frame(type: Frame.settings, flags: 1).bytes)
        case Frame.ping where frame.flags & 1 == 0:
            sent.append(Frame(type: Frame.ping, flags: 1, payload: frame.payload).bytes)
        case Frame.headers:
            opened.append(frame.stream)
            if frame.flags & Frame.endStream != 0 { complete.append(frame.stream) }
        case Frame.data where frame.flags & Frame.endStream != 0: complete.append(frame.stream)
        case Frame.reset: reset.insert(frame.stream)
        default: break
        }
        sent += isDone ? answers() : deed(frame)
        return sent
    }

    private mutating func deed(_ frame: Frame) -> [[UInt8]] {
        switch place {
        case .withSettings: return []
        case .behindSettings: return frame.type == Frame.settings ? misbehave(behind: []) : []
        case .whileBodiesWait:
            guard opened.count >= 3 else { return [] }
            target = opened[1]
            later = Frame.settings([4: 65_535]).bytes
            return misbehave(behind: [])
        case .behindLastAnswer: return complete.isEmpty ? [] : misbehave(behind: answer(complete[0]))
        case .behindLastGoaway:
            guard let last = complete.first else { return [] }
            return misbehave(behind: answer(last) + Frame.goaway(last, 0, "").bytes)
        case .betweenAnswers, .whileDraining:
            guard complete.count >= 3 else { return [] }
            target = complete[1]
            return misbehave(behind: answer(complete[0]))
        case .behindGoaway:
            guard complete.count >= 3 else { return [] }
            target = complete[1]
            return misbehave(behind: Frame.goaway(complete[2], 0, "").bytes)
        }
    }

    private mutating func misbehave(behind before: [UInt8]) -> [[UInt8]] {
        isDone = true
        let bytes = violation.bytes(
            .init(target: target ?? opened.last ?? 1, next: (opened.last ?? 0) &+ (opened.isEmpty ? 1 : 2)))
        if let target, violation.effect != .none { answered.insert(target) }
        let rest = later + answers().joined()
        guard split.joint != .both else { return [before + bytes + rest] }
        var pieces: [[UInt8]] = []
        var begin = 0
        for cut in split.cuts + [bytes.count] {
            pieces.append(Array(bytes[begin..<cut]))
            begin = cut
        }
        if split.joint == .before { pieces[0] = before + pieces[0] } else { pieces.insert(before, at: 0) }
        return (pieces + [rest]).filter { !$0.isEmpty }
    }

    /// Answers whatever is complete.
    private mutating func answers() -> [[UInt8]] {
        complete.filter { !answered.contains($0) }.map { answer($0) }
    }

    private mutating func answer(_ stream: UInt32) -> [UInt8] {
        answered.insert(stream)
        return Frame.ok(stream).bytes
    }
}

extension Violation {
    /// What is demanded at a place. Bytes about an open request are something else where there is none, and behind the last
    /// GOAWAY nothing matters any more. A server that has not acknowledged the client's SETTINGS may still push (RFC 9113,
    /// section 6.6).
    func demand(at place: HostileServer.Place) -> Demand {
        let isPush = place == .withSettings && name.hasPrefix("PUSH_PROMISE")
        if place == .behindLastGoaway || isPush { return .free }
        let isEnd = demand == .connectionError && effect == .none
        return isAboutRequest && !isEnd && !place.hasOpenStream ? .free : demand
    }
}
