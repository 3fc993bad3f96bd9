/// The deadlines of numbered places: a hashed timing wheel (Varghese and Lauck, "Hashed and hierarchical timing wheels",
/// 1987), in which a deadline is added and removed in constant time.
struct DeadlineWheel {
    private struct Link {
        /// In nanoseconds; `UInt64.max` for no deadline.
        var deadline = UInt64.max
        var previous: Int32 = -1
        var next: Int32 = -1
    }

    private var links: [Link] = []
    /// The first place of each slot of the wheel; -1 for none.
    private var first = [Int32](repeating: -1, count: slots)
    /// The last tick that was looked at.
    private var lookedAt: UInt64 = 0

    private static let slots = 512
    /// The time of a tick, in nanoseconds.
    private static let tick: UInt64 = 8_000_000

    /// Sets the deadline of a place, which must have none.
    mutating func add(_ place: Int, deadline: UInt64) {
        while links.count <= place { links.append(Link()) }
        precondition(links[place].deadline == .max, "a place has one deadline")
        guard deadline < .max else { return }
        let slot = Self.slot(deadline)
        links[place] = Link(deadline: deadline, previous: -1, next: first[slot])
        if first[slot] >= 0 { links[Int(first[slot])].previous = Int32(place) }
        first[slot] = Int32(place)
    }

    /// Removes the deadline of a place, if it has one.
    mutating func remove(_ place: Int) {
        guard place < links.count, links[place].deadline != .max else { return }
        let link = links[place]
        if link.previous >= 0 {
            links[Int(link.previous)].next = link.next
        } else {
            first[Self.slot(link.deadline)] = link.next
        }
        if link.next >= 0 { links[Int(link.next)].previous = link.previous }
        links[place] = Link()
    }

    /// Removes the deadlines that have passed, and returns their places.
    mutating func expire(now: UInt64) -> [Int] {
        let tick = now / Self.tick
        let earliest = tick - min(tick, UInt64(Self.slots) - 1)
        var expired: [Int] = []
        // The last tick again, because it was not over.
        for passed in max(lookedAt, earliest)...max(lookedAt, tick) {
            var place = Int(first[Int(passed % UInt64(Self.slots))])
            while place >= 0 {
                let next = Int(links[place].next)
                if links[place].deadline <= now {
                    remove(place)
                    expired.append(place)
                }
                place = next
            }
        }
        lookedAt = max(lookedAt, tick)
        return expired
    }

    private static func slot(_ deadline: UInt64) -> Int { Int(deadline / tick % UInt64(slots)) }
}
