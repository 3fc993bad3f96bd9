import APNSBatchBasics
import APNSBatchModel
import APNSBatchRows

/// What stands in a ledger: records, one behind the other, from its first byte to its last. All numbers are little-endian.
///
///     frame (24) │ fixed part │ texts │ zeros up to a multiple of eight
///
/// A frame holds kind, lengths, the sum of the texts and a sum of itself and the fixed part, so that whoever needs only
/// the fixed parts reads nothing else. Sums are CRC-32C.
enum LedgerKind: UInt8, Sendable {
    /// What the campaign is. The first record, and only it.
    case header = 1
    /// A process begins to work on the campaign.
    case session = 2
    /// A range of rows is about to be handed to the lanes. Durable before that.
    case range = 3
    /// How rows ended.
    case outcomes = 4
    /// So much of the ledger is durable, and so much of `results.csv`.
    case mark = 5
    /// So many rows of a range may have been sent, and those of them that have no outcome are for the policy.
    case handed = 6
    /// The session ended in order: what has no outcome was never sent, but for what was handed over.
    case end = 7
    /// Rows that ended with an outcome (unavailable) have none any more: they are sent again.
    case reopened = 8
    /// What the session did so far, besides ending rows.
    case figures = 9
}

/// The 24 bytes in front of each record.
struct LedgerFrame: Equatable {
    static let length = 24
    /// The kind's place, the version of the format, `AL`.
    private static let tag: UInt32 = 0x4C41_0100
    /// The first bytes of a ledger.
    static var headerTag: [UInt8] {
        (0..<4).map { UInt8((tag | UInt32(LedgerKind.header.rawValue)) >> (8 * $0) & 0xFF) }
    }
    static let fixedMax = 8 + 16 * OutcomeBatch.entryCapacity
    static let textMax = 1 << 20

    var kind: LedgerKind
    var fixedLength: Int
    var textLength: Int
    var textSum: UInt32

    /// Frame, fixed part, texts and padding.
    var recordLength: Int { (Self.length + fixedLength + textLength + 7) & ~7 }

    /// Writes it in front of the fixed part that stands behind it.
    func write(to record: UnsafeMutableRawPointer) {
        record.storeBytes(of: (Self.tag | UInt32(kind.rawValue)).littleEndian, as: UInt32.self)
        record.storeBytes(of: UInt32(fixedLength).littleEndian, toByteOffset: 4, as: UInt32.self)
        record.storeBytes(of: UInt32(textLength).littleEndian, toByteOffset: 8, as: UInt32.self)
        record.storeBytes(of: textSum.littleEndian, toByteOffset: 12, as: UInt32.self)
        record.storeBytes(of: 0, toByteOffset: 20, as: UInt32.self)
        let sum = Self.sum(UnsafeRawPointer(record), fixedLength: fixedLength)
        record.storeBytes(of: sum.littleEndian, toByteOffset: 16, as: UInt32.self)
    }

    /// The frame at the beginning of the bytes, or nil where none is. It is not to be trusted before `holds`.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.length else { return nil }
        func number(_ offset: Int) -> UInt32 {
            UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
        guard number(0) & ~0xFF == Self.tag, number(20) == 0,
            let kind = LedgerKind(rawValue: UInt8(truncatingIfNeeded: number(0))),
            number(4) <= Self.fixedMax, number(8) <= Self.textMax
        else { return nil }
        self.kind = kind
        fixedLength = Int(number(4))
        textLength = Int(number(8))
        textSum = number(12)
    }

    init(_ kind: LedgerKind, fixedLength: Int, textLength: Int = 0, textSum: UInt32 = 0) {
        self.kind = kind
        self.fixedLength = fixedLength
        self.textLength = textLength
        self.textSum = textSum
    }

    /// Whether frame and fixed part are as they were written. The bytes begin with the frame.
    func holds(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= Self.length + fixedLength, let base = bytes.baseAddress else { return false }
        let written = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
        return Self.sum(base, fixedLength: fixedLength) == written
    }

