import CAPNSTransport

struct ConnectionState {
    var identity = ConnectionIdentity()
    /// The number of requests received and not yet answered.
    var open = 0
    /// Whether the limit of concurrent streams was raised.
    var isRaised = false
    var isAnswered = false
    /// Whether a fault currently sets the limit of concurrent streams.
    var isLimited = false
}

/// The connections that are up. A look-up tries the connection found last and then searches all, because there are few
/// connections and consecutive requests often come on the same one.
struct ConnectionTable {
    private(set) var ids: [UInt64] = []
    /// The states, in the order of ``ids``.
    var states: [ConnectionState] = []
    private var last = 0
    /// The number of connections so far.
    private(set) var total: UInt64 = 0

    /// Returns the index of a connection in ``states``, and adds a new one. Valid until a connection is removed.
    @inline(__always)
    mutating func place(of id: UInt64) -> Int {
        find(id) ?? insert(id)
    }

    /// Returns the index of a connection that is up, or nil. Valid until a connection is removed.
    @inline(__always)
    mutating func find(_ id: UInt64) -> Int? {
        if last < ids.count, ids[last] == id { return last }
        guard let place = ids.firstIndex(of: id) else { return nil }
        last = place
        return place
    }

    /// Removes a connection and returns its state.
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

/// The credentials seen on a connection, and the services of its listener.
struct ConnectionIdentity {
    /// The index of the cache entry used last; a hint.
    var entry = -1
    /// The identity of the provider token in use; 0 before the first one.
    var token: UInt64 = 0
    /// Number of the token's team and key; -1 before the first one.
    var team: Int32 = -1
    var key: Int32 = -1
    /// The number of the client certificate's topic list, or -1 without a certificate.
    var certificate: Int32 = -1
    var services = Services.all
    /// Whether a token of another team was received.
    var sawOtherTeam = false
    /// The time at which the token in use was first received on this connection, in milliseconds since the epoch.
    var since: Int64 = 0

    /// The number of the topic list; known once the credentials were accepted.
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
