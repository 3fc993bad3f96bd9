import APNSBatch
import APNSBatchBasics
import APNSBatchRecords
import CAPNSCommon

/// A ledger as somebody's disk gives it back. The first byte says whether the sums of its records are made right, so that
/// what stands in them is read, and whether the power was gone since. Whatever it holds, it is read to the end of what
/// holds, or is called damaged; and what was believed once is believed again.
@Sendable func fuzzLedger(_ bytes: UnsafeRawBufferPointer) {
    guard let choice = bytes.first else { return }
    var ledger = Array(bytes.dropFirst())
    if choice & 1 == 0 { ledger.withUnsafeMutableBytes { mendSums($0) } }
    let boot: (UInt64, UInt64)? = choice & 2 == 0 ? nil : (3, 4)
    guard let length = readLedger(ledger, boot) else { return }
    precondition(length <= ledger.count, "read beyond its end")
    precondition(readLedger(Array(ledger[..<length]), boot) == length, "what was cut to what holds holds no more")
}

/// The length of what holds; nil for no ledger, and for a damaged one.
private func readLedger(_ bytes: [UInt8], _ boot: (UInt64, UInt64)?) -> Int? {
    let storage = LedgerBytes(bytes)
    var reader = LedgerReader(storage)
    guard let reading = try? reader.read(boot: boot) else { return nil }
    if let status = try? RunStatus(reading.history, notes: [], boot: boot ?? (0, 0), isFree: true) {
        let rows = status.rows
        precondition(zip(rows, rows.dropFirst()).allSatisfy { $0.last + 1 == $1.first }, "rows between the ranges")
        let ended = status.totals.rows
        precondition(status.count(.ended) == ended, "an outcome for each row that ended")
    }
    return Int(reading.length)
}

/// Gives the frames of all records that lie one behind the other the sums that they should have, as the format says: 24
/// bytes, of which the last 20 are the lengths of fixed part and texts, the sum of the texts, the sum of the first 16 bytes
/// and the fixed part, and zero.
private func mendSums(_ ledger: UnsafeMutableRawBufferPointer) {
    var record = ledger[...]
    while record.count >= 24 {
        let bytes = UnsafeMutableRawBufferPointer(rebasing: record)
        let (fixed, texts) = (Int(bytes.number(at: 4)), Int(bytes.number(at: 8)))
        guard 24 + fixed + texts <= bytes.count else { return }
        let base = bytes.baseAddress!
        bytes.set(apns_crc32c(0, base + 24 + fixed, texts), at: 12)
        bytes.set(apns_crc32c(apns_crc32c(0, base, 16), base + 24, fixed), at: 16)
        record = record.dropFirst((24 + fixed + texts + 7) & ~7)
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func number(at offset: Int) -> UInt32 {
        UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    fileprivate func set(_ number: UInt32, at offset: Int) {
        storeBytes(of: number.littleEndian, toByteOffset: offset, as: UInt32.self)
    }
}

/// A ledger, or a timeline, that is read.
final class LedgerBytes: AppendFile {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var length: UInt64 { UInt64(bytes.count) }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        guard offset < length else { return 0 }
        let part = bytes[Int(offset)..<min(bytes.count, Int(offset) + buffer.count)]
        buffer.copyBytes(from: part)
        return part.count
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(StorageError) { throw Self.readOnly }
    func sync() throws(StorageError) { throw Self.readOnly }
    func reserve(_ bytes: UInt64) throws(StorageError) { throw Self.readOnly }
    func truncate(to length: UInt64) throws(StorageError) { throw Self.readOnly }

    private static let readOnly = StorageError("write", "memory", code: 30)
}