    private static func sum(_ record: UnsafeRawPointer, fixedLength: Int) -> UInt32 {
        CRC32C.of(
            UnsafeRawBufferPointer(start: record + length, count: fixedLength),
            after: CRC32C.of(UnsafeRawBufferPointer(start: record, count: 16)))
    }
}

/// Who a ledger is of.
package struct LedgerHeader: Equatable, Sendable {
    /// From which `apns-id`s derive.
    package var identity: (UInt64, UInt64)
    /// Seconds since the epoch: when the campaign began.
    package var start: UInt64
    /// Of what the campaign is: templates, headers, delimiter.
    package var digest: [UInt8]
    /// The input's bytes; nil for a pipe, which cannot be resumed.
    package var inputBytes: UInt64?
    /// Of the names of its columns.
    package var columnsSum: UInt32
    /// What errors call the input.
    package var inputName: String
    /// Columns of the input that `results.csv` has.
    package var resultColumns: [String]
    /// The caller's own.
    package var note: [UInt8]

    package init(
        identity: (UInt64, UInt64), start: UInt64, digest: [UInt8], inputBytes: UInt64?, columnsSum: UInt32,
        inputName: String, resultColumns: [String] = [], note: [UInt8]
    ) {
        self.identity = identity
        self.start = start
        self.digest = digest
        self.inputBytes = inputBytes
        self.columnsSum = columnsSum
        self.inputName = inputName
        self.resultColumns = resultColumns
        self.note = note
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.identity == right.identity && left.start == right.start && left.digest == right.digest
            && left.inputBytes == right.inputBytes && left.columnsSum == right.columnsSum
            && left.inputName == right.inputName && left.resultColumns == right.resultColumns && left.note == right.note
    }

    static let digestLength = 32
    package static let noteLimit = 256 * 1024

    /// By which a board is known to be of the same run.
    package var sum: UInt32 {
        var bytes = digest
        for number in [identity.0, identity.1, start, UInt64(columnsSum)] {
            withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
        }
        return bytes.withUnsafeBytes { CRC32C.of($0) }
    }
}

/// One process at work on a campaign.
package struct LedgerSession: Equatable, Sendable {
    /// From 1.
    package var number: UInt32
    package var process: UInt32
    /// Seconds since the epoch.
    package var time: UInt64
    /// Of the system since it was started: what is in memory does not outlive it.
    package var boot: (UInt64, UInt64)
    package var policy: UnknownPolicy
    /// The caller's own, as in the header; empty when it is the header's.
    package var note: [UInt8]

    package init(
        number: UInt32, process: UInt32, time: UInt64, boot: (UInt64, UInt64), policy: UnknownPolicy, note: [UInt8] = []
    ) {
        self.number = number
        self.process = process
        self.time = time
        self.boot = boot
        self.policy = policy
        self.note = note
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.number == right.number && left.process == right.process && left.time == right.time
            && left.boot == right.boot && left.policy == right.policy && left.note == right.note
    }
}

/// What is durable.
struct LedgerMark: Equatable, Sendable {
    /// Of itself.
    var position: UInt64
    /// Of the ledger.
    var covered: UInt64
    var resultsLength: UInt64
    /// Of so much of `results.csv`; nil in ledgers of version 0.1.0.
    var resultsSum: UInt32?
}

/// The intent to send a chunk of the input.
package struct LedgerRange: Equatable, Sendable {
    package var start: RowPosition
    package var rows: Int
    package var bytes: Int
    /// Of its bytes as they were read.
    package var sum: UInt32

    package init(start: RowPosition, rows: Int, bytes: Int, sum: UInt32) {
        self.start = start
        self.rows = rows
        self.bytes = bytes
        self.sum = sum
    }

    package var firstRow: UInt64 { start.row }
    /// Where it ends in the input.
    var end: UInt64 { start.offset + UInt64(bytes) }

    /// Of a chunk, and of the place of a range on the board.
    static let rowsMax = 1 << 23 - 1
    static let rowMax: UInt64 = 1 << 40
}
