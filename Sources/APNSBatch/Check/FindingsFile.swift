import APNSBatchBasics
import APNSBatchModel
import APNSBatchTransport

/// `findings.csv`: all findings of a check, one a line, as the threads come by them. It is in its place when the check ends.
///
///     severity,rule,row,file,line,column,message
final class FindingsFile: Sendable {
    /// Lines that a thread gathers before it writes them, in bytes.
    static let pieceBytes = 64 * 1024
    private static let header = "severity,rule,row,file,line,column,message\n"

    /// A path that names the input or a template by mistake must not destroy it. Findings quote rows.
    private static let kind = OutputFile.Kind("the findings of a check", startingWith: header)

    let path: String
    private let file: OutputFile
    private let failure = Guarded<CampaignError?>(nil)

    init(path: String) throws(CampaignError) {
        self.path = path
        do {
            file = try OutputFile(path, Self.kind, readers: .owner)
        } catch .foreign(let path, let wanted) {
            throw CampaignError(.configuration, "\(OutputFileError.foreign(path, wanted: wanted))")
        } catch {
            throw CampaignError(.results, "\(error)")
        }
        write(Array(Self.header.utf8))
    }

    /// Why a line could not be written; nil when all could.
    var error: CampaignError? { failure.withLock { $0 } }

    /// Appends whole lines.
    func write(_ lines: [UInt8]) { attempt { (file) throws(OutputFileError) in try file.write(lines) } }

    /// After the last line.
    func finish() { attempt { (file) throws(OutputFileError) in try file.finish() } }

    /// One thread at a time, and nothing more after a failure.
    private func attempt(_ body: (OutputFile) throws(OutputFileError) -> Void) {
        failure.withLock { failure in
            guard failure == nil else { return }
            do {
                try body(file)
            } catch {
                failure = CampaignError(.results, "\(error)")
            }
        }
    }

    /// Adds a finding's line.
    static func append(_ finding: CampaignFinding, to lines: inout [UInt8]) {
        let row = finding.row.map(String.init) ?? ""
        let line = finding.file == nil ? "," : "\(finding.line),\(finding.column)"
        lines += Array("\(finding.severity.rawValue),\(finding.rule),\(row),".utf8)
        append(field: finding.file ?? "", to: &lines)
        lines += Array(",\(line),".utf8)
        append(field: finding.message, to: &lines)
        lines.append(UInt8(ascii: "\n"))
    }

    /// Quoted only where RFC 4180 asks for it.
    private static func append(field: String, to lines: inout [UInt8]) {
        guard field.utf8.contains(where: { ",\"\n\r".utf8.contains($0) }) else {
            lines += Array(field.utf8)
            return
        }
        lines += Array(
            "\"\(field.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\"".utf8)
    }
}
