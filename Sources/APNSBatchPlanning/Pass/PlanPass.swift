import APNSBatchBasics
import APNSBatchRows

/// One pass over an input: a thread reads and splits it, and others look at the rows of its chunks.
///
/// Memory is that of the reader's chunks, whatever the length of the input.
package final class PlanPass: Sendable {
    /// Why a pass did not reach the end of its input.
    package enum Failure: Error, Sendable {
        case input(InputError)
        case threads(ThreadError)
    }

    private let reader: ChunkReader
    private let threads: Int
    private let chunks: BoundedQueue<RowChunk>
    private let failure = Guarded<Failure?>(nil)

    /// - Parameters:
    ///   - reader: Its columns have been read.
    ///   - threads: The number of threads that look at rows.
    package init(_ reader: ChunkReader, threads: Int) {
        (self.reader, self.threads) = (reader, threads)
        chunks = BoundedQueue(capacity: reader.bufferCount)
    }

    /// Ends the pass before the end of the input. May be called from any thread, at any time.
    package func stop() {
        reader.cancel()
        chunks.close()
    }

    /// Returns the next chunk for a thread that looks at rows, and nil when there are none any more. The caller recycles it.
    package func next() -> RowChunk? { chunks.pop() }

    /// Reads the input, and returns when all threads have ended. Call it once.
    ///
    /// - Parameters:
    ///   - name: The name of the threads that look at rows.
    ///   - note: Is called on the reading thread with each chunk, in the order of the input, and leaves its bytes as they are.
    ///   - work: Is called on each of the other threads, with its number from 0. It returns when ``next()`` has returned nil.
    /// - Throws: The first failure. A pass that was stopped has none.
    package func run(
        _ name: String, noting note: @escaping @Sendable (RowChunk) -> Void,
        _ work: @escaping @Sendable (_ number: Int) -> Void
    ) throws(Failure) {
        do throws(ThreadError) {
            let reading = try NamedThread("reader") { [self] in read(note) }
            NamedThread.together(name, count: threads, failed: { fail(.threads($0)) }, work)
            stop()
            reading.join()
        } catch {
            fail(.threads(error))
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    private func read(_ note: (RowChunk) -> Void) {
        defer { chunks.close() }
        do throws(InputError) {
            while let chunk = try reader.next() {
                note(chunk)
                guard chunks.push(chunk) else { return chunk.recycle() }
            }
        } catch .cancelled {
            // The pass was stopped, or its threads have ended.
        } catch {
            fail(.input(error))
        }
    }

    private func fail(_ failure: Failure) {
        self.failure.withLock { if $0 == nil { $0 = failure } }
        if case .threads = failure { stop() }
    }
}
