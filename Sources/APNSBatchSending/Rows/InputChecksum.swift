import APNSBatchBasics

/// The CRC-32C of an input, combined from the checksums of its chunks. Only what is in no chunk, such as the header row, is
/// read again. So it is the checksum of the bytes from which the rows came, whichever session read them.
struct InputChecksum: Sendable, Equatable {
    private struct Part: Equatable {
        var offset: UInt64
        var bytes: UInt64
        var sum: UInt32

        var end: UInt64 { offset + bytes }
    }

    /// In the order of their offsets; chunks that follow each other are one part.
    private var parts: [Part] = []

    /// Adds the checksum of a chunk, unless it was added before.
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

    /// Returns the checksum of the whole input, or nil if bytes outside of the chunks cannot be read.
    ///
    /// - Parameters:
    ///   - bytes: The length of the input.
    ///   - sumOf: Returns the checksum of bytes that are in no chunk, or nil if they cannot be read.
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
