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

    /// Whether little or nothing is left, so that an estimate of the rows does not tell whether the room suffices.
    var isTight: Bool { needed > free / 2 }

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
