/// What a connection remembers of who sends on it, and of what its listener answers for.
struct ConnectionIdentity {
    /// The cache's entry looked at last; a hint.
    var entry = -1
    /// The provider token in use, 0 before the first one.
    var token: UInt64 = 0
    /// Number of the token's team and key; -1 before the first one.
    var team: Int32 = -1
    var key: Int32 = -1
    /// Number of the client certificate's topics, or -1 without one.
    var certificate: Int32 = -1
    var services = Services.all
    /// Whether a token of another team came.
    var sawOtherTeam = false
    /// When the token in use was first seen on this connection, in milliseconds since the epoch.
    var since: Int64 = 0

    /// Number of the list of topics; known once the credentials were accepted.
    @inline(__always) var list: Int32 { certificate < 0 ? key : certificate }
}
