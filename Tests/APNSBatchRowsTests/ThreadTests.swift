import Glibc
import Testing

@testable import APNSBatchRows

@Suite("Reader and parser threads")
struct ThreadTests {
    /// A queue between the reader's thread and the lanes. It uses POSIX locks, which the thread sanitizer supports.
    private final class Queue: @unchecked Sendable {
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        private var chunks: [RowChunk] = []
        private var isClosed = false

        init() {
            pthread_mutex_init(mutex, nil)
            pthread_cond_init(changed, nil)
        }

        deinit {
            mutex.deallocate()
            changed.deallocate()
        }

        func push(_ chunk: RowChunk?) {
            pthread_mutex_lock(mutex)
            if let chunk { chunks.append(chunk) } else { isClosed = true }
            pthread_cond_broadcast(changed)
            pthread_mutex_unlock(mutex)
        }

        /// Returns nil when the queue is closed and empty.
        func pop() -> RowChunk? {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            while chunks.isEmpty, !isClosed { pthread_cond_wait(changed, mutex) }
            return chunks.popLast()
        }
    }

    @Test("Several threads parse and recycle chunks while another reads", arguments: [1, 3, 6])
    func lanes(buffers: Int) async throws {
        let input = RandomInputTests.input(seed: 7, length: 60_000)
        let expected = ReferenceReader(fieldBytes: 40, recordBytes: 200).read(input)
        let reader = ChunkReader(
            source: ScriptedSource(input, pieces: [97]), limits: .small(chunk: 150, field: 40, record: 200),
            buffers: buffers)
        _ = try reader.readColumns()
        let queue = Queue()
        let rows = await withTaskGroup(of: [ReadRow].self) { group in
            for _ in 0..<3 {
                group.addTask {
                    await onThread {
                        var rows: [ReadRow] = []
                        var cursor = reader.makeCursor()
                        while let chunk = queue.pop() {
                            Reading.append(chunk, &cursor, to: &rows)
                            chunk.recycle()
                        }
                        return rows
                    }
                }
            }
            group.addTask {
                await onThread {
                    while let chunk = try? reader.next() { queue.push(chunk) }
                    queue.push(nil)
                    return []
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(rows.sorted { $0.row < $1.row } == expected.rows)
        #expect(reader.storedBytesRead == UInt64(input.count))
    }

    private enum Stage: CaseIterable {
        case header, rows
    }

    @Test("A reader that waits for a pipe can be cancelled", arguments: Stage.allCases, 0..<20)
    private func cancelOnPipe(stage: Stage, round: Int) async throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let reader = try ChunkReader(input: .descriptor(ends[0]), buffers: 2)
        if stage == .rows { _ = write(ends[1], "a,b\n1,2\n", 8) }
        async let outcome = onThread { Self.outcome(of: reader) }
        await onThread { reader.cancel() }
        #expect(await outcome == .cancelled)
        #expect(Self.outcome(of: reader) == .cancelled)
    }

    @Test("A reader that waits for a buffer can be cancelled", arguments: 0..<20)
    func cancelOnPool(round: Int) async throws {
        let input = Array(("a\n" + String(repeating: "12345678\n", count: 100)).utf8)
        let reader = ChunkReader(source: ScriptedSource(input), limits: .small(), buffers: 2)
        let held = [try reader.next(), try reader.next()]
        async let outcome = onThread { Self.outcome(of: reader) }
        await onThread { reader.cancel() }
        #expect(await outcome == .cancelled)
        for chunk in held { chunk?.recycle() }
    }

    private static func outcome(of reader: ChunkReader) -> InputError? {
        do throws(InputError) {
            while let chunk = try reader.next() { chunk.recycle() }
            return nil
        } catch {
            return error
        }
    }

    @Test("A chunk can outlive its reader")
    func chunkOutlivesReader() async throws {
        var reader: ChunkReader? = ChunkReader(
            source: ScriptedSource(Array("a,b\n1,2\n".utf8)), buffers: 2)
        var cursor = RowCursor(columnCount: 2)
        let chunk = try #require(try reader?.next())
        reader = nil
        var rows: [ReadRow] = []
        Reading.append(chunk, &cursor, to: &rows)
        chunk.recycle()
        #expect(rows.map(\.text) == ["1@2 1|2"])
    }
}
