import APNSBatchBasics
import APNSBatchModel
import APNSBatchRows
import APNSBatchTransport

/// `findings.csv`: all findings of a check, one per line, in the order in which the threads find them. The file appears at
/// its path when the check ends.
///
///     severity,rule,row,file,line,column,message
///
/// Its texts can be opened in a spreadsheet and shown on a terminal (`SheetField`).
final class FindingsFile: Sendable {
    /// The number of bytes that a thread gathers before it writes them.
    static let pieceBytes = 64 * 1024
    private static let header = "severity,rule,row,file,line,column,message\n"

    /// Only files that begin with the header are replaced, so that the path of an input or template given by mistake is not
    /// overwritten. Only the owner can read the file, since findings quote rows.
    private static let kind = OutputFile.Kind("the findings of a check", startingWith: header)

    let path: String
    private let file: OutputFile
    private let failure = Guarded<CampaignError?>(nil)

    init(path: String) throws(CampaignError) {
        self.path = path
        do {
            file = try OutputFile(path, Self.kind, readers: .owner)
        } catch .foreign(let path, let wanted) {
            throw CampaignError(.configuration, "\(OutputFileError.foreign(path, wanted: wanted)) with --findings")
        } catch {
            throw CampaignError(.results, "\(error): name another file for the findings with --findings", cause: error)
        }
        write(Array(Self.header.utf8))
    }

    /// The first error of writing; nil if there was none.
    var error: CampaignError? { failure.withLock { $0 } }

    /// Appends complete lines.
    func write(_ lines: [UInt8]) { attempt { (file) throws(OutputFileError) in try file.write(lines) } }

    /// Completes the file, after the last line.
    func finish() { attempt { (file) throws(OutputFileError) in try file.finish() } }

    /// Runs `body` under a lock, unless an earlier call has failed.
    private func attempt(_ body: (OutputFile) throws(OutputFileError) -> Void) {
        failure.withLock { failure in
            guard failure == nil else { return }
            do {
                try body(file)
            } catch {
                failure = CampaignError(.results, "\(error)", cause: error)
            }
        }
    }

    /// Appends the line of a finding to `lines`.
    static func append(_ finding: CampaignFinding, to lines: inout [UInt8]) {
        let row = finding.row.map(String.init) ?? ""
        let line = finding.file == nil ? "," : "\(finding.line),\(finding.column)"
        lines += Array("\(finding.severity.rawValue),\(finding.rule),\(row),".utf8)
        SheetField.append(finding.file ?? "", to: &lines)
        lines += Array(",\(line),".utf8)
        SheetField.append(finding.message, to: &lines)
        lines.append(UInt8(ascii: "\n"))
    }

    /// Appends the line of a finding about a row, without further texts, because there may be one for each row.
    static func append(_ finding: RowFinding, row: UInt64, to lines: inout [UInt8]) {
        let comma = UInt8(ascii: ",")
        lines.append(contentsOf: (finding.severity == .error ? "error," : "warning,").utf8)
        lines.append(contentsOf: finding.rule.rawValue.utf8)
        lines.append(comma)
        append(row, to: &lines)
        lines.append(comma)
        SheetField.append(finding.file, to: &lines)
        lines.append(comma)
        append(finding.line, to: &lines)
        lines.append(comma)
        append(UInt64(finding.column), to: &lines)
        lines.append(comma)
        SheetField.append(finding.message, to: &lines)
        lines.append(UInt8(ascii: "\n"))
    }

    private static func append(_ number: UInt64, to lines: inout [UInt8]) {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            unsafe lines.append(contentsOf: digits[..<Decimal.write(number, to: digits.baseAddress!)])
        }
    }
}
