import APNSBatchModel

/// The results of a run while it works, in batches; made by ``CampaignRun/makeResults(buffering:ofAllSessions:)``.
///
/// ```swift
/// let run = try CampaignRun(campaign, input: .file("rows.csv"))
/// let results = run.makeResults()
/// async let summary = run.send()
/// for await batch in results {
///     for result in batch where result.status == 410 { await store.delete(result.token) }
/// }
/// print(try await summary.verdict)
/// ```
///
/// A batch comes after its outcomes are in the ledger, so no outcome that a program has seen is different after the process was
/// killed. After a loss of power that holds for outcomes that are older than ``Campaign/syncInterval``.
///
/// A slow program holds up the run: when all batches wait for it, no further rows are sent, and memory does not grow. If the
/// program takes no further results, because this sequence and its iterator are released or the task that iterates is
/// cancelled, the run continues without it. It does not hold up the end of a run that is stopped. The sequence has one consumer.
public struct CampaignResults: AsyncSequence, Sendable {
    /// Up to 2,048 results, in the order in which their rows ended.
    public typealias Element = ResultBatch
    /// The sequence throws no errors: those of the run are in its summary.
    public typealias Failure = Never

    /// Takes the batches of a run. The run continues without a consumer when its task is cancelled.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let interest: Interest

        /// Returns the next batch, and waits for it; nil at the end of the run.
        public mutating func next() async -> ResultBatch? { await next(isolation: nil) }

        /// Returns the next batch, and waits for it; nil at the end of the run.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ResultBatch? {
            if !Task.isCancelled, let earlier = interest.earlier?.next() { return earlier }
            return await interest.stream.next()
        }
    }

    /// Ends the stream when no consumer can ask for another batch.
    final class Interest: Sendable {
        let stream: ResultStream
        /// Those that come first; nil if there are none.
        let earlier: EarlierResults?

        init(_ stream: ResultStream, after earlier: EarlierResults?) { (self.stream, self.earlier) = (stream, earlier) }

        deinit { stream.abandon() }
    }

    let interest: Interest

    /// Returns the iterator. Call it once: iterators take the batches from each other.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(interest: interest) }
}

extension CampaignRun {
    /// Returns the results of this run as a sequence, whose elements must be taken, or which must be released, for the run to
    /// come to the end of its input. Call it before ``send()``, and once: of several sequences only the last one has elements, and
    /// one that is made later has none of this session.
    ///
    /// A run that is stopped, in whatever way, ends without waiting for the program that takes them. `results.csv` has all of them,
    /// the sequence still has those that were not taken, and a resumed run gives all with `ofAllSessions`.
    ///
    /// A program that keeps the results, such as in a database, has those of the last moments before its process was killed in
    /// the ledger only. With `ofAllSessions` the sequence of a resumed run begins with the results of its earlier sessions, so that
    /// the program gets each of them at least once; also if the run was complete. If the ledger cannot be read, the run fails.
    ///
    /// - Parameters:
    ///   - batches: The number of batches, of up to 2,048 results, that may wait, besides three for each lane. At least 1; each
    ///     takes up to 400 KiB.
    ///   - ofAllSessions: Whether those of earlier sessions come first. Otherwise they are in `results.csv` only.
    public func makeResults(buffering batches: Int = 8, ofAllSessions: Bool = false) -> CampaignResults {
        let stream = ResultStream(
            batches: max(1, batches), campaign: session.facts.plan.identity,
            columns: session.facts.header.resultColumns.count)
        session.results.withLock { $0.offer(stream) }
        return CampaignResults(interest: .init(stream, after: ofAllSessions ? earlierResults(stream) : nil))
    }

    private func earlierResults(_ stream: ResultStream) -> EarlierResults? {
        // Not the run itself: a program may keep the sequence after it, and the run holds the lock of its ledger.
        let control = session.panel.control
        let fail = { @Sendable (error: CampaignError) in control.stop(.failure(error)) }
        do throws(CampaignError) {
            return try session.facts.past.map { (past) throws(CampaignError) in
                EarlierResults(try PastOutcomes(past, in: directory), like: stream, fail: fail)
            }
        } catch {
            fail(error)
            return nil
        }
    }
}

/// The stream through which a run gives its results to the program.
struct OfferedResults: Sendable {
    private(set) var stream: ResultStream?
    /// Whether the run has begun, so that its results go to the stream that was offered before.
    private var hasBegun = false

    mutating func offer(_ next: ResultStream) {
        if hasBegun { return next.finish() }
        stream?.finish()
        stream = next
    }

    /// Returns where the results of the run go.
    mutating func begin() -> ResultStream? {
        hasBegun = true
        return stream
    }

    mutating func end() { begin()?.finish() }
}
