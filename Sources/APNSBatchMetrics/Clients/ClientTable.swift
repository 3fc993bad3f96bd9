/// The clients of a small server, each of which may ask one thing: how far it has come, how long it has, and who must go when there
/// are too many. A client that asks nothing cannot keep others from asking, for the oldest of its kind goes first.
///
///     asking ──whole request──▶ answering ──all sent──▶ leaving ──closed, or a second──▶ (gone)
package struct ClientTable: Equatable, Sendable {
    package struct Limits: Equatable, Sendable {
        /// The maximum number of clients.
        package var clients: Int
        /// The maximum length of a request, in bytes.
        package var request: Int
        /// The time that a client has for its request, and again for taking the answer, in nanoseconds.
        package var patience: UInt64

        package init(clients: Int, request: Int, patience: UInt64) {
            precondition(clients > 0 && request > 0)
            (self.clients, self.request, self.patience) = (clients, request, patience)
        }
    }

    package enum Phase: Equatable, Sendable {
        case asking, answering
        /// The answer is sent. The client closes first, because unread bytes of it could make the system discard the answer.
        case leaving
    }

    package struct Client: Equatable, Sendable {
        /// The descriptor of its socket.
        package let id: Int32
        package fileprivate(set) var phase = Phase.asking
        /// When it must have finished its phase, by the monotonic clock in nanoseconds.
        package fileprivate(set) var deadline: UInt64
        fileprivate var request: [UInt8] = []
        /// What is still to be sent.
        package fileprivate(set) var answer: ArraySlice<UInt8> = []
    }

    private let limits: Limits
    /// The bytes that end a request.
    private let mark: [UInt8]
    /// In the order in which they came.
    package private(set) var clients: [Client] = []

    /// The time that a client has to close after its answer, in nanoseconds.
    private static let leaveTime: UInt64 = 1_000_000_000

    package init(_ limits: Limits, endOfRequest mark: [UInt8]) {
        precondition(!mark.isEmpty)
        (self.limits, self.mark) = (limits, mark)
    }

    /// Adds a client. Returns the one that goes for it, if there are too many: the oldest of those that wait for nothing, else of
    /// those that have not asked yet, else of all.
    package mutating func accept(_ id: Int32, now: UInt64) -> Int32? {
        defer { clients.append(Client(id: id, deadline: now + limits.patience)) }
        guard clients.count >= limits.clients else { return nil }
        let index =
            clients.firstIndex { $0.phase == .leaving } ?? clients.firstIndex { $0.phase == .asking } ?? 0
        return clients.remove(at: index).id
    }

    /// The number of bytes that may still be read of a client; 0 unless it is asking.
    package func room(for id: Int32) -> Int {
        clients.first { $0.id == id && $0.phase == .asking }.map { limits.request - $0.request.count } ?? 0
    }

    /// Takes bytes of a client. Returns its request when that is complete, or as long as it may be; then an answer follows.
    package mutating func received(_ bytes: some Collection<UInt8>, from id: Int32) -> [UInt8]? {
        guard let index = index(of: id), clients[index].phase == .asking else { return nil }
        clients[index].request += bytes.prefix(room(for: id))
        let request = clients[index].request
        if let end = request.firstRange(of: mark)?.upperBound { return Array(request[..<end]) }
        return request.count >= limits.request ? request : nil
    }

    package mutating func answer(_ bytes: [UInt8], to id: Int32, now: UInt64) {
        guard let index = index(of: id) else { return }
        clients[index].request = []
        clients[index].answer = bytes[...]
        clients[index].phase = .answering
        clients[index].deadline = now + limits.patience
    }

    /// Notes that a part of the answer was sent. Returns whether that was the rest.
    package mutating func sent(_ count: Int, to id: Int32, now: UInt64) -> Bool {
        guard let index = index(of: id), clients[index].phase == .answering else { return false }
        clients[index].answer = clients[index].answer.dropFirst(count)
        guard clients[index].answer.isEmpty else { return false }
        clients[index].phase = .leaving
        clients[index].deadline = now + Self.leaveTime
        return true
    }

    package mutating func remove(_ id: Int32) { clients.removeAll { $0.id == id } }

    /// Removes the clients whose time is over, and returns them.
    package mutating func expire(now: UInt64) -> [Int32] {
        let late = clients.filter { $0.deadline <= now }.map(\.id)
        clients.removeAll { $0.deadline <= now }
        return late
    }

    /// The earliest deadline; nil without clients.
    package var nextDeadline: UInt64? { clients.map(\.deadline).min() }

    private func index(of id: Int32) -> Int? { clients.firstIndex { $0.id == id } }
}
