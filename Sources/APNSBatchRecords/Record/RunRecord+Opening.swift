import APNSBatchBasics
import APNSBatchModel

extension RunRecord {
    /// The parameters of `open`.
    package struct Opening {
        let files: any RunFiles
        /// The name of the run in messages: its directory.
        let name: String
        let header: LedgerHeader
        let session: LedgerSession
        /// The state left by earlier processes; nil for a new run.
        let past: RunPast?
        /// The ledger, which this life of the run has locked.
        let ledger: any AppendFile
        /// The number of chunks that lanes may hold at once, each with a note in the hand-over file.
        let slots: Int
        /// The number of bytes of lines that are buffered before they are written.
        let lineBytes: Int

        package init(
            files: any RunFiles, name: String, header: LedgerHeader, session: LedgerSession, past: RunPast?,
            ledger: any AppendFile, slots: Int, lineBytes: Int = ResultLines.usualCapacity
        ) {
            (self.files, self.name, self.header) = (files, name, header)
            (self.session, self.past, self.ledger) = (session, past, ledger)
            (self.slots, self.lineBytes) = (slots, lineBytes)
        }
    }

    /// Begins or resumes a run. Torn records are cut, and `results.csv` is made to agree with the ledger.
    ///
    /// - Throws: ``CampaignError`` with `results`. Nothing is changed if the ledger is not as it was read under the lock, or if that lock
    ///   was released.
    package static func open(
        _ opening: Opening, warn: @escaping @Sendable (String) -> Void,
        stop: @escaping @Sendable (CampaignError) -> Void
    ) throws(CampaignError) -> RunRecord {
        let (files, past, header, storage) = (opening.files, opening.past, opening.header, opening.ledger)
        try Self.confirm(storage, isAsReadBy: past, name: opening.name)
        let results = try files.results(of: storage, isNew: past == nil)
        let sum: UInt32
        if let past { sum = try past.settle(results, name: opening.name) } else { sum = try begin(results, header) }
        let ledger = RunLedger(
            storage, carried: header.resultColumns.count,
            handOvers: try files.makeHandOvers(slots: opening.slots, of: storage))
        try CampaignError.mapping(.results) {
            try ledger.begin(opening.session, of: past?.header ?? header, isNew: past == nil)
        }
        return RunRecord(
            ledger: ledger,
            results: ResultsFile(
                results, campaign: header.identity, sum: sum, carried: header.resultColumns.count,
                lineBytes: opening.lineBytes),
            account: OutcomeAccount(reasons: past?.reading.history.reasons ?? OutcomeReasons()), warn: warn, stop: stop)
    }

    /// Throws if this life of the run does not hold the lock of the ledger, or if the ledger is longer or shorter than what was read of
    /// it under that lock, or was written since. Nothing of the run may be changed then.
    ///
    /// - Parameter past: What was read; nil for a new run, whose ledger is empty.
    package static func confirm(
        _ ledger: any AppendFile, isAsReadBy past: RunPast?, name: String
    ) throws(CampaignError) {
        try CampaignError.mapping(.results) {
            try ledger.confirmHeld()
            try ledger.confirmLength()
            guard ledger.length == past?.lengthFound ?? 0 else {
                throw StorageError("write", "\(name)/\(RunDirectory.ledger)", code: StorageError.changed)
            }
        }
    }

    /// Writes the first line of `results.csv`, and nothing else, and returns its checksum.
    private static func begin(_ results: any AppendFile, _ header: LedgerHeader) throws(CampaignError) -> UInt32 {
        let line = ResultLines.header(header.resultColumns)
        try CampaignError.mapping(.results) {
            try results.truncate(to: 0)
            try unsafe line.withUnsafeBufferPointer { (line) throws(StorageError) in
                try unsafe results.append(UnsafeRawBufferPointer(line))
            }
        }
        return unsafe line.withUnsafeBytes { unsafe CRC32C.of($0) }
    }
}

extension RunPast {
    /// Puts the files of the run in order: torn records are cut, rows are reopened if requested, and `results.csv` is made
    /// to agree with the ledger. Returns the checksum of that file.
    ///
    /// - Parameter name: the name of the run in messages.
    package func settle(_ results: any AppendFile, name: String) throws(CampaignError) -> UInt32 {
        try CampaignError.mapping(.results) {
            try confirm(results)
            try ledger.truncate(to: reading.length)
            if isReopening { try RunLedger.settle(ledger, resultsLength: 0, reopening: true) }
        }
        var repair = ResultsRepair(results: results, past: self, name: name)
        try repair.run(reading)
        try CampaignError.mapping(.results) {
            try RunLedger.settle(
                ledger, resultsLength: results.length, resultsSum: repair.sum, handed: newlyHanded)
        }
        return repair.sum
    }
}
