import Glibc
import LaneTransport
import Synchronization

/// How far into its chunk each lane has handed rows to connections, where a kill of the process does not reach it: memory
/// that is a file's.
///
/// One word for each buffer of the reader: the first row of the range in it and how many of its rows may have been handed
/// over. Only the holder of a chunk writes its word. The kernel has what was stored when the process is killed; a loss of
/// power takes it away, and then whole ranges count as handed over.
package final class HandOverBoard: @unchecked Sendable {
    /// Rows that are noted at once: a note is that much ahead of what was handed over.
    package static let step = 256
    private static let headWords = 4

    package let slots: Int
    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let mappedBytes: Int
    /// Of its file, and where that belongs, until it is there.
    private var place: (made: String, wanted: String)?

    /// In memory alone: for a simulation, which decides itself what survives.
    package init(slots: Int) {
        self.slots = slots
        words = .allocate(capacity: slots + Self.headWords)
        for index in 0..<(slots + Self.headWords) { (words + index).initialize(to: Atomic(0)) }
        mappedBytes = 0
    }

    /// A file of its own. The one of the session before stays in its place until this one `begin`s.
    package init(path wanted: String, slots: Int) throws(StorageError) {
        let path = wanted + ".new"
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw StorageError("open", path, code: errno) }
        defer { close(file) }
        let bytes = (slots + Self.headWords) * 8
        // With its space: a full disk must not show as a signal when a word is stored.
        let code = posix_fallocate(file, 0, off_t(bytes))
        guard code == 0 else { throw StorageError("reserve space for", path, code: code) }
        guard let base = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), base != MAP_FAILED else {
            throw StorageError("map", path, code: errno)
        }
        self.slots = slots
        place = (path, wanted)
        words = base.bindMemory(to: Atomic<UInt64>.self, capacity: slots + Self.headWords)
        mappedBytes = bytes
    }

    deinit {
        if mappedBytes > 0 { munmap(words, mappedBytes) } else { words.deallocate() }
    }

    /// Forgets everything, and says whose notes follow: those of a session that the ledger knows.
    package func begin(_ session: LedgerSession) throws(StorageError) {
        for slot in 0..<slots { words[Self.headWords + slot].store(0, ordering: .relaxed) }
        words[0].store(session.boot.0, ordering: .relaxed)
        words[1].store(session.boot.1, ordering: .relaxed)
        words[2].store(UInt64(session.number), ordering: .releasing)
        guard let place else { return }
        if rename(place.made, place.wanted) != 0 { throw StorageError("replace", place.wanted, code: errno) }
        self.place = nil
    }

    /// Rows of the range in a buffer that may have been handed over. 0 when the range is put there.
    func note(slot: Int, firstRow: UInt64, rows: Int) {
        words[Self.headWords + slot].store(firstRow << 23 | UInt64(rows), ordering: .releasing)
    }

    /// Of rows that stay without an outcome when the run ends in order, and may have arrived: rows by first row. Not in the
    /// file: a session that does not end in order has the notes.
    private let leftRows = Guarded<[UInt64: Int]>([:])

    /// So many of a range's first rows are not to be taken for never sent.
    func left(firstRow: UInt64, rows: Int) {
        leftRows.withLock { $0[firstRow] = max($0[firstRow] ?? 0, rows) }
    }

    /// In the order of their rows.
    var left: [(firstRow: UInt64, rows: Int)] {
        leftRows.withLock { $0.map { (firstRow: $0.key, rows: $0.value) } }.sorted { $0.firstRow < $1.firstRow }
    }

    /// What lanes noted of the ranges that they had in hand: rows by first row. Nil when these notes are not of the
    /// session, or of a system that was started anew since.
    package static func notes(
        _ words: [UInt64], of session: LedgerSession, boot: (UInt64, UInt64)
    ) -> [UInt64: Int]? {
        guard words.count >= headWords, boot != (0, 0), session.boot == boot, words[0] == boot.0, words[1] == boot.1,
            words[2] == UInt64(session.number)
        else { return nil }
        var notes: [UInt64: Int] = [:]
        for word in words[headWords...] where word != 0 {
            // A range is in one buffer after another only if it was given back, and then all of it was handed over.
            notes[word >> 23] = max(notes[word >> 23] ?? 0, Int(word & (1 << 23 - 1)))
        }
        return notes
    }

    /// As it stands.
    package var snapshot: [UInt64] {
        (0..<(slots + Self.headWords)).map { words[$0].load(ordering: .acquiring) }
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
