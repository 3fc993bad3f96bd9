import APNSBatchBasics
import APNSBatchModel
import APNSBatchRows

/// The `results.csv` of a run in progress, with a line for each outcome.
package final class ResultsFile: OutcomeReceiver {
    private let state: Guarded<State>
    /// The maximum length in bytes of the line of a row: without carried columns a token of 200 digits, a reason of 256 bytes
    /// with quotes, two ids of 36, and some 80 for the other columns.
    private let bytesPerRow: Int
    private static let bytesOfPlainRow = 832

    /// The bytes that are reserved for the line of a row, with this many carried columns.
    static func bytesReserved(carried: Int) -> Int {
        bytesOfPlainRow + carried * (SheetField.most(CarriedFields.textMax) + 1)
    }

    private struct State: ~Copyable {
        let storage: any AppendFile
        var lines: ResultLines
        /// The checksum of all bytes of the file.
        var sum: UInt32

        mutating func flush() throws(StorageError) {
            try unsafe storage.append(lines.bytes)
            sum = unsafe CRC32C.of(lines.bytes, after: sum)
            lines.removeAll()
        }
    }

    /// - Parameters:
    ///   - storage: the file, which holds complete lines and ends with the last line that the ledger explains.
    ///   - sum: the checksum of its bytes.
    ///   - carried: the number of carried columns.
    ///   - lineBytes: the number of bytes of lines that are buffered before they are written.
    package init(
        _ storage: any AppendFile, campaign: (UInt64, UInt64), sum: UInt32, carried: Int = 0,
        lineBytes: Int = ResultLines.usualCapacity
    ) {
        bytesPerRow = Self.bytesReserved(carried: carried)
        state = Guarded(
            State(
                storage: storage, lines: ResultLines(campaign: campaign, carried: carried, capacity: lineBytes),
                sum: sum))
    }

    /// The length of the file in bytes, without buffered lines, and the checksum of these bytes.
    package var extent: (length: UInt64, sum: UInt32) { state.withLock { ($0.storage.length, $0.sum) } }

    /// Why the file system reserves no space; nil if it does.
    package var reservationFailure: StorageError? { state.withLock { $0.storage.reservationFailure } }

    package func reserve(rows: Int) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in try state.storage.reserve(UInt64(rows * bytesPerRow)) }
    }

    package func take(_ batch: OutcomeBatch) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in
            for index in unsafe batch.entries.indices {
                if !state.lines.hasRoom { try state.flush() }
                state.lines.append(unsafe batch.entries[index], of: batch)
            }
        }
    }

    package func sync() throws(StorageError) {
        let storage = try state.withLock { (state) throws(StorageError) in
            try state.flush()
            try state.storage.confirmLength()
            return state.storage
        }
        try storage.sync()
    }

    package func finish() throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in try state.storage.truncate(to: state.storage.length) }
    }
}
