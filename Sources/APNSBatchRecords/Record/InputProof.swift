import APNSBatchBasics
import APNSBatchModel
import Glibc

/// Proves that a file holds what a run read from another file: it compares the checksum of every announced range. Bytes
/// that were not read before cannot be compared; the caller compares the length of the whole input.
enum InputProof {
    private static let pieceBytes = 1 << 20

    /// - Throws: ``CampaignError`` with `configuration` if something differs, with `input` if the file cannot be read.
    static func check(_ path: String, holds ranges: [LedgerHistory.Range]) throws(CampaignError) {
        do {
            let file = try open(path)
            let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceBytes, alignment: 16)
            defer { piece.deallocate() }
            for range in ranges where try sum(of: range.facts, in: file, piece) != range.facts.sum {
                let rows = "\(range.facts.firstRow) to \(range.facts.firstRow + UInt64(range.facts.rows) - 1)"
                throw CampaignError(
                    .configuration, "input: \(path) has changed since the run began: rows \(rows) differ")
            }
        } catch let error as CampaignError {
            throw error
        } catch {
            throw CampaignError(.input, "\(error)")
        }
    }

    /// Opens a file and follows symbolic links, as the reader of rows does.
    private static func open(_ path: String) throws(StorageError) -> FileStorage {
        guard let resolved = realpath(path, nil) else { throw StorageError("open", path, code: errno) }
        defer { free(resolved) }
        return try FileStorage(String(cString: resolved), .readOnly)
    }

    /// Returns the checksum of a range's bytes, or nil if the file ends before the range does.
    private static func sum(
        of range: LedgerRange, in file: FileStorage, _ piece: UnsafeMutableRawBufferPointer
    ) throws(StorageError) -> UInt32? {
        var sum: UInt32 = 0
        var done = 0
        while done < range.bytes {
            let wanted = UnsafeMutableRawBufferPointer(rebasing: piece[..<min(pieceBytes, range.bytes - done)])
            let count = try file.read(at: range.start.offset + UInt64(done), into: wanted)
            guard count == wanted.count, let base = wanted.baseAddress else { return nil }
            sum = CRC32C.of(UnsafeRawBufferPointer(start: base, count: count), after: sum)
            done += count
        }
        return sum
    }
}
