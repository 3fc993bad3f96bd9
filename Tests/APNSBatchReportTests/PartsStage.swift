import APNSBatch
import APNSBatchModel
import APNSBatchRecords
import Foundation

@testable import APNSBatchReport

/// The directory of a run in parts.
final class PartsStage {
    let path: String

    init() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "parts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        path = RunDirectory.absolute(directory.path)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    static let manifest: [String: any Sendable] = [
        "format": 1, "campaign_id": "0e2a8c9e-2f7f-4a52-9d0c-0f5d5c6d7e8f", "name": "nightly",
        "began": "2026-11-21T01:00:00Z", "senders": 3,
    ]

    /// Writes a manifest of parts with so many rows each.
    func write(rows: [Int], _ members: [String: any Sendable] = [:]) throws {
        let parts: [[String: any Sendable]] = rows.enumerated().map { part, rows in
            ["part": part, "input": "../../etc/passwd", "bytes": 10 * rows, "rows": rows]
        }
        try write(Self.manifest.merging(["parts": parts]) { $1 }.merging(members) { $1 })
    }

    func write(_ manifest: [String: Any]) throws {
        try write(String(decoding: JSONSerialization.data(withJSONObject: manifest), as: UTF8.self))
    }

    func write(_ manifest: String) throws {
        try Data(manifest.utf8).write(to: URL(filePath: "\(path)/manifest.json"))
    }

    func directory(_ part: Int) -> String { RunReport.PartLine.directory(of: part, in: path) }

    /// Begins a part: writes its ledger. A process is working on it as long as the record exists.
    func begin(_ part: Int) throws -> RunRecord {
        try FileManager.default.createDirectory(atPath: directory(part), withIntermediateDirectories: true)
        let header = LedgerHeader(
            identity: (1, 2), start: 1_700_000_000, digest: [UInt8](repeating: 0, count: 32), inputBytes: 10,
            columnsSum: 0, inputName: "part.csv", note: [])
        let session = LedgerSession(
            number: 1, process: UInt32(getpid()), time: 1_700_000_000, boot: (0, 0), policy: .resend)
        let files = DirectoryFiles(directory(part))
        return try RunRecord.open(
            .init(
                files: files, name: "run", header: header, session: session, past: nil, ledger: try files.makeLedger(),
                slots: 1),
            warn: { _ in }, stop: { _ in })
    }

    /// Makes a part whose process has ended, with this summary; without one the process was killed.
    func make(_ part: Int, _ summary: CampaignSummary?) throws {
        if !FileManager.default.fileExists(atPath: directory(part) + "/ledger") { _ = try begin(part) }
        if let summary { try RunDirectory.write(summary, to: directory(part)) }
    }

    func report() throws -> RunReport {
        guard let run = try DistributedRun(ifIn: path) else { throw NoRun() }
        return try RunReport(of: run, ReportContext(zone: "UTC"))
    }

    struct NoRun: Error {}

    /// The summary of a complete part of which all other rows were accepted.
    static func summary(_ rows: Int, rejected: Int = 0, _ members: [String: Any] = [:]) throws -> CampaignSummary {
        let work: [String: Any] = [
            "rows": rows, "accepted": rows - rejected, "requests": rows + 5, "retries": ["429 TooManyRequests": 5],
            "elapsed_seconds": 60.0, "accepted_per_second": 1.0, "connections_opened": 2,
            "connections_ended": ["GOAWAY Shutdown": 1],
            "answer_ms": ["p50": 20.0, "p90": 40.0, "p99": 90.0, "max": 95.0, "samples": rows],
            "answer_bins": [["up_to_ms": 25.11886, "answers": rows / 2], ["up_to_ms": 100.0, "answers": rows / 2]],
        ]
        let own: [String: Any] = [
            "rows": rows, "accepted": rows - rejected, "rejected": rejected, "invalid": 0, "attempts": rows,
            "reasons": ["Unregistered": rejected], "invalid_rules": [:], "all_sessions": work, "last_session": work,
            "exit_code": 0, "verdict": "OK: \(rows) rows", "expectations": [],
        ]
        return try SampleNights.summary(own.merging(members) { $1 })
    }
}
