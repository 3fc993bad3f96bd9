import APNSBatchBasics
import APNSBatchRecords

/// The CRC-32C of an input, put together from the sums that its ranges have in the ledger: nothing is read for it a second
/// time but what stands in no range, such as the header row. So it is that of the bytes from which the rows came, whichever
/// process read them.
struct InputChecksum: Sendable, Equatable {
    private struct Part: Equatable {
        var offset: UInt64
        var bytes: UInt64
        var sum: UInt32

        var end: UInt64 { offset + bytes }
    }

    /// In order; ranges that follow each other are one part.
    private var parts: [Part] = []

    /// Adds a range, or nothing if it was added before.
    mutating func add(_ range: LedgerRange) {
        let end = parts.last?.end ?? 0
        guard range.offset >= end else { return }
        guard range.offset == end, !parts.isEmpty else {
            parts.append(Part(offset: range.offset, bytes: UInt64(range.bytes), sum: range.sum))
            return
        }
        let last = parts.count - 1
        parts[last].sum = CRC32C.combine(parts[last].sum, range.sum, length: UInt64(range.bytes))
        parts[last].bytes += UInt64(range.bytes)
    }

    /// Of the whole input.
    ///
    /// - Parameters:
    ///   - bytes: its length.
    ///   - sumOf: the sum of bytes that stand in no range; nil where they cannot be read.
    func value(bytes: UInt64, sumOf: (Range<UInt64>) -> UInt32?) -> UInt32? {
        var (end, sum): (UInt64, UInt32) = (0, 0)
        for part in parts + [Part(offset: bytes, bytes: 0, sum: 0)] where part.end <= bytes {
            if part.offset > end {
                guard let gap = sumOf(end..<part.offset) else { return nil }
                sum = CRC32C.combine(sum, gap, length: part.offset - end)
            }
            sum = CRC32C.combine(sum, part.sum, length: part.bytes)
            end = part.end
        }
        return sum
    }
}

extension InputReader {
    /// The CRC-32C of the input, once all of its ranges are known; nil for a pipe, and where the file cannot be read any more.
    package var checksum: UInt32? {
        guard let bytes = bytesTotal else { return nil }
        return ranges.withLock { $0 }.value(bytes: bytes) { sum(of: $0) }
    }

    private func sum(of bytes: Range<UInt64>) -> UInt32? {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
        defer { piece.deallocate() }
        var (at, sum): (UInt64, UInt32) = (bytes.lowerBound, 0)
        while at < bytes.upperBound {
            let wanted = UnsafeMutableRawBufferPointer(rebasing: piece[..<Int(min(65536, bytes.upperBound - at))])
            guard reader.read(at: at, into: wanted) else { return nil }
            sum = CRC32C.of(UnsafeRawBufferPointer(wanted), after: sum)
            at += UInt64(wanted.count)
        }
        return sum
    }
}
