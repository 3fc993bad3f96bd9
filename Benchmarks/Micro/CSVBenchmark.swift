import APNSBatchRows

/// Reading: split into chunks, then parsed into fields, out of the page cache.
enum CSVBenchmark {
    static func figures(_ inputs: Inputs) throws -> [Figure] {
        try measure("plain", inputs.plain, inputs.rows) + measure("quoted", inputs.quoted, inputs.rows)
    }

    private static func measure(_ kind: String, _ file: RowFile, _ expected: Int) throws -> [Figure] {
        var rows = 0
        var fieldBytes = 0
        let nanoseconds = try Repetitions.median(preparation: { (rows, fieldBytes) = (0, 0) }) {
            try file.forEachRow { row in
                rows += 1
                for field in row.fields { fieldBytes += field.count }
            }
        }
        guard rows == expected, fieldBytes > 0, fieldBytes < file.byteCount else {
            throw BenchmarkFailure("\(file.path): \(rows) of \(expected) rows, \(fieldBytes) bytes")
        }
        return [
            Figure("csv.\(kind).volume", Double(file.byteCount) / nanoseconds, "GB/s"),
            Figure("csv.\(kind).rows", Double(rows) * 1e9 / nanoseconds, "rows/s"),
        ]
    }
}
