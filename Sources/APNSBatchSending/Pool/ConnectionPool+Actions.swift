extension ConnectionPool {
    enum Action: Equatable {
        /// Open a connection for this member.
        case open(member: Int)
        /// Open a connection to another address than those that are tried for the slot of `against`, which takes long.
        case race(member: Int, against: Int)
        /// Send no new request on it, and await its answers.
        case drain(member: Int)
        /// Like `drain`, because of the answers that it gave.
        case replace(member: Int, Sickness)
        /// Close it: its requests get their outcomes at once.
        case close(member: Int)
        /// Send a PING on it.
        case ping(member: Int)
        /// Stop the campaign, since no connection can be established or no answer comes.
        case giveUp(String)
    }

    /// Why a connection is replaced while others of its pool may stay.
    enum Sickness: Equatable {
        /// Nearly all its answers are 429 or 5xx.
        case refusing
        /// Its answers take this many times as long as those of another connection.
        case slow(factor: Double)
    }

    /// The consequence when APNs refuses the credentials of a connection.
    enum Refusal: Equatable {
        /// No further row can be sent.
        case final
        /// Leaving connections are drained at once; their successors remain.
        case ofLeaving([Action])
        /// The connections with the new credentials are drained, and those with the previous ones remain.
        case ofNew([Action])
    }
}

/// The cause for which a connection ended, as far as the pool needs it.
struct ConnectionFailure: Equatable {
    /// Whether trying again cannot help once all addresses have failed like this and no connection of the run was ever
    /// established: a certificate that does not verify, or a server that does not speak h2.
    var isHopeless: Bool
    /// The number of addresses of the host.
    var addresses: Int
    var text: String
    /// Whether the text gives no cause: the peer closed the connection.
    var saysNothing = false
    /// Whether this machine could not even try, for lack of file descriptors or memory.
    var isOwn = false
}
