/// Decides which connections of a pool are replaced because of their answers, and whether the connection or its provider is to
/// blame for a bad one.
///
/// A connection that fails while another one serves, of this pool or of another lane's, is replaced: it gets no more requests, a
/// fresh connection takes its slot, and its bad answers count neither for the rows nor for the provider. If none serves, the
/// connection or the provider may be the cause. Then one connection at a time is replaced as a test, and as long as the test
/// lasts the failing ones get no requests. The provider is in trouble if the fresh one fails, too (``Outage``).
///
/// While only probes are sent, one bad answer is enough: each probe goes over a fresh connection.
///
/// Replacements are bounded, because APNs may treat many connections as an attack: after each there is a pause, which doubles
/// until a fresh connection has proved itself. In that time failing ones get no requests while there are others.
struct PoolHealth: Equatable {
    typealias Action = ConnectionPool.Action

    /// What is known of the provider beyond this pool.
    struct View: Equatable {
        /// Whether a connection of another lane serves.
        var othersServe = false
        /// Whether an outage is suspected.
        var isDoubted = false
        /// Whether only probes are sent.
        var isProbing = false
    }

    /// What is to blame for an answer 429 or 5xx.
    enum Blame: Equatable {
        case connection
        /// - Parameter isFresh: Whether a fresh connection got the answer, so that no old one is the cause.
        case provider(isFresh: Bool)
    }

    /// The number of replacements since a fresh connection has proved itself, and the time of the next one.
    private(set) var inVain = 0
    private var replacesFrom: UInt64 = 0
    /// When a connection was replaced whose successor is not being opened yet; nil if there is none.
    private var vacatedAt: UInt64?
    private var slowness = Slowness()
    /// Whether there is anything to look at: it is set by a bad answer, and cleared when all is well.
    private(set) var isInTrouble = false

    /// The time for which an answer shows that a connection serves.
    private static let memory: UInt64 = 5_000_000_000
    /// The time for which failing connections get no request while the only other one is being opened.
    private static let openingPatience: UInt64 = 3_000_000_000

    // MARK: Answers

    /// Notes an answer 429 or 5xx. Returns what is to blame for it, and what follows for the connections.
    mutating func noteTrouble(
        _ index: Int, isFirst: Bool, _ evidence: ConnectionHealth.Evidence, _ view: View, in members: inout PoolMembers,
        now: UInt64, _ limits: ConnectionPool.Limits
    ) -> (Blame, [Action]) {
        isInTrouble = true
        var hasFailed = false
        members.update(index) {
            hasFailed = $0.noteTrouble(isFirst: isFirst, view.isProbing ? .decisive : evidence, now: now)
        }
        let actions = hasFailed ? look(view, in: &members, now: now, limits) : []
        let health = members[index].health
        let isItsOwn = health.isReplaced || health.isFailing && isServed(view, members, now: now)
        return (isItsOwn ? .connection : .provider(isFresh: health.isFresh), actions)
    }

    private func isServed(_ view: View, _ members: PoolMembers, now: UInt64) -> Bool {
        view.othersServe || Self.servedAt(members, now: now) > 0
    }

    /// The time of the last answer of a connection that serves; 0 if none does.
    static func servedAt(_ members: PoolMembers, now: UInt64) -> UInt64 {
        members.indices.reduce(0) { max($0, members[$1].servedAt(within: memory, now: now)) }
    }

    // MARK: Replacing

    /// Replaces connections, and decides which ones get requests. Called every few milliseconds, and when a connection begins
    /// to fail.
    mutating func look(
        _ view: View, in members: inout PoolMembers, now: UInt64, _ limits: ConnectionPool.Limits
    ) -> [Action] {
        var actions: [Action] = []
        if let (slow, factor) = slowness.look(&members, now: now) {
            actions += replace(slow, .slow(factor: factor), in: &members, now: now, limits)
        }
        guard isInTrouble || view.isDoubted else { return actions }
        members.updateAll { $0.lookAtHealth() }
        noteProof(&members, now: now)
        while let next = next(view, members, now: now) {
            actions += replace(next, .refusing, in: &members, now: now, limits)
        }
        let hasOther = hasOther(members, now: now)
        members.updateAll { $0.shun(hasOther) }
        isInTrouble = inVain > 0 || members.contains(where: \.isFailing)
        return actions
    }

    /// The connection that is replaced next, or nil.
    private func next(_ view: View, _ members: PoolMembers, now: UInt64) -> Int? {
        let isDue = now >= replacesFrom
        if let failing = members.indices.first(where: { members[$0].isFailing }) {
            if isServed(view, members, now: now) { return isDue ? failing : nil }
            // A test continues while there is a connection about which nothing is known yet.
            if isDue || view.isProbing, vacatedAt == nil,
                !members.contains(where: { $0.isPromising || $0.isConnecting })
            {
                return failing
            }
        }
        // Many answers of all connections are bad. A fresh one shows whether the old ones are the cause.
        guard view.isDoubted, isDue, vacatedAt == nil,
            !members.contains(where: { $0.isUp && $0.health.isFresh || $0.isConnecting })
        else { return nil }
        return members.indices.filter { members[$0].isUp }.max { members[$0].health.score < members[$1].health.score }
    }

    private mutating func replace(
        _ index: Int, _ cause: ConnectionPool.Sickness, in members: inout PoolMembers, now: UInt64,
        _ limits: ConnectionPool.Limits
    ) -> [Action] {
        (isInTrouble, vacatedAt) = (true, now)
        if cause == .refusing {
            replacesFrom = now + min(limits.backoffLargest, limits.backoffFirst << UInt64(min(inVain, 20)))
            inVain += 1
        }
        members.update(index) { $0.willBeReplaced() }
        return members.retire(index, isSurplus: true).map { _ in .replace(member: index, cause) }
    }

    /// Notes that a connection is being opened. While ``inVain`` is not 0 it is a fresh one.
    mutating func didOpen() { vacatedAt = nil }

    /// Notes that there are as many connections as intended, so that none is opened in the place of the last one that was replaced:
    /// that one was leaving, and its successor is there.
    mutating func didFill() { vacatedAt = nil }

    /// Ends the series of replacements when a fresh connection has proved itself.
    private mutating func noteProof(_ members: inout PoolMembers, now: UInt64) {
        guard inVain > 0 else { return }
        for index in members.indices where members[index].hasProved(now: now) {
            members.update(index) { $0.isProved() }
            inVain = 0
        }
    }

    /// Whether there is a connection that does not fail, or will be one soon.
    private func hasOther(_ members: PoolMembers, now: UInt64) -> Bool {
        func isRecent(_ time: UInt64?) -> Bool { time.map { now < $0 + Self.openingPatience } ?? false }
        return isRecent(vacatedAt) || members.contains { $0.isPromising || isRecent($0.connecting?.openedAt) }
    }
}
