import APNSBatchBasics
import APNSBatchRows

/// A CSV file with tokens. Only its owner can read it, as `results.csv`.
struct TokenFile {
    private let file: OutputFile
    private var buffer: [UInt8]
    private static let bufferBytes = 64 * 1024

    /// - Parameter columns: The first line.
    init(_ path: String, columns: String) throws(OutputFileError) {
        file = try OutputFile(
            path, OutputFile.Kind("tokens of the rows of a run", at: .own, startingWith: columns), readers: .owner)
        buffer = Array("\(columns)\n".utf8)
    }

    /// Adds a line of some of the fields.
    ///
    /// - Parameters:
    ///   - keyColumn: That of the token.
    ///   - prefix: The beginning of the line, with a comma at its end.
    mutating func add(
        _ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>, _ columns: [Int], keyColumn: Int, prefix: [UInt8]
    ) throws(OutputFileError) {
        buffer += prefix
        for (index, column) in columns.enumerated() {
            if index > 0 { buffer.append(UInt8(ascii: ",")) }
            // The field is one of results.csv, which may be altered, and was not in earlier versions.
            let plain = unsafe SheetField.plain(fields[column])
            unsafe plain.withUnsafeBytes { unsafe SheetField.append($0, isKey: column == keyColumn, to: &buffer) }
        }
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Self.bufferBytes { try flush() }
    }

    /// Puts the file in its place.
    mutating func finish() throws(OutputFileError) {
        try flush()
        try file.finish()
    }

    private mutating func flush() throws(OutputFileError) {
        try file.write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}
