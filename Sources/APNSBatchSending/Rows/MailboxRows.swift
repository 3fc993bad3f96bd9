import APNSBatchModel
import APNSBatchRows

/// A lane's end of a mailbox: makes rows of submissions.
@safe struct MailboxRows: RowOrigin, ~Copyable {
    let mailbox: Mailbox
    let lane: Int
    private let columns: Int
    /// Pointers to the fields of the current row.
    private let fields: UnsafeMutablePointer<UnsafeRawBufferPointer>
    /// The submissions that were taken. Those before `next` have become rows; the last of them keeps the fields of its row.
    private var taken: [Submission] = []
    private var next = 0
    /// The tickets of the flights, by the place of their submission.
    private var tickets: [Int32] = []
    private var isPending = false
    private var isAbandoned = false
    private(set) var isExhausted = false
    private(set) var row = Row()

    /// The number of submissions that are taken together. Few, because they cannot go to another lane any more.
    private static let batch = 64

    /// - Parameter columns: The number of fields of a submission.
    init(_ mailbox: Mailbox, columns: Int, lane: Int) {
        (self.mailbox, self.columns, self.lane) = (mailbox, columns, lane)
        taken.reserveCapacity(Self.batch)
        unsafe fields = .allocate(capacity: columns)
        unsafe fields.initialize(repeating: UnsafeRawBufferPointer(start: nil, count: 0), count: columns)
    }

    deinit { unsafe fields.deallocate() }

    @discardableResult
    mutating func advance() -> Bool {
        if isPending { return true }
        isPending = next < taken.count || takeMore()
        if isPending { point() } else { isExhausted = isAbandoned || mailbox.isExhausted }
        return isPending
    }

    /// Makes the row of the next submission.
    private mutating func point() {
        unsafe taken[next].fields.point(fields, count: columns)
        row.row = taken[next].id
        unsafe row.fields = unsafe UnsafeBufferPointer(start: fields, count: columns)
        next += 1
    }

    @inline(never)
    private mutating func takeMore() -> Bool {
        taken.removeAll(keepingCapacity: true)
        next = 0
        guard !isAbandoned else { return false }
        mailbox.take(Self.batch, lane: lane, into: &taken)
        return !taken.isEmpty
    }

    var isAtEnd: Bool { isExhausted && !isPending }

    /// A sender begins with its first submission.
    var isBeforeFirst: Bool { false }

    mutating func consume() { isPending = false }

    /// Ends the submissions that have not become flights.
    mutating func abandon() {
        if isPending { giveUp(row.row, .notSent) }
        for submission in taken[next...] { giveUp(submission.id, .notSent) }
        taken.removeAll()
        next = 0
        (isPending, isAbandoned, isExhausted) = (false, true, true)
    }

    /// Removes a submission that has not become a flight. Returns whether there was one.
    mutating func drop(_ id: UInt64) -> Bool {
        if isPending, row.row == id {
            isPending = false
            return true
        }
        guard let index = taken[next...].firstIndex(where: { $0.id == id }) else { return false }
        taken.remove(at: index)
        return true
    }

    func tick(inFlight: Int) {}

    // MARK: Flights

    /// The notification ends with an error, because no later run sends it.
    func giveUp(_ row: UInt64, _ arrival: Arrival) { mailbox.giveUp(row, arrival) }

    mutating func didTake(_ ticket: Int) {
        let place = Submission.place(of: row.row)
        while tickets.count <= place { tickets.append(-1) }
        tickets[place] = Int32(truncatingIfNeeded: ticket)
    }

    /// Returns the ticket that was noted last for the place of a submission; nil if there was none.
    func ticket(of id: UInt64) -> Int? {
        let place = Submission.place(of: id)
        guard place < tickets.count, tickets[place] >= 0 else { return nil }
        return Int(tickets[place])
    }

    // MARK: Sessions

    // A sender has no ledger, so that no earlier session had the row, and no later one will.
    var indexInRange: Int { 0 }
    var isPast: Bool { false }
    var mayHaveArrived: Bool { false }
    var pastAttempts: UInt16 { 0 }
    var pastCounted: UInt16 { 0 }
    func noteUnanswered(_ row: UInt64, indexInRange: UInt32) {}
    func noteAttempts(of row: UInt64, indexInRange: UInt32, attempts: UInt16, counted: UInt16) {}
}
