import APNSBatchBasics
import APNSBatchModel

extension RunRecord {
    /// What a run is begun or resumed with.
    package struct Opening {
        let files: any RunFiles
        /// What messages call the run: its directory.
        let name: String
        let header: LedgerHeader
        let session: LedgerSession
        /// What earlier processes left; nil for a new run.
        let past: RunPast?
        /// Chunks that lanes may have in hand at once.
        let slots: Int
        /// Bytes of lines that are gathered before they are written.
        let lineBytes: Int

        package init(
            files: any RunFiles, name: String, header: LedgerHeader, session: LedgerSession, past: RunPast?, slots: Int,
            lineBytes: Int = ResultLines.usualCapacity
        ) {
            (self.files, self.name, self.header) = (files, name, header)
            (self.session, self.past, self.slots, self.lineBytes) = (session, past, slots, lineBytes)
        }
    }

    /// Begins a run, or goes on with one: what was torn is cut, and `results.csv` is made what the ledger says.
    ///
    /// - Throws: ``CampaignError`` with `results`.
    package static func open(
        _ opening: Opening, warn: @escaping @Sendable (String) -> Void,
        stop: @escaping @Sendable (CampaignError) -> Void
    ) throws(CampaignError) -> RunRecord {
        let (files, past, header) = (opening.files, opening.past, opening.header)
        let storage: any LedgerStorage
        if let past { storage = past.ledger } else { storage = try files.makeLedger() }
        let results = try files.results()
        let sum: UInt32
        if let past { sum = try past.settle(results, name: opening.name) } else { sum = try begin(results, header) }
        let ledger = RunLedger(
            storage, carried: header.resultColumns.count, board: try files.makeBoard(slots: opening.slots))
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

    /// Makes `results.csv` its first line. Gives the checksum of that.
    private static func begin(_ results: any LedgerStorage, _ header: LedgerHeader) throws(CampaignError) -> UInt32 {
        let line = ResultLines.header(header.resultColumns)
        try CampaignError.mapping(.results) {
            try results.truncate(to: 0)
            try line.withUnsafeBufferPointer { (line) throws(StorageError) in
                try results.append(UnsafeRawBufferPointer(line))
            }
        }
        return line.withUnsafeBytes { CRC32C.of($0) }
    }
}

extension RunPast {
    /// Puts the files of the run in order: what was torn is cut, rows are reopened where that was asked for, and `results.csv`
    /// becomes what the ledger says. Gives the checksum of that file.
    ///
    /// - Parameter name: what messages call the run.
    package func settle(_ results: any LedgerStorage, name: String) throws(CampaignError) -> UInt32 {
        try CampaignError.mapping(.results) {
            try ledger.truncate(to: reading.length)
            if isReopening { try RunLedger.reopen(ledger) }
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
