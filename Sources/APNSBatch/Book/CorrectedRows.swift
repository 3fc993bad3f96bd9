import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows
import APNSBatchSending

/// The rows of a correction: which rows of the corrected run they are.
struct CorrectedRows {
    /// For each row the number of the row of the corrected run.
    private(set) var numbers: [UInt64] = []
    /// The physical lines on which they begin.
    private var lines: [UInt64] = []
    /// All bytes of the input.
    let content: KnownInput.Content
    private let reader: InputReader

    /// Reads an input that was copied.
    ///
    /// - Parameter copied: What was read for the copy.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration`` and the place of a row without such a number.
    init(_ campaign: Campaign, _ input: RunInput, _ copied: CopiedInput) throws(CampaignError) {
        content = Self.content(copied.fingerprint)
        reader = try InputReader(campaign, input: input, lanes: 1)
        guard let column = reader.columns.firstIndex(of: ReturnedLines.rowColumn) else {
            throw Self.fault(
                "\(reader.name):1",
                "no column \(ReturnedLines.rowColumn.quoted): correct the lines of not-sent.csv, and leave this column as it is"
            )
        }
        var cursor = reader.makeCursor()
        var row = Row()
        while let chunk = try reader.nextChunk() {
            defer { chunk.recycle() }
            cursor.open(chunk)
            while cursor.next(into: &row) { try take(row, column) }
        }
        guard !numbers.isEmpty else { throw Self.fault(reader.name, "it has no rows") }
    }

    /// What distinguishes the bytes of a correction from those of another one.
    static func content(_ found: InputFingerprint) -> KnownInput.Content { .init(length: found.bytes, sum: found.sum) }

    private mutating func take(_ row: borrowing Row, _ column: Int) throws(CampaignError) {
        guard unsafe column < row.fields.count, let number = unsafe Self.number(row.fields[column]) else {
            let place = row.error == nil ? row.place(of: column) : (row.line, row.error?.column ?? 1)
            throw Self.fault(
                "\(self.place(ofLine: place.0)):\(place.1)",
                "\(ReturnedLines.rowColumn) has no number of a row: copy it from not-sent.csv")
        }
        numbers.append(number)
        lines.append(row.line)
    }

    /// A number of a row, which a program for tables may have given a fraction of zeros.
    private static func number(_ field: UnsafeRawBufferPointer) -> UInt64? {
        var text = unsafe String(decoding: field, as: UTF8.self)[...]
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        if text.hasSuffix(".0") { text.removeLast(2) }
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let number = UInt64(text),
            number > 0
        else { return nil }
        return number
    }

    /// File and line of a row, by its index.
    func place(of index: Int) -> String { place(ofLine: lines[index]) }

    private func place(ofLine line: UInt64) -> String {
        guard let place = reader.facts.parts?.place(ofLine: line) else { return "\(reader.name):\(line)" }
        return "\(place.file):\(place.line)"
    }

    private static func fault(_ place: String, _ text: String) -> CampaignError {
        CampaignError(.configuration, "\(place): \(text); nothing was sent")
    }
}
