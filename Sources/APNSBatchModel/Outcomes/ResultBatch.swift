import APNSBatchNotification

/// Results of a run, up to 2,048, in the order in which their rows ended.
///
/// It is a value of its own: it can be kept, and passed to other tasks. Texts are decoded when they are asked for.
public struct ResultBatch: RandomAccessCollection, Sendable {
    /// What results have in common.
    struct Source: Sendable {
        /// The identity of the campaign.
        var campaign: (UInt64, UInt64)
        /// The number of carried columns.
        var columns: Int
    }

    private let entries: [OutcomeEntry]
    private let texts: [UInt8]
    private let source: Source

    /// Copies the outcomes of a batch that satisfy a predicate.
    init(_ batch: OutcomeBatch, of source: Source, where isWanted: (Outcome) -> Bool = { _ in true }) {
        entries = unsafe batch.entries.filter { isWanted($0.outcome) }
        texts = unsafe Array(batch.texts)
        self.source = source
    }

    /// 0.
    public var startIndex: Int { 0 }
    /// The number of results.
    public var endIndex: Int { entries.count }

    /// The result at this index. Complexity: O(1).
    public subscript(position: Int) -> RowResult {
        RowResult(entry: entries[position], texts: texts, source: source)
    }
}

/// How one row ended.
public struct RowResult: Sendable {
    let entry: OutcomeEntry
    /// The texts of the batch.
    let texts: [UInt8]
    let source: ResultBatch.Source

    /// The number of the row in the input, from 1.
    public var row: UInt64 { entry.row }

    /// The device token as it was sent, or the channel id of a broadcast. For an invalid row the text of its field.
    public var token: String { text(Int(entry.tokenOffset), Int(entry.tokenLength)) }

    /// The final state of the row.
    public var outcome: Outcome { entry.outcome }

    /// How far the last request for the row got.
    public var arrival: Arrival { entry.outcome.arrival }

    /// The HTTP status of APNs's answer; nil without an answer.
    public var status: Int? { entry.httpStatus == 0 ? nil : Int(entry.httpStatus) }

    /// The reason of APNs's answer, or the cause of another outcome than accepted; nil for an accepted row. For an invalid row it
    /// has line, column and cause.
    public var reason: String? {
        entry.reasonLength == 0 ? nil : text(Int(entry.reasonOffset), Int(entry.reasonLength))
    }

    /// For 410, the last time at which APNs found that the device token is not active, in milliseconds since 1970-01-01 00:00
    /// UTC; otherwise nil. A token that was registered again after that time is valid. Apple, "Handling notification responses
    /// from APNs".
    public var inactiveSince: UInt64? { entry.timestamp == OutcomeEntry.noTimestamp ? nil : entry.timestamp }

    /// The `apns-id` of all requests for the row, as a UUID in lower case; nil if there was none.
    public var messageID: String? {
        if entry.hasOwnID { return text(Int(entry.tokenOffset) - MessageID.length, MessageID.length) }
        return entry.attempts == 0 ? nil : MessageID(campaign: source.campaign, row: entry.row).text
    }

    /// The `apns-unique-id` of the answer, which only the sandbox sends; nil if there was none.
    public var uniqueID: String? {
        let fields = carried
        return fields.count > source.columns ? fields[source.columns] : nil
    }

    /// The number of requests for the row, in all sessions, except those that certainly did not arrive.
    public var attempts: Int { Int(entry.attempts.count) }

    /// The time from the hand-over of the last request to its answer; nil if there was none, or if it is not known any more.
    public var answerTime: Duration? {
        arrival == .answered && entry.answerTime > 0 ? .microseconds(Int64(entry.answerTime)) : nil
    }

    /// The fields of the columns that the campaign carries (``Campaign/resultColumns``), in their order. Each is cut after 255
    /// bytes.
    public var columns: [String] { Array(carried.prefix(source.columns)) }

    private var carried: [String] {
        var fields: [String] = []
        var offset = Int(entry.reasonOffset) + Int(entry.reasonLength)
        let end = offset + Int(entry.carriedLength)
        while offset < end {
            let length = Int(texts[offset])
            fields.append(text(offset + 1, length))
            offset += 1 + length
        }
        return fields
    }

    private func text(_ offset: Int, _ length: Int) -> String {
        String(decoding: texts[offset..<offset + length], as: UTF8.self)
    }
}
