import APNSBatchBasics
import APNSBatchRecords

/// The CRC-32C of an input, put together from the sums of its chunks: nothing is read for it a second time but what stands in
/// none, such as the header row. So it is that of the bytes from which the rows came, whichever process read them.
struct InputChecksum: Sendable, Equatable {
    private struct Part: Equatable {
        var offset: UInt64
        var bytes: UInt64
        var sum: UInt32

        var end: UInt64 { offset + bytes }
    }

    /// In order; chunks that follow each other are one part.
    private var parts: [Part] = []

    /// Adds a chunk, or nothing if it was added before.
    mutating func add(offset: UInt64, bytes: Int, sum: UInt32) {
        let end = parts.last?.end ?? 0
        guard offset >= end else { return }
        guard offset == end, !parts.isEmpty else {
            return parts.append(Part(offset: offset, bytes: UInt64(bytes), sum: sum))
        }
        let last = parts.count - 1
        parts[last].sum = CRC32C.combine(parts[last].sum, sum, length: UInt64(bytes))
        parts[last].bytes += UInt64(bytes)
    }

    /// Of the whole input.
    ///
    /// - Parameters:
    ///   - bytes: its length.
    ///   - sumOf: the sum of bytes that stand in no chunk; nil where they cannot be read.
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
