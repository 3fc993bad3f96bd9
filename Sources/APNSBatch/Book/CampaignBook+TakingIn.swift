import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows
import APNSBatchSending
import FoundationEssentials
import Glibc

extension CampaignBook {
    /// Enters the run of a directory, unless the history has it: an earlier version has made it, or the history was removed.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/configuration`` if it is the run of another environment or topic.
    func takeIn(_ directory: String) throws(CampaignError) {
        let entries = try missing(of: directory)
        guard !entries.isEmpty else { return }
        try history.prepare()
        for entry in entries { _ = try history.add(entry) }
    }

    /// The entries of the run of a directory that the history does not have.
    func missing(of directory: String) throws(CampaignError) -> [HistoryEntry] {
        // A ledger that cannot be read is reported where it is needed.
        guard let opening = (try? RunOpening(ifBegunIn: directory)) ?? nil else { return [] }
        let key = RunKey(runDirectory: RunDirectory.absolute(directory), began: opening.began)
        for case .began(let run) in try history.entries().all where run.key == key {
            guard run.campaign == campaign else { throw Self.ofAnother(directory, CampaignDigest.addressNames) }
            return []
        }
        let other = CampaignDigest.addressDifferences(opening.header.digest, digest)
        guard other.isEmpty else { throw Self.ofAnother(directory, other) }
        let began = BegunRun(
            campaign: campaign, runDirectory: key.runDirectory, began: key.began, time: key.began,
            process: UInt32(getpid()), input: try Self.input(of: opening, in: directory),
            message: Data(opening.header.digest).base64EncodedString(), correctionOf: Self.corrected(by: directory))
        guard let summary = try CampaignSummary(ofCompleteRunIn: directory) else { return [.began(began)] }
        let input = summary.campaign.inputCRC32C.map { [KnownInput.Content(sum: $0)] }
        return [.began(began), .ended(RecordedRun(summary, of: campaign.name, directory: directory, input: input))]
    }

    private static func ofAnother(_ directory: String, _ names: [String]) -> CampaignError {
        CampaignError(
            .configuration,
            "run directory: \(directory) holds a run with another \(names.joined(separator: " or ")); name another directory"
        )
    }

    /// The run's own description of its input.
    private static func input(of opening: RunOpening, in directory: String) throws(CampaignError) -> KnownInput? {
        let header = opening.header
        guard !header.isSpooled else { return nil }
        var file = KnownInput.File(name: RunDirectory.absolute(header.inputName), bytes: header.inputBytes ?? 0)
        if try CampaignSummary(ofCompleteRunIn: directory) != nil {
            // Of a copy only the header row is left.
            file.length = try RunStatus(of: directory).inputBytesRead
            if header.isCopied { file.bytes = file.length ?? 0 }
        } else if header.isCopied {
            let copy = RunInput(copy: DirectoryFiles(directory).inputCopyPath, of: header.inputName)
            guard let found = try? copy.location.fingerprint(windowLog: nil) else { return nil }
            file.bytes = found.bytes
            file.take(found)
        } else if header.packing == nil {
            file.length = file.bytes
        }
        return KnownInput([file])
    }
}
