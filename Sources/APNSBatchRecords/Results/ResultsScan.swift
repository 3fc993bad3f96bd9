import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification

/// Reads `results.csv` back, to compare it with the ledger. The content is untrusted, because the file may have been
/// edited.
struct ResultsScan {
    /// The fields of a line that can prove something about the run.
    struct Line: Equatable {
        var row: UInt64
        var outcome: Outcome
        var messageID: [UInt8]

        /// Whether its apns-id has the form of an id derived from campaign and row. An id from the input, or a damaged one,
        /// proves nothing about the run.
        var hasDerivedID: Bool { MessageID.isDerived(messageID) }
    }

    private let storage: any AppendFile
    private static let pieceBytes = 256 * 1024
    /// The maximum length of a line, in bytes.
    private static let lineBytesMax = 64 * 1024

    init(_ storage: any AppendFile) { self.storage = storage }

    /// Returns the checksum of the first `length` bytes, or nil if the file is shorter.
    func sum(ofFirst length: UInt64) throws(StorageError) -> UInt32? {
        guard length <= storage.length else { return nil }
        var sum: UInt32 = 0
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        var offset: UInt64 = 0
        while offset < length {
            let got = try read(&piece, at: offset, upTo: length)
            guard got > 0 else { return nil }
            sum = unsafe piece[..<got].withUnsafeBytes { unsafe CRC32C.of($0, after: sum) }
            offset += UInt64(got)
        }
        return sum
    }

    /// Whether the file contains nothing but the line of column names or its beginning.
    var isBareHeader: Bool {
        get throws(StorageError) {
            var piece = [UInt8](repeating: 0, count: Self.lineBytesMax)
            let got = try read(&piece, at: 0, upTo: .max)
            let own = ResultLines.header().dropLast()
            guard piece[..<got].prefix(own.count).elementsEqual(own.prefix(got)) else { return false }
            let end = piece[..<got].firstIndex(of: UInt8(ascii: "\n")) ?? got
            return UInt64(min(end + 1, got)) == storage.length
        }
    }

    /// Calls `body` with each complete and valid line of results from an offset on.
    func forEachLine(from offset: UInt64, _ body: (Line) -> Void) throws(StorageError) {
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        var line: [UInt8] = []
        var isQuoted = false
        var offset = offset
        while true {
            let got = try read(&piece, at: offset, upTo: .max)
            if got == 0 { return }
            offset += UInt64(got)
            var rest = piece[..<got]
            while let end = Line.end(UInt8(ascii: "\n"), rest, &isQuoted) {
                line += rest[..<end]
                if let found = Line(line) { body(found) }
                line.removeAll(keepingCapacity: true)
                rest = rest[(end + 1)...]
            }
            // A longer line is not a line of results, and is not kept.
            if line.count < Self.lineBytesMax { line += rest }
        }
    }

    private func read(_ piece: inout [UInt8], at offset: UInt64, upTo end: UInt64) throws(StorageError) -> Int {
        let count = min(UInt64(piece.count), end - offset)
        return try unsafe piece.withUnsafeMutableBufferPointer { (bytes) throws(StorageError) in
            try unsafe storage.read(
                at: offset,
                into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: bytes[..<Int(count)])))
        }
    }
}

extension ResultsScan.Line {
    /// Returns nil if the bytes are not a line of results.
    init?(_ bytes: [UInt8]) {
        var fields: [ArraySlice<UInt8>] = []
        var (rest, isQuoted) = (bytes[...], false)
        while let end = Self.end(UInt8(ascii: ","), rest, &isQuoted) {
            fields.append(rest[..<end])
            rest = rest[(end + 1)...]
        }
        fields.append(rest)
        guard fields.count >= 8, let row = Self.number(fields[0]), Self.number(fields[7]) != nil,
            let outcome = Outcome(named: fields[2])
        else { return nil }
        self.init(row: row, outcome: outcome, messageID: Array(fields[6]))
    }

    /// Returns the index of the first such byte outside of quotes.
    fileprivate static func end(_ byte: UInt8, _ bytes: ArraySlice<UInt8>, _ isQuoted: inout Bool) -> Int? {
        for index in bytes.indices {
            if bytes[index] == UInt8(ascii: "\"") { isQuoted.toggle() }
            if bytes[index] == byte, !isQuoted { return index }
        }
        return nil
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        digits.count <= 20 ? UInt64(String(decoding: digits, as: UTF8.self)) : nil
    }
}

extension Outcome {
    fileprivate init?(named name: ArraySlice<UInt8>) {
        let found = Self.allCases.first { outcome in
            outcome.name.withUTF8Buffer { unsafe $0.elementsEqual(name) }
        }
        guard let found else { return nil }
        self = found
    }
}
