import APNSBatchBasics
import Glibc
import Synchronization

/// The hand-over file: a file that has, for each chunk, how many of its rows may have been handed to connections.
///
/// It has a note for each buffer of the reader: the first row of the range in that buffer, and how many of its rows may
/// have been handed over. Only the thread that holds a chunk writes its note. The notes survive the end of the process,
/// because the kernel has what was written, but not a loss of power; after that, whole ranges count as handed over.
///
/// A note is two words, a value and its check. The head has a check as well. If the check of a note does not match, the note is
/// ignored and all rows of its range count as handed over. So they do if another program cuts the file off, which is why it is
/// written to and not mapped: a mapping would then end the process with a signal.
package final class HandOverRecord: Sendable {
    /// The number of rows by which a note advances at once: 256, or as many as are in flight if these are more. A note is ahead of the
    /// rows handed over by at most this number, so that a kill leaves at most twice the rows in flight in doubt, or 256 more.
    package static func step(inFlight: Int) -> Int { max(256, inFlight) }

    package let slots: Int
    private let words: AtomicWords
    /// Where the words are written as well; -1 without a file.
    private let descriptor: Int32
    /// The path of the new file and the path that it gets in `begin`; nil after that, and without a file.
    private let place = Guarded<(made: String, wanted: String)?>(nil)
    /// The check of the head, which enters into the checks of the notes.
    private let seal = Atomic<UInt64>(0)

    /// Creates a hand-over file without a file, for a simulation, which decides itself what survives.
    package init(slots: Int) {
        self.slots = slots
        words = AtomicWords(count: HandOverNotes.wordCount(slots: slots))
        descriptor = -1
    }

    /// Creates a new file. It replaces the file of the previous session only in `begin`.
    package init(path wanted: String, slots: Int) throws(StorageError) {
        let path = wanted + ".new"
        words = AtomicWords(count: HandOverNotes.wordCount(slots: slots))
        descriptor = try StorageError.opening(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW).release()
        self.slots = slots
        place.withLock { $0 = (path, wanted) }
        // Allocates the blocks now, so that a full disk does not show when a note is written.
        guard write(from: 0, count: words.count) else { throw StorageError("write", path, code: errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Clears all notes and writes the head, then replaces the previous session's file. The session must be in the ledger.
    ///
    /// - Parameter campaign: the checksum of the ledger's header (`LedgerHeader.sum`).
    package func begin(_ session: LedgerSession, campaign: UInt32) throws(StorageError) {
        for index in 0..<(2 * slots) {
            unsafe words[HandOverNotes.headWords + index].pointee.store(0, ordering: .relaxed)
        }
        let head = HandOverNotes.head(session, campaign: campaign)
        seal.store(head[3], ordering: .relaxed)
        for (index, word) in head.enumerated() { unsafe words[index].pointee.store(word, ordering: .releasing) }
        guard let place = place.withLock({ $0 }) else { return }
        guard write(from: 0, count: words.count) else { throw StorageError("write", place.made, code: errno) }
        if unsafe rename(place.made, place.wanted) != 0 { throw StorageError("replace", place.wanted, code: errno) }
        self.place.withLock { $0 = nil }
    }

    /// Notes how many rows of the range in a buffer may have been handed over: 0 when the range is put there.
    package func note(slot: Int, firstRow: UInt64, rows: Int) {
        let (word, check) = HandOverNotes.note(
            firstRow: firstRow, rows: rows, slot: slot, seal: seal.load(ordering: .relaxed))
        let first = HandOverNotes.headWords + 2 * slot
        unsafe words[first].pointee.store(word, ordering: .releasing)
        unsafe words[first + 1].pointee.store(check, ordering: .releasing)
        // A note that is missing must not be taken for a lower one: without any, whole ranges count.
        if !write(from: first, count: 2) { ftruncate(descriptor, 0) }
    }

    /// Writes words to the file, if there is one. Returns false, with `errno` set, if that failed.
    private func write(from first: Int, count: Int) -> Bool {
        guard descriptor >= 0 else { return true }
        return unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: count) { room in
            for index in 0..<count { unsafe room[index] = unsafe words[first + index].pointee.load(ordering: .relaxed) }
            let done = unsafe pwrite(descriptor, room.baseAddress, count * 8, off_t(first * 8))
            if done >= 0, done != count * 8 { errno = ENOSPC }
            return done == count * 8
        }
    }

    /// Rows that may have arrived and stay without an outcome when the run ends in order: the number of rows, by the first
    /// row of the range. They are not in the file, since a session that does not end in order leaves its notes.
    private let unansweredRows = Guarded<[UInt64: Int]>([:])

    /// Notes that the first `rows` rows of a range may have arrived and have no answer.
    package func noteUnanswered(firstRow: UInt64, rows: Int) {
        assert(rows > 0 && rows <= LedgerRange.rowsMax, "a row that may have arrived is one of its range")
        unansweredRows.withLock { $0[firstRow] = max($0[firstRow] ?? 0, rows) }
    }

    /// The ranges passed to `noteUnanswered(firstRow:rows:)`, ordered by row.
    var unanswered: [(firstRow: UInt64, rows: Int)] {
        unansweredRows.withLock { $0.map { (firstRow: $0.key, rows: $0.value) } }.sorted { $0.firstRow < $1.firstRow }
    }

    /// The requests for rows that stay without an outcome when the run ends in order, by the first row of the range.
    private let attemptsOfRows = Guarded<[UInt64: [RowAttempts]]>([:])

    /// Notes the requests for a row that stays without an outcome.
    package func noteAttempts(firstRow: UInt64, _ attempts: RowAttempts) {
        attemptsOfRows.withLock { $0[firstRow, default: []].append(attempts) }
    }

    /// What was passed to `noteAttempts`, ordered by row.
    var attempts: [(firstRow: UInt64, rows: [RowAttempts])] {
        attemptsOfRows.withLock { $0.map { (firstRow: $0.key, rows: $0.value.sorted { $0.index < $1.index }) } }
            .sorted { $0.firstRow < $1.firstRow }
    }

    /// The current words of the record.
    package var snapshot: [UInt64] {
        (0..<HandOverNotes.wordCount(slots: slots)).map { unsafe words[$0].pointee.load(ordering: .acquiring) }
    }

    /// Reads the words of a file; returns an empty array if it cannot be read.
    package static func read(path: String) -> [UInt64] {
        guard let storage = try? FileStorage(path, .readOnly), storage.length <= 1 << 20 else { return [] }
        var words = [UInt64](repeating: 0, count: Int(storage.length) / 8)
        let got = try? unsafe words.withUnsafeMutableBytes { (bytes) throws(StorageError) in
            try unsafe storage.read(at: 0, into: bytes)
        }
        return got == words.count * 8 ? words : []
    }
}
