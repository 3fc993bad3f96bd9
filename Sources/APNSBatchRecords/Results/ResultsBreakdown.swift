import APNSBatchBasics
import APNSBatchModel
import APNSBatchRows

/// Counts the lines of `results.csv` by outcome and by the values of carried columns.
///
/// The file has a line for each row that has ended, in whatever session, so that the counts are those of all sessions. Memory depends
/// neither on the number of lines nor on that of the values.
package struct ResultsBreakdown {
    /// The counts of one column.
    package private(set) var columns: [ValueCounts]
    /// The places of the columns in the file, and the least number of fields that a whole line has.
    private let places: [Int]
    private let fieldsLeast: Int
    private static let outcomeColumn = 2
    private var lastOutcome = Outcome.accepted

    /// - Parameters:
    ///   - names: The columns by which lines are counted. Those that the file does not have are left out.
    ///   - header: The columns of the file.
    init(_ names: [String], of header: [String]) {
        let found = names.compactMap { name in header.lastIndex(of: name).map { (name, $0) } }
        (columns, places) = (found.map { ValueCounts(column: $0.0) }, found.map(\.1))
        fieldsLeast = header.count
    }

    /// Reads a file. Lines that the end of a process has cut are left out.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/results``.
    package init(of path: String, by names: [String]) throws(CampaignError) {
        do {
            let reader = try ChunkReader(input: .kept(path), buffers: 1)
            self.init(names, of: try reader.readColumns())
            var cursor = RowCursor(columnCount: fieldsLeast)
            var row = Row()
            while let chunk = try reader.next() {
                defer { chunk.recycle() }
                cursor.open(chunk)
                while cursor.next(into: &row) { unsafe take(row.fields) }
            }
        } catch {
            throw CampaignError(.results, error.message(input: path), cause: error)
        }
    }

    mutating func take(_ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>) {
        guard fields.count >= fieldsLeast, let outcome = unsafe outcome(fields[Self.outcomeColumn]) else { return }
        for index in columns.indices { unsafe columns[index].count(fields[places[index]], outcome) }
    }

    /// Most lines have the outcome of the line before.
    private mutating func outcome(_ name: UnsafeRawBufferPointer) -> Outcome? {
        if unsafe Self.isName(name, of: lastOutcome) { return lastOutcome }
        for outcome in Outcome.allCases where unsafe Self.isName(name, of: outcome) {
            lastOutcome = outcome
            return outcome
        }
        return nil
    }

    private static func isName(_ name: UnsafeRawBufferPointer, of outcome: Outcome) -> Bool {
        outcome.name.withUTF8Buffer { unsafe $0.count == name.count && $0.elementsEqual(name) }
    }
}

/// The numbers of rows by the values of a column and by outcome. A value is counted from its first row on, or with the others.
package struct ValueCounts {
    package let column: String
    /// The rows whose values are not kept.
    package private(set) var others: OutcomeCounts = [:]
    private var counts: [OutcomeCounts] = []
    /// The bytes of all kept values, one after the other, and where each ends.
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    /// The values by their hash: the index of one, or -1.
    private var slots = [Int32](repeating: -1, count: slotCount)

    /// The maximum number of values that are kept.
    package static let valuesMax = 1_000
    private static let slotCount = 4_096

    package init(column: String) { self.column = column }

    /// Counts a row. Allocates only for a new value.
    package mutating func count(_ value: UnsafeRawBufferPointer, _ outcome: Outcome) {
        if let index = unsafe index(of: value) { counts[index][outcome] += 1 } else { others[outcome] += 1 }
    }

    /// Returns the index of a value; nil if it is not kept.
    private mutating func index(of value: UnsafeRawBufferPointer) -> Int? {
        var slot = unsafe Self.hash(value)
        while slots[slot] >= 0 {
            let index = Int(slots[slot])
            if unsafe isValue(index, value) { return index }
            slot = (slot + 1) % Self.slotCount
        }
        guard counts.count < Self.valuesMax else { return nil }
        slots[slot] = Int32(counts.count)
        counts.append([:])
        unsafe bytes.append(contentsOf: value)
        ends.append(bytes.count)
        return counts.count - 1
    }

    private func range(_ index: Int) -> Range<Int> { (index > 0 ? ends[index - 1] : 0)..<ends[index] }

    private func isValue(_ index: Int, _ value: UnsafeRawBufferPointer) -> Bool {
        let range = range(index)
        guard range.count == value.count else { return false }
        for place in 0..<value.count where unsafe bytes[range.lowerBound + place] != value[place] { return false }
        return true
    }

    /// FNV-1a.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hash: UInt32 = 0x811c_9dc5
        for index in bytes.indices { hash = unsafe (hash ^ UInt32(bytes[index])) &* 0x0100_0193 }
        return Int((hash ^ (hash >> 16)) % UInt32(slotCount))
    }

    /// The kept values with their counts, those with most rows first. A value is the field as the input has it.
    package var values: [(value: String, counts: OutcomeCounts)] {
        let all = counts.indices.map { index in
            let plain = unsafe bytes[range(index)].withUnsafeBytes { unsafe SheetField.plain($0) }
            return (value: String(decoding: plain, as: UTF8.self), counts: counts[index])
        }
        return all.sorted { ($1.counts.sum, $0.value) < ($0.counts.sum, $1.value) }
    }
}
