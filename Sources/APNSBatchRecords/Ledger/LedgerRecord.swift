import APNSBatchBasics
import APNSBatchModel
import APNSBatchRows

/// The kind of a record. A ledger is a sequence of records without gaps. All numbers are little-endian.
///
///     frame (24) │ fixed part │ texts │ zeros up to a multiple of eight
///
/// A frame holds the kind, the lengths, the checksum of the texts, and a checksum of the frame and the fixed part, so that
/// the fixed parts can be read and verified alone. Checksums are CRC-32C.
enum LedgerKind: UInt8, Sendable {
    /// The identity of the campaign. It is always the first record, and only the first.
    case header = 1
    /// A process begins to work on the run.
    case session = 2
    /// A range of rows may be sent from now on. It is durable before its rows are handed to the lanes.
    case range = 3
    /// Outcomes of rows.
    case outcomes = 4
    /// How much of the ledger and of `results.csv` is durable.
    case mark = 5
    /// How many of a range's first rows may have been sent. `UnknownPolicy` decides about those without an outcome. Its text has the
    /// requests for rows of the range that stay without one when a session ends in order (`RowAttempts`): for each 8 bytes, the index in
    /// the range (32 bits), all requests (16), and those that count toward the limit (16).
    case handed = 6
    /// The session ended in order: no request for a row without an outcome can have arrived unanswered, except among the
    /// rows that records of kind `handed` cover.
    case end = 7
    /// All rows that ended with an outcome that can be reopened are to be sent again, and have no outcome any more. The code
    /// in the record is that of `unavailable`, the only such outcome.
    case reopened = 8
    /// Figures of the session so far, besides its outcomes.
    case figures = 9
    /// An operator changed a setting of the run.
    case change = 10
}

/// The 24 bytes at the beginning of each record.
struct LedgerFrame: Equatable {
    static let length = 24
    /// The kind (the lowest byte, 0 here), the version of the format, and `AL`.
    private static let tag: UInt32 = 0x4C41_0100
    /// The first four bytes of every ledger.
    static var headerTag: [UInt8] {
        (0..<4).map { UInt8((tag | UInt32(LedgerKind.header.rawValue)) >> (8 * $0) & 0xFF) }
    }
    static let fixedMax = 8 + 16 * OutcomeBatch.entryCapacity
    static let textMax = 1 << 20

    var kind: LedgerKind
    var fixedLength: Int
    var textLength: Int
    var textSum: UInt32

    /// The length of the whole record in bytes: frame, fixed part, texts and padding.
    var recordLength: Int { (Self.length + fixedLength + textLength + 7) & ~7 }

    /// Writes the frame. The fixed part must already follow it.
    func write(to record: UnsafeMutableRawPointer) {
        unsafe record.storeBytes(of: (Self.tag | UInt32(kind.rawValue)).littleEndian, as: UInt32.self)
        unsafe record.storeBytes(of: UInt32(fixedLength).littleEndian, toByteOffset: 4, as: UInt32.self)
        unsafe record.storeBytes(of: UInt32(textLength).littleEndian, toByteOffset: 8, as: UInt32.self)
        unsafe record.storeBytes(of: textSum.littleEndian, toByteOffset: 12, as: UInt32.self)
        unsafe record.storeBytes(of: 0, toByteOffset: 20, as: UInt32.self)
        let sum = unsafe Self.sum(UnsafeRawPointer(record), fixedLength: fixedLength)
        unsafe record.storeBytes(of: sum.littleEndian, toByteOffset: 16, as: UInt32.self)
    }

    /// Reads the frame at the beginning of the bytes; returns nil if there is none. Do not trust it before `holds` returns
    /// true.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.length else { return nil }
        func number(_ offset: Int) -> UInt32 {
            unsafe UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
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

    /// Whether the checksum of frame and fixed part matches. `bytes` begin with the frame.
    func holds(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= Self.length + fixedLength, let base = bytes.baseAddress else { return false }
        let written = unsafe UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
        return unsafe Self.sum(base, fixedLength: fixedLength) == written
    }

    private static func sum(_ record: UnsafeRawPointer, fixedLength: Int) -> UInt32 {
        unsafe CRC32C.of(
            UnsafeRawBufferPointer(start: record + length, count: fixedLength),
            after: CRC32C.of(UnsafeRawBufferPointer(start: record, count: 16)))
    }
}

/// The first record of a ledger, which identifies its run.
package struct LedgerHeader: Equatable, Sendable {
    /// The value from which the `apns-id`s derive.
    package var identity: (UInt64, UInt64)
    /// When the campaign began, in seconds since the epoch.
    package var start: UInt64
    /// See `CampaignDigest`.
    package var digest: [UInt8]
    /// The length of the input in bytes, as it is stored; nil unless it is a file.
    package var inputBytes: UInt64?
    /// How the input is packed; nil if it is not. Places in it are those of its unpacked bytes.
    package var packing: Packing?
    /// Whether the input is kept in the run directory while it is read.
    package var isSpooled: Bool
    /// Whether the input is the copy in the run directory, which was made before the first push.
    package var isCopied: Bool
    /// The checksum of the names of the input's columns.
    package var columnsSum: UInt32
    /// The name of the input in error messages.
    package var inputName: String
    /// The columns of the input that `results.csv` contains.
    package var resultColumns: [String]
    /// Data of the caller (`Campaign.note`).
    package var note: [UInt8]
    /// The plan that was made before the first push; nil for a run without one.
    package var plan: PlanSeal?

    package init(
        identity: (UInt64, UInt64), start: UInt64, digest: [UInt8], inputBytes: UInt64?, packing: Packing? = nil,
        isSpooled: Bool = false, isCopied: Bool = false, columnsSum: UInt32, inputName: String,
        resultColumns: [String] = [], note: [UInt8], plan: PlanSeal? = nil
    ) {
        self.identity = identity
        self.plan = plan
        self.start = start
        self.digest = digest
        self.inputBytes = inputBytes
        self.packing = packing
        self.isSpooled = isSpooled
        self.isCopied = isCopied
        self.columnsSum = columnsSum
        self.inputName = inputName
        self.resultColumns = resultColumns
        self.note = note
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.identity == right.identity && left.start == right.start && left.digest == right.digest
            && left.inputBytes == right.inputBytes && left.packing == right.packing && left.isSpooled == right.isSpooled
            && left.isCopied == right.isCopied
            && left.columnsSum == right.columnsSum
            && left.inputName == right.inputName && left.resultColumns == right.resultColumns && left.note == right.note
            && left.plan == right.plan
    }

    /// What the record has of the input in one number: bit 0 for a spool, bits 1 to 4 for the packing, and bit 5 for a copy.
    struct Flags {
        var isSpooled: Bool
        var packing: Packing?
        var isCopied: Bool

        private static let packings: [Packing?] = [nil, .gzip, .zstd]
    }

    /// Whether the run directory has the input, or a part of it.
    package var isKept: Bool { isSpooled || isCopied }

    /// Whether another process can read the input again.
    package var isResumable: Bool { inputBytes != nil || isSpooled }

    static let digestLength = 32
    package static let noteLimit = 256 * 1024

    /// A checksum by which the hand-over file refers to this run.
    package var sum: UInt32 {
        var bytes = digest
        for number in [identity.0, identity.1, start, UInt64(columnsSum)] {
            unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes += $0 }
        }
        return unsafe bytes.withUnsafeBytes { unsafe CRC32C.of($0) }
    }
}

