/// The notes of a session's lanes, as read back from its hand-over file. Notes whose check does not match are left out.
///
///     boot (2 words), session (32 bits), campaign (32), check │ for each buffer: first row (41 bits), rows (23), check
package struct HandOverNotes: Equatable, Sendable {
    /// The system's boot id (`BootID`) when the session began.
    package var boot: (UInt64, UInt64)
    package var session: UInt32
    /// The checksum of the ledger's header (`LedgerHeader.sum`).
    package var campaign: UInt32
    /// The number of rows that may have been handed over, by the first row of their range.
    package var rows: [UInt64: Int] = [:]

    static let headWords = 4
    private static let rowBits: UInt64 = 23

    package static func wordCount(slots: Int) -> Int { headWords + 2 * slots }

    /// Returns nil if the head's check does not match: the file is torn, has an earlier format, or is missing.
    package init?(_ words: [UInt64]) {
        guard words.count >= Self.headWords, words[3] == Self.seal(words[0], words[1], words[2]), words[3] != 0 else {
            return nil
        }
        boot = (words[0], words[1])
        session = UInt32(truncatingIfNeeded: words[2])
        campaign = UInt32(truncatingIfNeeded: words[2] >> 32)
        for slot in 0..<(words.count - Self.headWords) / 2 {
            let word = words[Self.headWords + 2 * slot]
            let isWhole = words[Self.headWords + 2 * slot + 1] == Self.check(word, slot: slot, seal: words[3])
            guard word != 0, isWhole else { continue }
            // A range is found in a second buffer only after its chunk was returned to the reader, with all rows handed
            // over.
            let (firstRow, count) = (word >> Self.rowBits, Int(word & ((1 << Self.rowBits) - 1)))
            rows[firstRow] = max(rows[firstRow] ?? 0, count)
        }
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.boot == right.boot && left.session == right.session && left.campaign == right.campaign
            && left.rows == right.rows
    }

    /// The last row that may have been handed over, according to the notes.
    var lastRow: UInt64 { rows.map { $0.key + UInt64($0.value) - 1 }.max() ?? 0 }

    static func head(_ session: LedgerSession, campaign: UInt32) -> [UInt64] {
        let number = UInt64(session.number) | UInt64(campaign) << 32
        return [session.boot.0, session.boot.1, number, seal(session.boot.0, session.boot.1, number)]
    }

    static func note(firstRow: UInt64, rows: Int, slot: Int, seal: UInt64) -> (word: UInt64, check: UInt64) {
        precondition(rows >= 0 && rows < 1 << rowBits, "a note has 23 bits for a number of rows")
        precondition(firstRow < 1 << (64 - rowBits), "a note has 41 bits for the first row")
        let word = firstRow << rowBits | UInt64(rows)
        return (word, check(word, slot: slot, seal: seal))
    }

    private static func seal(_ first: UInt64, _ second: UInt64, _ third: UInt64) -> UInt64 {
        mix(mix(mix(first) ^ second) ^ third)
    }

    private static func check(_ word: UInt64, slot: Int, seal: UInt64) -> UInt64 {
        mix(word ^ seal &+ UInt64(slot))
    }

    /// The finalizer of SplitMix64: each input bit changes half of the output bits.
    private static func mix(_ value: UInt64) -> UInt64 {
        var value = value &+ 0x9E37_79B9_7F4A_7C15
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
