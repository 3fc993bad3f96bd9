import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import FoundationEssentials

extension RunDirectory {
    /// Reads `summary.json`; returns nil if it cannot be read.
    package static func readSummary(_ directory: String) -> CampaignSummary? {
        guard let data = try? Data(contentsOf: URL(filePath: "\(directory)/\(Self.summary)")) else { return nil }
        return try? JSONDecoder().decode(CampaignSummary.self, from: data)
    }

    /// Writes `summary.json` atomically.
    package static func write(_ summary: CampaignSummary, to directory: String) throws(CampaignError) {
        let path = "\(directory)/\(Self.summary)"
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try OutputFile.write(
                Array(encoder.encode(summary) + Data("\n".utf8)), to: path, summaryKind, readers: .everybody)
        } catch let error as OutputFileError {
            throw CampaignError(.results, "\(error)")
        } catch {
            throw CampaignError(.results, "cannot write \(path): \(error)")
        }
    }

    private static let summaryKind = OutputFile.Kind("the summary of a run") {
        $0.first == UInt8(ascii: "{") && String(decoding: $0, as: UTF8.self).contains("\"accepted\"")
    }
}
