import APNSBatchBasics
import APNSBatchRecords
import APNSBatchRows

/// Makes the plan of a run: reads the whole input once, and writes what becomes of each row.
package struct PlanMaker: Sendable {
    /// Why there is no plan.
    package enum Failure: Error, Sendable {
        case input(InputError)
        case threads(ThreadError)
        case storage(StorageError)
        /// It was ended by ``stop()``.
        case stopped
    }

    private let reader: ChunkReader
    private let copies: [Int]
    private let pass: PlanPass
    private let threads: Int
    private let isStopped = Guarded(false)

    /// - Parameters:
    ///   - reader: The input. Its columns have been read.
    ///   - copies: Those of the cursor; see `ChunkReader.makeCursor(copies:)`.
    ///   - threads: The number of threads that look at rows.
    package init(_ reader: ChunkReader, copies: [Int] = [], threads: Int) {
        (self.reader, self.copies, self.threads) = (reader, copies, threads)
        pass = PlanPass(reader, threads: threads)
    }

    /// Ends the making of the plan. May be called from any thread.
    package func stop() {
        isStopped.withLock { $0 = true }
        pass.stop()
    }

    /// Makes the plan. Call it once.
    ///
    /// - Parameters:
    ///   - storage: An empty file for the plan, which is durable on return.
    ///   - digests: Compares keys; nil if the rules do not ask for that.
    ///   - makeRule: Returns the rules for a thread.
    package func make(
        _ header: PlanHeader, to storage: any AppendFile, digests: SharedDigests? = nil,
        rules makeRule: @escaping @Sendable () -> any RowRule
    ) throws(Failure) -> MadePlan {
        let draft = PlanDraft(try Self.stored { () throws(StorageError) in try PlanWriter(storage, header) })
        do throws(PlanPass.Failure) {
            try pass.run("plan", noting: { _ in }) { [self] _ in
                var worker = PlanWorker(makeRule(), cursor: reader.makeCursor(copies: copies), draft, digests)
                worker.run(pass)
            }
        } catch {
            throw Failure(error)
        }
        if isStopped.withLock({ $0 }) { throw .stopped }
        return try Self.stored { () throws(StorageError) in
            if let failure = draft.failure { throw failure }
            var tally: DuplicateTally?
            if let digests {
                var found = DuplicateTally()
                try digests.visit { found.note($0, first: $1) }
                tally = found
            }
            return try draft.finish(duplicates: tally)
        }
    }

    private static func stored<Value: ~Copyable>(_ body: () throws(StorageError) -> Value) throws(Failure) -> Value {
        do throws(StorageError) {
            return try body()
        } catch {
            throw .storage(error)
        }
    }
}

extension PlanMaker.Failure {
    fileprivate init(_ failure: PlanPass.Failure) {
        switch failure {
        case .input(let error): self = .input(error)
        case .threads(let error): self = .threads(error)
        }
    }
}

/// One thread that looks at rows for a plan.
private struct PlanWorker: ~Copyable {
    private var rule: any RowRule
    private var cursor: RowCursor
    private let draft: PlanDraft
    private let digests: SharedDigests?
    private var keys: [KeyedRow] = []

    init(_ rule: any RowRule, cursor: consuming RowCursor, _ draft: PlanDraft, _ digests: SharedDigests?) {
        (self.rule, self.draft, self.digests) = (rule, draft, digests)
        self.cursor = cursor
    }

    mutating func run(_ pass: PlanPass) {
        while let chunk = pass.next() {
            let range = look(at: chunk)
            chunk.recycle()
            draft.add(range)
            // A full disk ends the pass.
            if draft.failure != nil { pass.stop() }
        }
        passOn()
    }

    private mutating func look(at chunk: RowChunk) -> PlanRange {
        // The bytes as they were read: the cursor unescapes fields in place.
        let facts = LedgerRange(chunk)
        var decisions = RowDecisions(count: chunk.rowCount)
        var row = Row()
        cursor.open(chunk)
        var index = 0
        while cursor.next(into: &row) {
            let decision = rule.decide(row)
            if decision != .send { decisions[index] = decision } else { note(row) }
            index += 1
        }
        return PlanRange(facts, decisions)
    }

    private mutating func note(_ row: Row) {
        guard digests != nil, let key = rule.key(of: row) else { return }
        keys.append(KeyedRow(digest: key, row: row.row))
        if keys.count == SharedDigests.batch { passOn() }
    }

    private mutating func passOn() {
        digests?.add(keys.span)
        keys.removeAll(keepingCapacity: true)
    }
}
