import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchSending
import Glibc

/// The room on the disk of a run directory, and what the rows of a run need.
struct DiskRoom {
    let directory: String
    let rows: UInt64
    let needed: UInt64
    let free: UInt64

    /// - Parameters:
    ///   - size: The rows of the input.
    ///   - chunks: The number of chunks whose rows are announced together.
    init(_ campaign: Campaign, in directory: String, _ size: InputSize, chunks: Int, free: UInt64) {
        (self.directory, self.free) = (directory, free)
        rows = size.rows
        needed =
            DiskNeed(
                rows: rows, carried: campaign.resultColumns.count, announced: size.rowsOfChunk * UInt64(chunks)
            ).bytes
    }

    /// Measures the room for an input. The rows are counted if little or nothing would be left by an estimate. Returns nil if the
    /// number of rows or the free room is not known.
    static func measured(
        _ campaign: Campaign, in directory: String, for input: RunInput, chunks: Int,
        freeBytes: (String) -> UInt64?
    ) -> DiskRoom? {
        guard let free = freeBytes(directory.isEmpty ? "." : directory),
            let estimate = InputSize(campaign, of: input)
        else { return nil }
        let room = DiskRoom(campaign, in: directory, estimate, chunks: chunks, free: free)
        guard !estimate.isCounted, room.needed > free / 2 else { return room }
        guard let counted = InputSize(campaign, of: input, counting: true) else { return nil }
        return DiskRoom(campaign, in: directory, counted, chunks: chunks, free: free)
    }

    /// Throws if the room does not suffice.
    func require() throws(CampaignError) {
        guard needed > free else { return }
        throw CampaignError(
            .results,
            "\(directory): \(rows.grouped) rows need \(Self.text(needed)) on this disk, and \(Self.text(free)) are free; make room, "
                + "or name another run directory; nothing was sent",
            cause: StorageError("write", directory, code: ENOSPC))
    }

    /// `1,810,000,000 bytes`: in bytes, so that both numbers can be compared however close they are.
    static func text(_ bytes: UInt64) -> String { "\(bytes.grouped) bytes" }
}
