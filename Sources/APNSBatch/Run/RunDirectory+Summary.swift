import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import FoundationEssentials

extension RunDirectory {
    /// Reads `summary.json`; returns nil if it cannot be read.
    package static func readSummary(_ directory: String) -> CampaignSummary? {
        guard let bytes = try? OpenFile.content(of: "\(directory)/\(Self.summary)", most: summaryMax) else {
            return nil
        }
        return try? JSONDecoder().decode(CampaignSummary.self, from: Data(bytes))
    }

    /// Writes `summary.json` atomically.
    package static func write(_ summary: CampaignSummary, to directory: String) throws(CampaignError) {
        let path = "\(directory)/\(Self.summary)"
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            let text = Printable.lines(String(decoding: try encoder.encode(summary), as: UTF8.self))
            try OutputFile.write(Array("\(text)\n".utf8), to: path, summaryKind, readers: .everybody)
        } catch let error as OutputFileError {
            throw CampaignError(.results, "\(error)", cause: error)
        } catch {
            throw CampaignError(.results, "cannot write \(path): \(error)", cause: error)
        }
    }

    /// A summary is smaller than this, in bytes.
    private static let summaryMax = 16 << 20

    private static let summaryKind = OutputFile.Kind("the summary of a run", at: .own) {
        $0.first == UInt8(ascii: "{") && String(decoding: $0, as: UTF8.self).contains("\"accepted\"")
    }
}

extension CampaignSummary {
    /// Makes a summary of a run whose last process was killed, from its ledger. Expectations are not judged, and nothing is written.
    ///
    /// - Parameter status: The status of the run, whose last process must have been killed.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/results``.
    package init(ofKilledRunIn directory: String, _ status: RunStatus) throws(CampaignError) {
        let history = try LedgerHistory(of: directory)
        guard let header = history.header else {
            throw CampaignError(.results, "\(directory): its ledger has no header")
        }
        self.init(ofKilled: history, header, status, earlier: RunDirectory.readSummary(directory))
        correctionOf = CampaignBook.corrected(by: directory)
    }

    /// Reads the summary of a complete run. Returns nil if rows of the run are left, if a process is working on it, or if its
    /// `summary.json` is missing or does not agree with the ledger; a resumed run then writes it.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/results``.
    public init?(ofCompleteRunIn directory: String) throws(CampaignError) {
        let status = try RunStatus(of: directory)
        guard status.state == .ended, status.isInputRead, status.count(.ended) == status.rowsRead,
            let known = RunDirectory.readSummary(directory), known.ending == .complete,
            known.sessions == status.sessions, Outcome.allCases.allSatisfy({ known[$0] == status.totals[$0] })
        else { return nil }
        self = known
    }
}
