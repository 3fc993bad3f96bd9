import APNSBatchModel
import APNSBatchRows

/// A lane's end of a mailbox: makes rows of submissions.
/// A class, because an optional structure that cannot be copied has to be taken out for every call.
final class MailSource {
    let mailbox: Mailbox
    let lane: Int
    /// Behind a pointer, because Swift checks every access to a variable of a class for exclusivity.
    private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
    /// Pointers to the fields of the current row.
    private let fields: UnsafeMutablePointer<UnsafeRawBufferPointer>

    private struct State {
        /// The submissions that were taken. Those before `next` have become rows; the last of them keeps the fields of its row.
        var taken: [Submission] = []
        var next = 0
        /// The tickets of the flights, by the place of their submission.
        var tickets: [Int32] = []
        var isAbandoned = false
    }

    /// The number of submissions that are taken together. Few, because they cannot go to another lane any more.
    private static let batch = 64
    private let columns: Int

    /// - Parameter columns: The number of fields of a submission.
    init(_ mailbox: Mailbox, columns: Int, lane: Int) {
        (self.mailbox, self.columns, self.lane) = (mailbox, columns, lane)
        state.initialize(to: State())
        state.pointee.taken.reserveCapacity(Self.batch)
        fields = .allocate(capacity: columns)
        fields.initialize(repeating: UnsafeRawBufferPointer(start: nil, count: 0), count: columns)
    }

    deinit {
        fields.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Moves to the next submission, whose fields are valid until the next call. Returns false if there is none now.
    func advance(_ row: inout Row) -> Bool {
        if state.pointee.next == state.pointee.taken.count {
            guard takeMore() else { return false }
        }
        let next = state.pointee.next
        state.pointee.taken[next].fields.point(fields, count: columns)
        row.row = state.pointee.taken[next].id
        row.fields = UnsafeBufferPointer(start: fields, count: columns)
        state.pointee.next = next + 1
        return true
    }

    private func takeMore() -> Bool {
        state.pointee.taken.removeAll(keepingCapacity: true)
        state.pointee.next = 0
        guard !state.pointee.isAbandoned else { return false }
        mailbox.take(Self.batch, lane: lane, into: &state.pointee.taken)
        return !state.pointee.taken.isEmpty
    }

    /// Whether no further submission will come.
    var isExhausted: Bool {
        state.pointee.isAbandoned || state.pointee.next == state.pointee.taken.count && mailbox.isExhausted
    }

    // MARK: Flights

    /// Notes the ticket of a submission's flight.
    func note(_ id: UInt64, ticket: Int) {
        let place = Submission.place(of: id)
        while state.pointee.tickets.count <= place { state.pointee.tickets.append(-1) }
        state.pointee.tickets[place] = Int32(truncatingIfNeeded: ticket)
    }

    /// Returns the ticket that was noted last for the place of a submission; nil if there was none.
    func ticket(of id: UInt64) -> Int? {
        let place = Submission.place(of: id)
        guard place < state.pointee.tickets.count, state.pointee.tickets[place] >= 0 else { return nil }
        return Int(state.pointee.tickets[place])
    }

    /// Removes a submission that was taken and has not become a row. Returns whether there was one.
    func drop(_ id: UInt64) -> Bool {
        let rest = state.pointee.taken[state.pointee.next...]
        guard let index = rest.firstIndex(where: { $0.id == id }) else { return false }
        state.pointee.taken.remove(at: index)
        return true
    }

    /// Takes no further submission, and ends those that have not become rows.
    func abandon() {
        state.pointee.isAbandoned = true
        for submission in state.pointee.taken[state.pointee.next...] { mailbox.giveUp(submission.id, .notSent) }
        state.pointee.taken.removeAll()
        state.pointee.next = 0
    }
}
