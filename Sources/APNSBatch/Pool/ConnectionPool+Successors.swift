/// Successors of connections that served well.
///
/// A server may take so many requests of a connection and no more. Connections with a known life get their successors
/// before they are used up, and neither these nor those of others that served well and were told GOAWAY wait for the spacing
/// that growth and failures have.
extension ConnectionPool {
    /// What the connections are used up with.
    struct Consumption: Equatable {
        /// Requests that a connection serves in its life.
        var life = ConnectionLife()
        /// Connections that may be opened without spacing.
        var successors = 0
        /// Nanoseconds until a connection is up, as it is of late.
        fileprivate(set) var setup: UInt64 = 5_000_000
        fileprivate var since: UInt64 = 0
        fileprivate var answeredThen: UInt64 = 0
        /// Answers in a second, as of late.
        fileprivate var rate = 0.0

        fileprivate mutating func look(now: UInt64, answered: UInt64) {
            guard now - since >= 10_000_000 else { return }
            let rate = Double(answered > answeredThen ? answered - answeredThen : 0) / (Double(now - since) / 1e9)
            self.rate = max(rate, self.rate * 0.8)
            (since, answeredThen) = (now, answered)
        }

        mutating func noteSetup(_ time: UInt64) { setup = (3 * setup + time) / 4 }

        /// Requests that are sent while two successors come up one after the other.
        fileprivate var need: Int { Int(rate * Double(2 * setup + 5_000_000) / 1e9) }
    }

    /// A connection that ended with GOAWAY and without an error: it may get a successor at once.
    ///
    /// - Parameter served: requests that the server took.
    mutating func servedOut(_ member: Int, served: Int) {
        consumption.life.ended(served: served)
        refreshLives()
        guard served >= Self.servedWell, members[member].isOpen else { return }
        consumption.successors = min(consumption.successors + 1, target)
    }

    /// Fewer answers earn no successor without spacing.
    static var servedWell: Int { 10 }

    /// Marks members that will be used up soon, so that their places are free for successors.
    mutating func succeedInTime(now: UInt64, answered: UInt64) {
        consumption.look(now: now, answered: answered)
        noteOutlived(now: now)
        guard let life = consumption.life.requests, life >= Self.servedWell else { return }
        var left = members.reduce(0) { $0 + $1.requestsLeft(life) }
        while left < consumption.need, let next = nearestItsEnd(life) {
            members[next].isEnding = true
            consumption.successors = min(consumption.successors + 1, target)
            left += life
        }
    }

    private func nearestItsEnd(_ life: Int) -> Int? {
        members.indices.filter { members[$0].phase == .up && members[$0].isOpen }
            .min { members[$0].requestsLeft(life) < members[$1].requestsLeft(life) }
    }

    /// Where a connection has served its life and goes on, lives are not known any more.
    private mutating func noteOutlived(now: UInt64) {
        guard members.contains(where: { $0.hasOutlived(now: now) }) else { return }
        consumption.life.outlived()
        refreshLives()
    }

    private mutating func refreshLives() {
        for index in members.indices { members[index].life = consumption.life.requests ?? .max }
    }
}
