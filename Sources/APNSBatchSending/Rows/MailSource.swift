import APNSBatchModel
import APNSBatchRows

/// A lane's end of a mailbox: makes rows of submissions.
/// A class, because an optional structure that cannot be copied has to be taken out for every call.
final class MailSource {
    let mailbox: Mailbox
    let lane: Int
    private var taken: [Submission] = []
    private var next = 0
    /// The fields of the current row, and pointers to them.
    private var current: SubmittedFields?
    private let fields: UnsafeMutablePointer<UnsafeRawBufferPointer>
    /// The tickets of the flights, by the place of their submission.
    private var tickets: [Int32] = []
    private(set) var isAbandoned = false

    /// The number of submissions that are taken together. Few, because they cannot go to another lane any more.
    private static let batch = 64
    private let columns: Int

    /// - Parameter columns: The number of fields of a submission.
    init(_ mailbox: Mailbox, columns: Int, lane: Int) {
        (self.mailbox, self.columns, self.lane) = (mailbox, columns, lane)
        taken.reserveCapacity(Self.batch)
        fields = .allocate(capacity: columns)
        fields.initialize(repeating: UnsafeRawBufferPointer(start: nil, count: 0), count: columns)
    }

    deinit { fields.deallocate() }

    /// Goes on to the next submission, whose fields are valid until the next call. Returns false if there is none now.
    func advance(_ row: inout Row) -> Bool {
        if next == taken.count {
            taken.removeAll(keepingCapacity: true)
            next = 0
            guard !isAbandoned else { return false }
            mailbox.take(Self.batch, lane: lane, into: &taken)
            guard !taken.isEmpty else { return false }
        }
        current = taken[next].fields
        taken[next].fields.point(fields, count: columns)
        row.row = taken[next].id
        row.fields = UnsafeBufferPointer(start: fields, count: columns)
        next += 1
        return true
    }

    /// Whether no further submission will come.
    var isExhausted: Bool { isAbandoned || next == taken.count && mailbox.isExhausted }

    // MARK: Flights

    /// Notes the ticket of a submission's flight.
    func note(_ id: UInt64, ticket: Int) {
        let place = Submission.place(of: id)
        while tickets.count <= place { tickets.append(-1) }
        tickets[place] = Int32(truncatingIfNeeded: ticket)
    }

    /// Returns the ticket that was noted last for the place of a submission; nil if there was none.
    func ticket(of id: UInt64) -> Int? {
        let place = Submission.place(of: id)
        return place < tickets.count && tickets[place] >= 0 ? Int(tickets[place]) : nil
    }

    /// Removes a submission that was taken and has not become a row. Returns whether there was one.
    func drop(_ id: UInt64) -> Bool {
        guard let index = taken.indices.dropFirst(next).first(where: { taken[$0].id == id }) else { return false }
        taken.remove(at: index)
        return true
    }

    /// Takes no further submission, and ends those that have not become rows.
    func abandon() {
        isAbandoned = true
        for submission in taken[next...] { mailbox.giveUp(submission.id, .notSent) }
        taken.removeAll()
        next = 0
    }
}
