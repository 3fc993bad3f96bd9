import APNSBatchRows

/// A row that a program makes.
///
/// ```swift
/// struct Guest: CampaignRow {
///     var token: String
///     var seats: Int
///
///     static let columns = ["token", "seats"]
///
///     func encode(into row: inout RowEncoder) {
///         row.append(token)
///         row.append(seats)
///     }
/// }
/// ```
///
/// ``encode(into:)`` is called once for each row, when there is room for it. It must not wait.
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
    /// The number of rows that earlier sessions of a resumed run took; 0 in a new run.
    public let taken: UInt64

    init(_ pipe: RowPipe, taken: UInt64) { (self.pipe, self.taken) = (pipe, taken) }

    /// Says that the first row which is written is the one after the first ``taken`` rows, for programs that cannot make those again, or
    /// can begin after them. Call it before the first row is written; later calls have no effect.
    public func skipTakenRows() { if count == 0, taken > 0 { pipe.beginBehindSpool() } }

    /// Writes a row, and waits while no buffer is free, because the rows before it have not been sent.
    ///
    /// - Parameter encode: Writes the fields in the order of the columns. It must not wait. If it throws an error, nothing of the row
    ///   is written.
    /// - Throws: `CancellationError` when the run takes no further rows or the task is cancelled, and errors of `encode`.
    @inlinable
    public mutating func write(_ encode: (inout RowEncoder) throws -> Void) async throws {
        while try !write(ifRoom: encode) { try await waitForRoom() }
    }

    /// Writes a row, and waits while no buffer is free, because the rows before it have not been sent.
    ///
    /// - Throws: `CancellationError` when the run takes no further rows or the task is cancelled.
    @inlinable
    public mutating func write(_ row: some CampaignRow) async throws {
        while try !write(ifRoom: { row.encode(into: &$0) }) { try await waitForRoom() }
    }

    /// Writes a row if there is room, and returns whether there was.
    @usableFromInline
    mutating func write(ifRoom encode: (inout RowEncoder) throws -> Void) throws -> Bool {
        guard try pipe.write(encode) else { return false }
        count += 1
        return true
    }

    @usableFromInline func waitForRoom() async throws { try await pipe.waitForRoom() }
}

/// The part of a run that makes its rows.
package struct RowProduction: Sendable {
    let pipe: RowPipe
    let rows: @Sendable (inout RowWriter) async throws -> Void

    /// Makes all rows, and reports the end to the reader.
    ///
    /// - Parameter taken: The number of rows that earlier sessions took.
    func run(taken: UInt64) async {
        var writer = RowWriter(pipe, taken: taken)
        do {
            try await rows(&writer)
            pipe.finish()
        } catch {
            pipe.fail("\(error)")
        }
    }
}
