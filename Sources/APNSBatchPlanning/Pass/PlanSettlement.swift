import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows

/// Gives the rows that a plan suppresses their outcomes, before the first push.
package struct PlanSettlement: ~Copyable {
    /// Why rows have no outcome.
    package enum Failure: Error, Sendable {
        case plan(PlanReader.Failure)
        case input(InputError)
        case storage(StorageError)
    }

    private let input: ChunkReader
    private var cursor: RowCursor
    private let batch = OutcomeBatch()
    private let append: (Row, OutcomeBatch) -> Void

    /// - Parameters:
    ///   - input: The input of the run, of which only ranges are read that have suppressed rows.
    ///   - cursor: A cursor of that reader.
    ///   - append: Appends the outcome of a row.
    package init(
        _ input: ChunkReader, cursor: consuming RowCursor, append: @escaping (_ row: Row, _ batch: OutcomeBatch) -> Void
    ) {
        (self.input, self.append) = (input, append)
        self.cursor = cursor
    }

    /// Writes the session of a plan to its end.
    package mutating func run(
        _ plan: consuming PlanReader, into session: consuming PlannedSession
    ) throws(Failure) {
        while let range = try Self.next(of: &plan) {
            try announce(range, in: &session)
            if range.decisions.count(of: .suppressed) > 0 { try end(range, in: &session) }
        }
        try write(to: &session)
        do throws(StorageError) {
            try session.finish()
        } catch {
            throw .storage(error)
        }
    }

    private static func next(of plan: inout PlanReader) throws(Failure) -> PlanRange? {
        do throws(PlanReader.Failure) {
            return try plan.next()
        } catch {
            throw .plan(error)
        }
    }

    private func announce(_ range: PlanRange, in session: inout PlannedSession) throws(Failure) {
        do throws(StorageError) {
            try session.announce(range.facts)
        } catch {
            throw .storage(error)
        }
    }

    private mutating func end(_ range: PlanRange, in session: inout PlannedSession) throws(Failure) {
        let chunk = try read(range.facts)
        defer { chunk.recycle() }
        var row = Row()
        var index = 0
        cursor.open(chunk)
        while cursor.next(into: &row) {
            if range.decisions[index] == .suppressed, !session.hasEnded(row.row) {
                if !batch.hasRoom { try write(to: &session) }
                append(row, batch)
            }
            index += 1
        }
    }

    private func read(_ facts: LedgerRange) throws(Failure) -> RowChunk {
        let chunk: RowChunk?
        do throws(InputError) {
            chunk = try input.next(at: facts.start, bytes: facts.bytes)
        } catch {
            throw .input(error)
        }
        guard let chunk else { throw .input(.changedSince(facts)) }
        guard LedgerRange(chunk) == facts else {
            chunk.recycle()
            throw .input(.changedSince(facts))
        }
        return chunk
    }

    private func write(to session: inout PlannedSession) throws(Failure) {
        do throws(StorageError) {
            try session.record(batch)
        } catch {
            throw .storage(error)
        }
        batch.removeAll()
    }
}
