import APNSBatchBasics
import APNSBatchModel

/// Appends records to the timeline of a run.
///
/// Nothing is synced: no row depends on a timeline, and all that a loss of power can take away is some seconds of it. An
/// incomplete record is cut before another one follows.
package struct TimelineWriter: Sendable {
    private let storage: any AppendFile

    private static let length = UInt64(TimelineRecord.length)

    /// Continues a timeline, or begins one in an empty file. Torn and damaged records at the end of the file are cut.
    ///
    /// - Parameters:
    ///   - run: The header of the run's ledger.
    ///   - name: The name of the file, for messages.
    /// - Throws: ``CampaignError`` with `results`, also if the file is not the timeline of this run. It is unchanged then.
    package init(_ storage: any AppendFile, of run: LedgerHeader, name: String) throws(CampaignError) {
        self.storage = storage
        let header = TimelineRecord.Header(identity: run.identity, start: run.start)
        let first = try CampaignError.mapping(.results) { try Self.bytes(of: storage, at: 0) }
        let found = TimelineRecord.header(first[...])
        guard found == header || found == nil && Self.isUnfinished(first) else {
            throw CampaignError(.results, "\(name) is not the timeline of this run, and is left as it is")
        }
        try CampaignError.mapping(.results) {
            if found == nil { try storage.truncate(to: 0) }
            try cutDamagedEnd()
            if storage.length == 0 { try append(TimelineRecord.encode(header)) }
        }
    }

    /// Whether the first record was being written when the process ended, or the power was lost: nothing is lost with it.
    private static func isUnfinished(_ first: [UInt8]) -> Bool {
        first.allSatisfy { $0 == 0 } || first.count < TimelineRecord.length && TimelineRecord.isHeaderTag(first[...])
    }

    /// Appends a point. After an error it may be tried again with the next one.
    package func append(_ point: TimelinePoint) throws(StorageError) {
        // If an earlier record was torn and could not be cut, it is cut now.
        if storage.length % Self.length != 0 { try cut() }
        try append(TimelineRecord.encode(point))
    }

    private func append(_ record: [UInt8]) throws(StorageError) {
        do throws(StorageError) {
            try unsafe record.withUnsafeBufferPointer { (bytes) throws(StorageError) in
                try unsafe storage.append(UnsafeRawBufferPointer(bytes))
            }
        } catch {
            try? cut()
            throw error
        }
    }

    /// Cuts an incomplete record at the end.
    private func cut() throws(StorageError) {
        try storage.truncate(to: storage.length / Self.length * Self.length)
    }

    private func cutDamagedEnd() throws(StorageError) {
        var end = storage.length / Self.length * Self.length
        while end > 0, !TimelineRecord.holds(try Self.bytes(of: storage, at: end - Self.length)[...]) {
            end -= Self.length
        }
        if end != storage.length { try storage.truncate(to: end) }
    }

    /// Returns the record at an offset, or what there is of it.
    private static func bytes(of storage: any AppendFile, at offset: UInt64) throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: TimelineRecord.length)
        let count = try unsafe bytes.withUnsafeMutableBufferPointer { (bytes) throws(StorageError) in
            try unsafe storage.read(at: offset, into: UnsafeMutableRawBufferPointer(bytes))
        }
        return Array(bytes[..<count])
    }
}
