extension ConnectionPool {
    enum Action: Equatable {
        /// Open a connection for this member.
        case open(member: Int)
        /// Open one to an address of another family than this one's, which takes long.
        case race(member: Int, against: Int)
        /// Take no new request to it; its answers are awaited.
        case drain(member: Int)
        /// Nothing is expected of it any more: its requests get their outcomes at once.
        case close(member: Int)
        /// Ask it for a sign of life.
        case ping(member: Int)
        /// No connection can be had; the campaign stops.
        case giveUp(String)
    }

    /// What follows when APNs refuses a connection's credentials.
    enum Refusal: Equatable {
        /// No further row can be sent.
        case final
        /// Connections that leave anyway end sooner; their successors get their try.
        case ofLeaving([Action])
        /// The connections with new credentials end, and those before them stay.
        case ofNew([Action])
    }
}

/// Why a connection ended, as far as the pool cares.
struct ConnectionFailure: Equatable {
    /// Trying again cannot help once all addresses have said so: a certificate that does not verify, a server that does
    /// not speak h2, and no connection of the run has ever come up.
    var isHopeless: Bool
    /// Addresses the host has.
    var addresses: Int
    var text: String
    /// This machine could not even try: no descriptor, no memory.
    var isOwn = false
}
