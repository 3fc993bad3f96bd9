import APNSBatchNotification
import APNSBatchRows

/// Payloads out of a compiled template and the fields of rows.
enum RenderBenchmark {
    /// So many that fields and payloads are not always the same, and so few that they stay in the cache.
    private static let rowsMax = 10_000

    static func figures(_ inputs: Inputs) throws -> [Figure] {
        try measure("plain", template: "plain", inputs.plain) + measure("typed", template: "template", inputs.quoted)
    }

    private static func measure(_ kind: String, template name: String, _ file: RowFile) throws -> [Figure] {
        var fields: [UnsafeRawBufferPointer] = []
        let reader = try file.keepRows { row in fields += row.fields }
        defer { withExtendedLifetime(reader) {} }
        let columns = try reader.readColumns()
        let template = try PayloadTemplate(json: Inputs.template(name), columns: columns, file: name)
        let rows = min(rowsMax, fields.count / columns.count)
        var bytes = 0
        let nanoseconds = try Repetitions.median(preparation: { bytes = 0 }) {
            bytes = try render(template, fields, rows: rows)
        }
        return [
            Figure("render.\(kind)", nanoseconds / Double(rows), "ns/payload"),
            Figure("render.\(kind).size", Double(bytes) / Double(rows), "bytes/payload"),
        ]
    }

    /// The bytes of all payloads.
    private static func render(
        _ template: PayloadTemplate, _ fields: [UnsafeRawBufferPointer], rows: Int
    ) throws -> Int {
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
        defer { output.deallocate() }
        let columns = template.columns.count
        return try fields.withUnsafeBufferPointer { fields in
            var bytes = 0
            for row in 0..<rows {
                let own = UnsafeBufferPointer(rebasing: fields[row * columns..<(row + 1) * columns])
                guard case .written(let size) = template.render(fields: own, into: output) else {
                    throw BenchmarkFailure("row \(row + 1) could not be rendered")
                }
                bytes += size
            }
            return bytes
        }
    }

    /// One payload of `plain.json`.
    static func plainPayload() throws -> [UInt8] {
        let template = try PayloadTemplate(json: Inputs.template("plain"), columns: ["name"], file: "plain.json")
        var payload = [UInt8](repeating: 0, count: 4096)
        let outcome = Array("name-00000".utf8).withUnsafeBytes { name in
            withUnsafePointer(to: name) { field in
                payload.withUnsafeMutableBytes {
                    template.render(fields: UnsafeBufferPointer(start: field, count: 1), into: $0)
                }
            }
        }
        guard case .written(let size) = outcome else { throw BenchmarkFailure("plain.json could not be rendered") }
        return Array(payload[..<size])
    }
}
