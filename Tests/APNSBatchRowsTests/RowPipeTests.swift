import APNSBatchBasics
import Testing

@testable import APNSBatchRows

@Suite("Rows that a program writes")
struct RowPipeTests {
    /// Returns rows with fields of bytes that CSV treats in a special way, and of others.
    private static func rows(seed: UInt64, count: Int, columns: Int) -> [[[UInt8]]] {
        let characters = Array("ab ,;\"\n\r\té\u{1F600}").map { Array(String($0).utf8) }
        var random = SplitMix64(seed: seed)
        return (0..<count).map { _ in
            (0..<columns).map { _ in
                (0..<Int(random.next() % 24)).flatMap { _ in characters[Int(random.next() % UInt64(characters.count))] }
            }
        }
    }

    @Test(
        "Every field arrives as it was written, wherever a buffer ends", arguments: [1, 2, 3], [1, 4])
    func roundTrip(seed: UInt64, columns: Int) async throws {
        let rows = Self.rows(seed: seed, count: 1000, columns: columns)
        let delimiter = UInt8(ascii: seed == 2 ? ";" : ",")
        let pipe = RowPipe(columns: (0..<columns).map { "column \($0), \"quoted\"" }, delimiter: delimiter)
        let reader = ChunkReader(
            source: pipe, format: .csv(try CSVDialect(delimiter: delimiter)),
            limits: .small(chunk: 61 + Int(seed), field: 200, record: 820), buffers: 2)
        async let read = onThread { Reading(reader) }
        for row in rows {
            while try !pipe.write({ encoder in for field in row { encoder.append(bytes: field.span) } }) {
                try await pipe.waitForRoom()
            }
        }
        pipe.finish()
        let reading = await read
        #expect(reading.columns == (0..<columns).map { Array("column \($0), \"quoted\"".utf8) })
        #expect(reading.failure == nil && reading.rows.allSatisfy { $0.error == nil })
        #expect(reading.rows.map(\.fields) == rows)
    }

    @Test("A program that waits for room learns that the rows are not wanted any more")
    func cancelled() async throws {
        let pipe = RowPipe(columns: ["a"], delimiter: UInt8(ascii: ","))
        async let waiting: Void = pipe.waitForRoom()
        pipe.cancel()
        try await waiting
        #expect(throws: CancellationError.self) { try pipe.write { $0.append("x") } }
        let task = Task { try await RowPipe(columns: ["a"], delimiter: UInt8(ascii: ",")).waitForRoom() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
