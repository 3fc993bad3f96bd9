import APNSBatchBasics
import Glibc
import Synchronization

/// How far into its chunk each lane has handed rows to connections, where a kill of the process does not reach it: memory
/// that is a file's.
///
/// A note for each buffer of the reader: the first row of the range in it and how many of its rows may have been handed
/// over. Only the holder of a chunk writes its note. The kernel has what was stored when the process is killed; a loss of
/// power takes it away, and then whole ranges count as handed over.
///
/// A note is two words, what it says and a check of that, and so is the head. A note that does not hold is none: its range
/// counts as handed over. That is also what a kill between the two stores comes to.
package final class HandOverBoard: @unchecked Sendable {
    /// Rows that are noted at once: a note is that much ahead of what was handed over.
    package static let step = 256

    package let slots: Int
    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let mappedBytes: Int
    /// Of its file, and where that belongs, until it is there.
    private var place: (made: String, wanted: String)?
    /// The check of the head, from which those of the notes derive.
    private var seal: UInt64 = 0

    /// In memory alone: for a simulation, which decides itself what survives.
    package init(slots: Int) {
        self.slots = slots
        let count = BoardNotes.wordCount(slots: slots)
        words = .allocate(capacity: count)
        for index in 0..<count { (words + index).initialize(to: Atomic(0)) }
        mappedBytes = 0
    }

    /// A file of its own. The one of the session before stays in its place until this one `begin`s.
    package init(path wanted: String, slots: Int) throws(StorageError) {
        let path = wanted + ".new"
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw StorageError("open", path, code: errno) }
        defer { close(file) }
        let zeros = [UInt64](repeating: 0, count: BoardNotes.wordCount(slots: slots))
        let bytes = zeros.count * 8
        // With its space: a full disk must not show as a signal when a word is stored.
        let done = write(file, zeros, bytes)
        guard done == bytes else { throw StorageError("write", path, code: done < 0 ? errno : ENOSPC) }
        guard let base = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), base != MAP_FAILED else {
            throw StorageError("map", path, code: errno)
        }
        self.slots = slots
        place = (path, wanted)
        words = base.bindMemory(to: Atomic<UInt64>.self, capacity: zeros.count)
        mappedBytes = bytes
    }

    deinit {
        if mappedBytes > 0 { munmap(words, mappedBytes) } else { words.deallocate() }
    }

    /// Forgets everything, and says whose notes follow: those of a session that the ledger knows.
    ///
    /// - Parameter campaign: the sum of the ledger's header.
    package func begin(_ session: LedgerSession, campaign: UInt32) throws(StorageError) {
        for index in 0..<(2 * slots) { words[BoardNotes.headWords + index].store(0, ordering: .relaxed) }
        let head = BoardNotes.head(session, campaign: campaign)
        seal = head[3]
        for (index, word) in head.enumerated() { words[index].store(word, ordering: .releasing) }
        guard let place else { return }
        if rename(place.made, place.wanted) != 0 { throw StorageError("replace", place.wanted, code: errno) }
        self.place = nil
    }

    /// Rows of the range in a buffer that may have been handed over. 0 when the range is put there.
    package func note(slot: Int, firstRow: UInt64, rows: Int) {
        let (word, check) = BoardNotes.note(firstRow: firstRow, rows: rows, slot: slot, seal: seal)
        words[BoardNotes.headWords + 2 * slot].store(word, ordering: .releasing)
        words[BoardNotes.headWords + 2 * slot + 1].store(check, ordering: .releasing)
    }

    /// Of rows that stay without an outcome when the run ends in order, and may have arrived: rows by first row. Not in the
    /// file: a session that does not end in order has the notes.
    private let leftRows = Guarded<[UInt64: Int]>([:])

    /// So many of a range's first rows are not to be taken for never sent.
    package func left(firstRow: UInt64, rows: Int) {
        leftRows.withLock { $0[firstRow] = max($0[firstRow] ?? 0, rows) }
    }

    /// In the order of their rows.
    var left: [(firstRow: UInt64, rows: Int)] {
        leftRows.withLock { $0.map { (firstRow: $0.key, rows: $0.value) } }.sorted { $0.firstRow < $1.firstRow }
    }

    /// As it stands.
    package var snapshot: [UInt64] {
        (0..<BoardNotes.wordCount(slots: slots)).map { words[$0].load(ordering: .acquiring) }
    }

    /// Of a file; empty where there is none.
    package static func read(path: String) -> [UInt64] {
        guard let storage = try? FileStorage(path, .readOnly), storage.length <= 1 << 20 else { return [] }
        var words = [UInt64](repeating: 0, count: Int(storage.length) / 8)
        let got = try? words.withUnsafeMutableBytes { (bytes) throws(StorageError) in
            try storage.read(at: 0, into: bytes)
        }
        return got == words.count * 8 ? words : []
    }

    /// Of this system since it was started; zeros where it does not say, and they equal nothing.
    package static func bootID() -> (UInt64, UInt64) {
        var text = [UInt8](repeating: 0, count: 64)
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return (0, 0) }
        defer { close(file) }
        let count = max(0, Glibc.read(file, &text, text.count))
        let digits = text[..<count].filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "\n") }
        guard digits.count == 32 else { return (0, 0) }
        let text32 = String(decoding: digits, as: UTF8.self)
        return (UInt64(text32.prefix(16), radix: 16) ?? 0, UInt64(text32.suffix(16), radix: 16) ?? 0)
    }
}
