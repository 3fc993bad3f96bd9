import APNSBatchBasics
import APNSBatchRecords
import APNSBatchRows

/// The kind of a record. A plan is a header, one range for each chunk of the input, and an end. All numbers are
/// little-endian.
///
///     frame (16) │ body │ zeros up to a multiple of eight
enum PlanKind: UInt8, Sendable {
    case header = 1
    case range = 2
    case end = 3
}

/// The 16 bytes at the beginning of each record: kind, version and `AP`, the length of the body, the CRC-32C of these
/// eight bytes and the body, and zero.
struct PlanFrame: Equatable {
    static let length = 16
    /// The kind (the lowest byte, 0 here), the version of the format, and `AP`.
    private static let tag: UInt32 = 0x5041_0100
    private static let version: UInt32 = 0xFF00
    /// A range has at most as many rows as one of the ledger.
    static let bodyMax = PlanBody.rangeBytes + RowDecisions.words(of: LedgerRange.rowsMax) * 8

    var kind: PlanKind
    var bodyLength: Int
    var sum: UInt32

    enum Fault: Error {
        case notOne
        case newer
    }

    /// The length of the whole record in bytes.
    var recordLength: Int { (Self.length + bodyLength + 7) & ~7 }

    init(_ bytes: [UInt8]) throws(Fault) {
        var numbers = PlanBody(bytes)
        guard let tag = numbers.next(UInt32.self), let length = numbers.next(UInt32.self),
            let sum = numbers.next(UInt32.self), numbers.next(UInt32.self) == 0,
            tag & ~(Self.version | 0xFF) == Self.tag & ~Self.version
        else { throw .notOne }
        guard tag & Self.version == Self.tag & Self.version else { throw .newer }
        guard let kind = PlanKind(rawValue: UInt8(truncatingIfNeeded: tag)), length <= Self.bodyMax else {
            throw .notOne
        }
        (self.kind, bodyLength, self.sum) = (kind, Int(length), sum)
    }

    /// Whether the checksum of the frame and its body is right.
    func holds(_ body: [UInt8]) -> Bool { Self.sum(kind, body) == sum }

    /// Returns a record with a body.
    static func record(_ kind: PlanKind, _ body: [UInt8]) -> [UInt8] {
        var record: [UInt8] = []
        record.reserveCapacity(length + body.count + 8)
        record.add(tag | UInt32(kind.rawValue))
        record.add(UInt32(body.count))
        record.add(sum(kind, body))
        record.add(UInt32(0))
        record += body
        while record.count % 8 != 0 { record.append(0) }
        return record
    }

    private static func sum(_ kind: PlanKind, _ body: [UInt8]) -> UInt32 {
        var start: [UInt8] = []
        start.add(tag | UInt32(kind.rawValue))
        start.add(UInt32(body.count))
        return CRC32C.of(body, after: CRC32C.of(start))
    }
}

extension CRC32C {
    static func of(_ bytes: [UInt8], after before: UInt32 = 0) -> UInt32 {
        unsafe bytes.withUnsafeBytes { unsafe of($0, after: before) }
    }
}

extension [UInt8] {
    mutating func add<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) {
        for shift in stride(from: 0, to: Number.bitWidth, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}

/// Reads the numbers of a body. The bytes are untrusted.
struct PlanBody {
    /// The bytes of a range before its decisions.
    static let rangeBytes = 40

    private let bytes: [UInt8]
    private var at = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { at == bytes.count }

    mutating func next<Number: FixedWidthInteger & UnsignedInteger>(_: Number.Type) -> Number? {
        let size = Number.bitWidth / 8
        guard at + size <= bytes.count else { return nil }
        defer { at += size }
        return bytes[at..<(at + size)].reversed().reduce(0) { $0 << 8 | Number($1) }
    }

    mutating func words(_ count: Int) -> [UInt64]? {
        guard count <= (bytes.count - at) / 8 else { return nil }
        return (0..<count).compactMap { _ in next(UInt64.self) }
    }
}
