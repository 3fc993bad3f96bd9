import APNSBatch
import APNSBatchModel

/// Reads `results.csv` without the code under test.
enum ResultsText {
    struct Line: Equatable {
        var row: UInt64
        var outcome: Outcome
        var status: UInt16
        var attempts: UInt16
        var reason: String
    }

    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    static func lines(of bytes: [UInt8]) throws -> [Line] {
        guard bytes.isEmpty || bytes.last == UInt8(ascii: "\n") else {
            throw Fault(description: "results.csv does not end with a line end")
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        guard lines.first.map({ $0.starts(with: Array("row,token,outcome,status,".utf8)) }) ?? true else {
            throw Fault(description: "results.csv has another header")
        }
        return try lines.dropFirst().map(line)
    }

    private static func line(_ bytes: ArraySlice<UInt8>) throws -> Line {
        let fields = fields(of: bytes)
        guard fields.count == 9, let row = UInt64(fields[0]), let attempts = UInt16(fields[7]),
            let outcome = Outcome.allCases.first(where: { "\($0.name)" == fields[2] })
        else { throw Fault(description: "no line of results: \(String(decoding: bytes, as: UTF8.self))") }
        return Line(
            row: row, outcome: outcome, status: UInt16(fields[3]) ?? 0, attempts: attempts, reason: fields[4])
    }

    private static func fields(of bytes: ArraySlice<UInt8>) -> [String] {
        var fields: [[UInt8]] = [[]]
        var isQuoted = false
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted: fields.append([])
            default: fields[fields.count - 1].append(byte)
            }
        }
        return fields.map { String(decoding: $0, as: UTF8.self) }
    }
}
