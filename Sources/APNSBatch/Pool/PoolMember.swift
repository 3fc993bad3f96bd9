import LaneTransport

extension ConnectionPool {
    enum Phase: Equatable { case free, connecting, up, draining, closing }

    struct Member: Equatable {
        var phase = Phase.free { didSet { refresh() } }
        var connection: ConnectionID = 0
        /// Its place in the pool; that of a member that leaves is vacant.
        var slot = 0
        /// Of the credentials that it has.
        var generation = 0
        /// Streams that may be in use at once.
        var streams = 0 { didSet { refresh() } }
        /// The same while it takes requests, else 0: what each pick looks at.
        private var usable = 0
        /// The peer's MAX_CONCURRENT_STREAMS, and the most that it was.
        var announced = 0
        var announcedMost = 0
        /// When that limit fell to nearly nothing; nil while it is sound.
        var fallenAt: UInt64?
        var inFlight = 0
        /// Answers that came over it, and when the last one did.
        var answers = 0
        var answeredAt: UInt64 = 0
        /// It takes no request before then.
        var heldUntil: UInt64 = 0 { didSet { refresh() } }
        /// Requests that its server takes before GOAWAY, as far as is known.
        var life = Int.max
        /// It will be used up soon: its place is free for a successor, and it serves until its server says GOAWAY.
        var isEnding = false
        /// There are more connections than are of use, and it goes.
        var isSurplus = false
        /// It was opened for one that served well.
        var isSuccessor = false
        /// When the connection's provider token becomes too old to be used; nil with a client certificate.
        var tokenExpiresAt: UInt64?
        /// When a successor is due, so that it is of use by then.
        var successorDueAt: UInt64?
        /// Another member is to take its place.
        var isLeaving = false
        /// When it was opened, and when it came up.
        var openedAt: UInt64 = 0
        var upAt: UInt64 = 0
        /// When the last PING was answered, and when one that is not was sent.
        var pongedAt: UInt64 = 0
        var pingedAt: UInt64?
        /// Connecting: when another address family may be tried beside it.
        var racesAt: UInt64?
        /// Who races it, in the same place, whether it is the one that came later, and whether the other was faster.
        var rival: Int?
        var races = false
        var hasLost = false
        /// Draining: when its answers are awaited no longer.
        var closesAt: UInt64?

        /// A request has its outcome; says whether the member is up. In one step: each look into the pool's array from
        /// outside asks whether it is shared.
        mutating func didEnd(answered: Bool, now: UInt64) -> Bool {
            precondition(inFlight > 0, "an outcome for each request, and a connection's end after them")
            inFlight -= 1
            if answered {
                answers += 1
                answeredAt = now
            }
            return phase == .up
        }

        /// It has answered of late, or has stood for a while and is asked nothing.
        func isOfUse(now: UInt64, within: UInt64) -> Bool {
            guard phase == .up, streams > 0 else { return false }
            return inFlight > 0 ? answers > 0 && now < answeredAt + within : now >= upAt + 1_000_000_000
        }

        /// It left as soon as it had come, and was hardly of use: a server that answers once and leaves would be asked for
        /// connections as fast as they can be opened, for ever.
        func isFleeting(now: UInt64) -> Bool { !isLeaving && answers < 10 && now < upAt + 1_000_000_000 }

        /// It may take the place of another: it has answered, or has stood for a second and is asked nothing. The latter
        /// says nothing of other credentials.
        func canSucceed(_ other: Member, now: UInt64) -> Bool {
            guard phase == .up, !isLeaving, streams > 0 else { return false }
            return answers > 0
                || generation == other.generation && inFlight == 0 && now >= upAt + 1_000_000_000
        }

        /// Who is rather kept while credentials change: first those that have answered, then those that can be asked, then
        /// the newer ones.
        var worth: (Int, Int, Int) { (answers > 0 ? 1 : 0, phase == .up ? 1 : 0, isLeaving ? 0 : 1) }

        private mutating func refresh() { usable = phase == .up && heldUntil == 0 ? streams : 0 }

        /// It takes another request now.
        var isFree: Bool { inFlight < min(usable, life - answers) }

        /// Requests that it still takes in a life of so many.
        func requestsLeft(_ life: Int) -> Int {
            switch phase {
            case .connecting: life
            case .up: max(0, life - answers - inFlight)
            case .free, .draining, .closing: 0
            }
        }

        /// It has served its life and nothing says that it must go.
        func hasOutlived(now: UInt64) -> Bool {
            phase == .up && inFlight == 0 && answers >= life && now >= answeredAt + 50_000_000
        }

        /// It takes a place.
        var isOpen: Bool { (phase == .connecting || phase == .up) && !isLeaving && !isEnding }

        /// The last sign of life.
        var heardAt: UInt64 { max(upAt, answeredAt, pongedAt) }

        /// The peer allows one stream where it allowed more, or none at all. A new connection of a provider token has one
        /// stream too, until the first answer.
        var isFallen: Bool { announced == 0 || announced == 1 && announcedMost > 1 }
    }
}
