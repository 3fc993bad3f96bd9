import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows
import APNSBatchSending

extension RunFinish {
    /// Writes the lines of rows that were not sent because of themselves, if every row has its last outcome. It reads the input once more, unless
    /// there is no such row. A failure is only logged: the run has its results.
    ///
    /// - Parameter outcomes: Those of the whole run, by session.
    /// - Returns: The name of the file; nil if there is none.
    func writeNotSent(_ outcomes: OutcomeCounts...) -> String? {
        let (directory, reader) = (place.directory, facts.reader)
        guard !directory.isEmpty, place.files is DirectoryFiles else { return nil }
        guard outcomes.contains(where: { RunTotals($0).rows(where: \.canBeCorrected) > 0 }) else {
            NotSentFile.remove(from: directory, reader.format)
            return nil
        }
        let name = NotSentFile.name(reader.format)
        guard reader.isRepeatable || facts.input.spooled != nil else {
            warn("\(name) is not written: the input cannot be read again")
            return nil
        }
        do {
            let tooLong = try NotSentFile(in: directory, notSentSource).write()
            if tooLong > 0 { warn("\(name) lacks \(tooLong.grouped) rows: their lines are too long") }
            return name
        } catch {
            let cause = (error as? InputError).map { $0.message(input: reader.name) } ?? "\(error)"
            warn("\(directory)/\(name) is not written: \(cause)")
            return nil
        }
    }

    /// Whether the file of a complete run is there, or none is needed. Rows that were kept for it may be gone.
    func hasNotSent(_ summary: CampaignSummary) -> Bool {
        guard summary.rows(where: \.canBeCorrected) > 0 else { return true }
        return summary.notSentFile.map { RunDirectory.hasFile("\(place.directory)/\($0)") } ?? false
    }

    private func warn(_ text: String) { facts.plan.log.logger.printable.warning("\(text)") }

    private var notSentSource: NotSentFile.Source {
        let (input, reader, directory) = (facts.input, facts.reader, place.directory)
        let isKept = input.isCopy || input.spooled != nil
        var source = NotSentFile.Source(
            location: input.spooled == nil ? input.location : .kept("\(directory)/\(RunDirectory.spool)"),
            format: reader.format, columns: reader.columns, limits: reader.reader.limits)
        source.numbers = CorrectionRecord(in: directory)?.rows
        guard !isKept else { return source }
        source.extent = facts.past?.extent ?? reader.bytesTotal.map { InputExtent(bytes: $0, endsWhole: endsWhole($0)) }
        if let sum = reader.checksum, let bytes = reader.reader.size { source.content = (bytes, sum) }
        return source
    }

    /// Whether the last row of this session ended with the file.
    private func endsWhole(_ bytes: UInt64) -> Bool {
        facts.reader.reader.packing != nil || facts.reader.reader.addition == nil
    }
}
