import APNSBatchBasics
import APNSBatchRecords

/// Reads a plan from its beginning, range by range. The file is untrusted.
package struct PlanReader: ~Copyable {
    /// Why a plan cannot be read.
    package enum Failure: Error, Equatable, Sendable {
        case storage(StorageError)
        /// The file is no plan.
        case notOne
        case damaged(at: UInt64)
        /// The file was written by a later version.
        case newer
        /// The file is not the one that the ledger has sealed.
        case foreign
    }

    private let storage: any AppendFile
    package let header: PlanHeader
    private var offset: UInt64 = 0
    private var seen = PlanFacts()
    /// What the plan says of the whole input, known when `next()` has returned nil.
    package private(set) var facts: PlanFacts?

    /// Reads the header.
    package init(_ storage: any AppendFile) throws(Failure) {
        self.storage = storage
        let record = try Self.record(of: storage, at: 0)
        guard let record, record.frame.kind == .header else { throw .notOne }
        guard let header = PlanHeader(record.body) else { throw .damaged(at: 0) }
        self.header = header
        offset = UInt64(record.frame.recordLength)
    }

    /// Reads a plan to its end, and proves that it is the one that the ledger has sealed.
    package static func prove(_ storage: any AppendFile, _ seal: PlanSeal) throws(Failure) -> PlanFacts {
        guard storage.length == seal.bytes, try sum(of: storage) == seal.sum else {
            var reader = try PlanReader(storage)
            // A file that holds by itself is another plan, and not a damaged one.
            while try reader.next() != nil {}
            throw .foreign
        }
        var reader = try PlanReader(storage)
        while try reader.next() != nil {}
        guard let facts = reader.facts else { throw .damaged(at: seal.bytes) }
        return facts
    }

    /// Returns the next range, or nil at the end, after which nothing may follow.
    package mutating func next() throws(Failure) -> PlanRange? {
        guard facts == nil else { return nil }
        let at = offset
        guard let record = try Self.record(of: storage, at: at) else { throw .damaged(at: at) }
        offset += UInt64(record.frame.recordLength)
        switch record.frame.kind {
        case .header: throw .damaged(at: at)
        case .range:
            guard let range = PlanRange(record.body), follows(range.facts) else { throw .damaged(at: at) }
            seen.add(range)
            return range
        case .end:
            guard let found = PlanFacts(record.body), agrees(found), offset == storage.length else {
                throw .damaged(at: at)
            }
            facts = found
            return nil
        }
    }

    private func follows(_ range: LedgerRange) -> Bool {
        range.firstRow == seen.rows + 1 && range.isPossible
    }

    private func agrees(_ found: PlanFacts) -> Bool {
        var counted = found
        counted.duplicates = nil
        return counted == seen && found.duplicates?.rows ?? 0 <= seen.rows
    }

    private struct Record {
        let frame: PlanFrame
        let body: [UInt8]
    }

    /// Returns the record at an offset; nil if it is cut off or its checksum is wrong.
    private static func record(of storage: any AppendFile, at offset: UInt64) throws(Failure) -> Record? {
        let start = try bytes(of: storage, at: offset, count: PlanFrame.length)
        let frame: PlanFrame
        do {
            frame = try PlanFrame(start)
        } catch .newer where offset == 0 {
            throw .newer
        } catch {
            return nil
        }
        guard UInt64(frame.recordLength) <= storage.length - offset else { return nil }
        let rest = try bytes(
            of: storage, at: offset + UInt64(PlanFrame.length), count: frame.recordLength - PlanFrame.length)
        let body = Array(rest.prefix(frame.bodyLength))
        guard frame.holds(body), rest.dropFirst(frame.bodyLength).allSatisfy({ $0 == 0 }) else { return nil }
        return Record(frame: frame, body: body)
    }

    /// Returns bytes of the file, fewer only at its end.
    private static func bytes(of storage: any AppendFile, at offset: UInt64, count: Int) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        do throws(StorageError) {
            let got = try unsafe bytes.withUnsafeMutableBufferPointer { (room) throws(StorageError) in
                try unsafe storage.read(at: offset, into: UnsafeMutableRawBufferPointer(room))
            }
            bytes.removeLast(count - got)
        } catch {
            throw .storage(error)
        }
        return bytes
    }

    private static let pieceBytes = 64 * 1024

    private static func sum(of storage: any AppendFile) throws(Failure) -> UInt32 {
        var (sum, offset): (UInt32, UInt64) = (0, 0)
        while offset < storage.length {
            let piece = try bytes(of: storage, at: offset, count: pieceBytes)
            guard !piece.isEmpty else { throw .damaged(at: offset) }
            sum = CRC32C.of(piece, after: sum)
            offset += UInt64(piece.count)
        }
        return sum
    }
}
