import CAPNSTransport

/// What is remembered of a connection.
struct ConnectionState {
    var identity = ConnectionIdentity()
    /// Requests received and not yet answered.
    var open = 0
    /// Whether the limit of concurrent streams was raised.
    var isRaised = false
    var isAnswered = false
    /// Whether a fault holds the limit of concurrent streams.
    var isLimited = false
}

/// The connections that are up. Few beside the number of requests, and requests come in runs on one connection: the
/// last one found is tried first, then all are walked.
struct ConnectionTable {
    private(set) var ids: [UInt64] = []
    /// The states, in the order of ``ids``.
    var states: [ConnectionState] = []
    private var last = 0
    /// How many there have been.
    private(set) var total: UInt64 = 0

    /// The place of a connection among ``states``, made if it is new. Valid until one is removed.
    @inline(__always)
    mutating func place(of id: UInt64) -> Int {
        find(id) ?? insert(id)
    }

    /// The place of a connection that is up, or nil. Valid until one is removed.
    @inline(__always)
    mutating func find(_ id: UInt64) -> Int? {
        if last < ids.count, ids[last] == id { return last }
        guard let place = ids.firstIndex(of: id) else { return nil }
        last = place
        return place
    }

    /// Forgets a connection; returns what was remembered.
    mutating func remove(_ id: UInt64) -> ConnectionState? {
        guard let place = find(id) else { return nil }
        ids.swapAt(place, ids.count - 1)
        states.swapAt(place, ids.count - 1)
        ids.removeLast()
        return states.removeLast()
    }

    private mutating func insert(_ id: UInt64) -> Int {
        ids.append(id)
        states.append(ConnectionState())
        total += 1
        last = ids.count - 1
        return last
    }
}

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

extension apns_transport_event {
    /// The UID of the client certificate's subject, as the transport tells it with a connection: the app that the
    /// certificate is for. Nil without a verified certificate, or one without a UID.
    var subjectUID: String? {
        let lines = unsafe String(decoding: Bytes(detail, length: detail_length), as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix("UID=") }.map { String($0.dropFirst(4)) }
    }
}
