import APNSBatchModel
import APNSBatchRows

/// Proves that an input holds what a run read from another file: it compares the checksum of every announced range. Bytes
/// that were not read before cannot be compared; the caller compares the length of the whole input.
enum InputProof {
    /// - Throws: ``CampaignError`` with `configuration` if something differs, with `input` if the input cannot be read.
    static func check(
        _ input: ChunkReader, name: String, holds ranges: [LedgerHistory.Range]
    ) throws(CampaignError) {
        for range in ranges.map(\.facts) {
            let sum: UInt32?
            do {
                sum = try input.checksum(of: range.start.offset..<range.end)
            } catch {
                throw CampaignError(.input, error.message(input: name))
            }
            guard sum != range.sum else { continue }
            let rows = "\(range.firstRow) to \(range.firstRow + UInt64(range.rows) - 1)"
            throw CampaignError(.configuration, "input: \(name) has changed since the run began: rows \(rows) differ")
        }
    }
}