/// A process that works on a run.
package struct LedgerSession: Equatable, Sendable {
    /// Counted from 1. Session ``planned`` is before the first one.
    package var number: UInt32
    package var process: UInt32
    /// When it began, in seconds since the epoch.
    package var time: UInt64
    /// The boot id of the system. Memory, such as that of the hand-over file, does not survive a restart.
    package var boot: (UInt64, UInt64)
    package var policy: UnknownPolicy
    /// Whether it makes no request, because the run is given up: its rows end without one.
    package var sendsNothing: Bool
    /// Data of the caller, as in the header; empty if it is the same as in the header.
    package var note: [UInt8]

    /// The number of the session in which rows end that the plan of the run suppresses. It sends nothing.
    package static let planned: UInt32 = 0

    package init(
        number: UInt32, process: UInt32, time: UInt64, boot: (UInt64, UInt64), policy: UnknownPolicy,
        sendsNothing: Bool = false, note: [UInt8] = []
    ) {
        self.number = number
        self.process = process
        self.time = time
        self.boot = boot
        self.policy = policy
        self.sendsNothing = sendsNothing
        self.note = note
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.number == right.number && left.process == right.process && left.time == right.time
            && left.boot == right.boot && left.policy == right.policy && left.sendsNothing == right.sendsNothing
            && left.note == right.note
    }
}

/// How much of the files is durable.
struct LedgerMark: Equatable, Sendable {
    /// The offset of the mark itself.
    var position: UInt64
    /// The length of the ledger that is durable.
    var covered: UInt64
    var resultsLength: UInt64
    /// The checksum of the first `resultsLength` bytes of `results.csv`; nil in ledgers of version 0.1.0.
    var resultsSum: UInt32?
}

/// The rows of one chunk, which are announced before any of them is sent.
package struct LedgerRange: Equatable, Sendable {
    package var start: RowPosition
    package var rows: Int
    package var bytes: Int
    /// The checksum of its bytes as they were read.
    package var sum: UInt32

    package init(start: RowPosition, rows: Int, bytes: Int, sum: UInt32) {
        self.start = start
        self.rows = rows
        self.bytes = bytes
        self.sum = sum
    }

    /// The facts of a chunk whose rows were not parsed yet.
    package init(_ chunk: RowChunk) {
        unsafe self.init(
            start: chunk.start, rows: chunk.rowCount, bytes: chunk.byteCount, sum: CRC32C.of(chunk.contents))
    }

    package var firstRow: UInt64 { start.row }
    /// The offset in the input at which it ends.
    var end: UInt64 { start.offset + UInt64(bytes) }

    /// The maximum number of rows in a chunk, which is what fits into a note of the hand-over file.
    package static let rowsMax = (1 << 23) - 1
    static let rowMax: UInt64 = 1 << 40

    /// Whether a chunk of an input can have these facts.
    package var isPossible: Bool {
        1...Self.rowsMax ~= rows && rows <= bytes && 1..<Self.rowMax ~= firstRow && start.line < UInt64(Int64.max)
            && start.offset < UInt64(Int64.max) - UInt64(bytes)
    }
}

extension LedgerHeader.Flags {
    /// Returns nil if a later version has packed the input in a way that is unknown to this one.
    init?(_ number: UInt32) {
        let packing = Int(number >> 1 & 15)
        guard packing < Self.packings.count else { return nil }
        self.init(isSpooled: number & 1 != 0, packing: Self.packings[packing], isCopied: number & 32 != 0)
    }

    var number: UInt32 {
        (isSpooled ? 1 : 0) | UInt32(Self.packings.firstIndex(of: packing) ?? 0) << 1 | (isCopied ? 32 : 0)
    }
}
