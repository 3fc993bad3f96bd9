import Glibc
import LaneTransport

/// `findings.csv`: all findings of a check, one a line, as the threads come by them.
///
///     severity,rule,row,file,line,column,message
final class FindingsFile: Sendable {
    /// Lines that a thread gathers before it writes them, in bytes.
    static let pieceBytes = 64 * 1024
    private static let header = "severity,rule,row,file,line,column,message\n"

    let path: String
    private let file: Int32
    private let failure = Guarded<CampaignError?>(nil)

    init(path: String) throws(CampaignError) {
        self.path = path
        try Self.refuseOthers(path)
        file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw CampaignError(.results, "cannot create \(path): \(systemMessage())") }
        write(Array(Self.header.utf8))
    }

    deinit { close(file) }

    /// What stands there is replaced only if it is the findings of an earlier check: a path that names the input or a
    /// template by mistake must not destroy it.
    private static func refuseOthers(_ path: String) throws(CampaignError) {
        let old = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard old >= 0 else { return }
        defer { close(old) }
        var facts = stat()
        guard fstat(old, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_size > 0 else { return }
        var start = [UInt8](repeating: 0, count: header.utf8.count)
        let count = read(old, &start, start.count)
        guard count != start.count || !start.elementsEqual(header.utf8) else { return }
        throw CampaignError(
            .configuration, "\(path) is there and holds no findings of a check; name another file for them")
    }

    /// Why a line could not be written; nil when all could.
    var error: CampaignError? { failure.withLock { $0 } }

    /// Appends whole lines.
    func write(_ lines: [UInt8]) {
        failure.withLock { failure in
            guard failure == nil else { return }
            lines.withUnsafeBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let written = Glibc.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                    if written > 0 {
                        rest = rest.dropFirst(written)
                    } else if errno != EINTR {
                        failure = CampaignError(.results, "cannot write \(path): \(systemMessage())")
                        return
                    }
                }
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
