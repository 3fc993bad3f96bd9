import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows
import APNSBatchSending
import APNSBatchTransport
import Logging

/// Lists the requests that a campaign would send, row by row, made by the code that sends. Nothing is sent.
public final class CampaignPreview {
    /// A row as it would be sent, or the cause for which it would not.
    public struct Row: Sendable {
        /// The row's number in the input, counted from 1.
        public let row: UInt64
        /// Why it would not be sent, with line, column and cause; nil for a valid row.
        public let invalid: String?
        /// Whether ``Campaign/only`` or ``Campaign/firstRow`` leaves it out, so that it was not checked.
        public let isLeftOut: Bool
        /// The `:path`: `/3/device/` and the token, or the app's path of a broadcast.
        public let path: String
        /// All header fields in their order, with dots in place of the provider token.
        public let headers: [(name: String, value: String)]
        /// The exact bytes of the body.
        public let payload: [UInt8]
    }

    private let plan: CampaignPlan
    private let providers: [ProviderAccess]
    private let reader: InputReader
    private var cursor: RowCursor
    private var chunk: RowChunk?
    private var preparer: RowPreparer
    private var arena = SendArena(blocks: 1)
    private var flights = FlightTable(capacity: 1)
    private var sets: [UInt16: [(name: String, value: String)]] = [:]

    /// Reads the template and the input's header row, as a run does.
    public init(_ campaign: Campaign, input: CampaignInput) throws(CampaignError) {
        reader = try InputReader(campaign, input: try RunInput(input), lanes: 1)
        plan = try CampaignPlan(
            campaign, input: reader.facts, logger: Logger(label: "preview") { _ in SwiftLogNoOpLogHandler() })
        try plan.refuseBrokenTemplates()
        providers = try ProviderDirectory(campaign, plan: plan).providers
        cursor = reader.makeCursor()
        preparer = RowPreparer(plan: plan)
    }

    deinit { chunk?.recycle() }

    /// Returns the next row; nil at the end of the input.
    public func next() throws(CampaignError) -> Row? {
        var row = APNSBatchRows.Row()
        while true {
            if chunk != nil {
                if cursor.next(into: &row) { return show(row) }
                chunk?.recycle()
                chunk = nil
            }
            guard let next = try reader.nextChunk() else { return nil }
            chunk = next
            cursor.open(next)
        }
    }

    private func show(_ row: APNSBatchRows.Row) -> Row {
        if plan.passesOver(row) {
            return Row(row: row.row, invalid: nil, isLeftOut: true, path: "", headers: [], payload: [])
        }
        switch preparer.prepare(row, in: &arena, flights: &flights, now: SystemClock.seconds()) {
        case .ready(let place):
            defer { flights.release(place, in: &arena) }
            return request(flights[place])
        case .invalid(let finding): return Self.unsent(row, finding.text)
        case .expired: return Self.unsent(row, RowFault.expired(row, plan).text)
        case .noRoom: return Self.unsent(row, "no room")
        }
    }

    private static func unsent(_ row: APNSBatchRows.Row, _ cause: String) -> Row {
        Row(row: row.row, invalid: cause, isLeftOut: false, path: "", headers: [], payload: [])
    }

    private func request(_ flight: Flight) -> Row {
        for (number, fields) in preparer.headerSets.unsent { sets[number] = fields.map(Self.text) }
        preparer.headerSets.didSend()
        let record = flight.record
        func text(_ part: RowRecord.Part) -> String { unsafe String(decoding: record[part], as: UTF8.self) }
        var headers = sets[flight.headerSet] ?? []
        headers.insert(
            (RequestHeader.path.name, text(.path)), at: headers.firstIndex(where: { !$0.name.hasPrefix(":") }) ?? 0)
        let own: [(RequestHeader, RowRecord.Part)] = [
            (record.isBroadcast ? .requestID : .id, .id), (.channelID, .channelID), (.collapseID, .collapseID),
            (.expiration, .expiration),
        ]
        for (header, part) in own where record.has(part) { headers.append((header.name, text(part))) }
        if providers[Int(flight.provider)].tokens != nil {
            headers.append((RequestHeader.authorization.name, "bearer ..."))
        }
        let payload = unsafe record[.payload]
        headers.append((RequestHeader.contentLength.name, String(payload.count)))
        return unsafe Row(
            row: flight.row, invalid: nil, isLeftOut: false, path: text(.path), headers: headers,
            payload: Array(payload))
    }

    private static func text(_ field: HeaderFieldBytes) -> (name: String, value: String) {
        (String(decoding: field.name, as: UTF8.self), String(decoding: field.value, as: UTF8.self))
    }
}
