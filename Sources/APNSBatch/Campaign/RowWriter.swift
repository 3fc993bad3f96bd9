import APNSBatchRows

/// A row that a program makes.
public protocol CampaignRow {
    /// The names of the columns, as in the header row of a file: `token`, `payload`, `topic` and so on, and those of the
    /// template.
    static var columns: [String] { get }

    /// Writes the fields, in the order of ``columns``.
    func encode(into row: inout RowEncoder)
}

/// Writes the rows of a program into the buffers from which the run sends them.
public struct RowWriter: ~Copyable, Sendable {
    private let pipe: RowPipe
    /// The number of rows that were written.
    public private(set) var count: UInt64 = 0

    init(_ pipe: RowPipe) { self.pipe = pipe }

    /// Writes a row, and waits while no buffer is free, because the rows before it have not been sent.
    ///
    /// - Parameter encode: Writes the fields in the order of the columns. It must not wait. If it throws an error, nothing of the row
    ///   is written.
    /// - Throws: `CancellationError` when the run takes no further rows or the task is cancelled, and errors of `encode`.
    public mutating func write(_ encode: (inout RowEncoder) throws -> Void) async throws {
        while try !pipe.write(encode) { try await pipe.waitForRoom() }
        count += 1
    }

    /// Writes a row, and waits while no buffer is free, because the rows before it have not been sent.
    ///
    /// - Throws: `CancellationError` when the run takes no further rows or the task is cancelled.
    public mutating func write(_ row: some CampaignRow) async throws {
        while true {
            if try pipe.write({ row.encode(into: &$0) }) { break }
            try await pipe.waitForRoom()
        }
        count += 1
    }
}

/// The part of a run that makes its rows.
package struct RowProduction: Sendable {
    let pipe: RowPipe
    let rows: @Sendable (inout RowWriter) async throws -> Void

    /// Makes all rows, and tells the reader how that ended.
    func run() async {
        var writer = RowWriter(pipe)
        do {
            try await rows(&writer)
            pipe.finish()
        } catch {
            pipe.fail("\(error)")
        }
    }
}
