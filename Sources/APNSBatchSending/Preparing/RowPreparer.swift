import APNSBatchCredentials
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows

/// Turns a row into a flight: writes path, ids and payload one after the other into the send arena.
///
/// What is called for every row is `mutating` even if it changes nothing, because Swift 6.3 copies a whole structure to call
/// a function that borrows it.
@safe package struct RowPreparer: ~Copyable {
    /// The result of preparing a row.
    package enum Prepared {
        /// The ticket of the flight: its index in the table.
        case ready(Int)
        /// The arena has no room until an outcome frees some; nothing was taken.
        case noRoom
        case invalid(RowFinding)
        /// The expiration of the row has passed.
        case expired
    }

    package let plan: CampaignPlan
    package let broadcast: BroadcastPlan?
    package let roles: ColumnRoles
    /// The campaign's only template, which the plan owns; nil if there are several or none. Unmanaged, because counting
    /// references would cost one or two atomic operations for every row.
    private let onlyTemplate: Unmanaged<PayloadTemplate>?
    /// Whether rows may have a collapse id or an expiration.
    let hasCollapseIDs: Bool
    let hasExpirations: Bool
    /// The largest record without its payload, in bytes. Stored, because each access to a global checks whether it is
    /// initialized.
    private let ownLimit: Int
    /// The last row whose texts are looked at: all in a check, and the first ones in a run.
    private let lastRowWithTexts: UInt64
    let resultColumns: [Int]
    private var carriedLimit: Int { resultColumns.count * (1 + CarriedFields.textMax) }
    private var picker: TemplatePicker
    let pages: [RuleBook.Page?]
    /// The verdict of the rules on the last payload.
    package private(set) var verdict = PayloadVerdict()
    /// The last payload that was written, and the page of its rules; the bytes are valid until the next row.
    private(set) var last: (payload: UnsafeRawBufferPointer, page: Int)?
    private var lastTemplate = 0
    /// The push type whose suffix the topic of the last row has, if it is another than the row's own.
    private(set) var otherType: PushType?
    /// The size of the last row's payload in bytes if it was too large; 0 otherwise.
    package private(set) var sizeTooLarge = 0
    package var headerSets: HeaderSets
    /// Nil for a campaign without encryption.
    private var sealed: SealedRenderer?

    /// The number of rows, from the first one on, whose warnings a run reports. The others would cost more than they are worth: an export
    /// that is broken is so from its beginning.
    static let rowsWithTextsOfRun: UInt64 = 1000

    /// - Parameters:
    ///   - isRehearsal: Whether nothing will be sent, so that payloads need their sizes but no ciphertext.
    ///   - looksAtTexts: Whether texts are examined for warnings.
    package init(plan: CampaignPlan, isRehearsal: Bool = false, looksAtTexts: Bool = true) {
        self.plan = plan
        broadcast = plan.broadcast
        roles = plan.roles
        let templates = plan.templates.templates
        unsafe onlyTemplate = unsafe templates.count == 1 ? .passUnretained(templates[0]) : nil
        hasCollapseIDs = plan.roles.collapseID != nil || plan.headers.collapseID != nil
        hasExpirations =
            plan.roles.expiration != nil || plan.roles.pushType != nil || plan.broadcast != nil
            || plan.headers.expiration(of: plan.headers.pushType) != nil
        picker = TemplatePicker(plan.templates)
        pages = plan.rules.pages
        lastRowWithTexts =
            isRehearsal && looksAtTexts ? .max : !plan.namesRows || !looksAtTexts ? 0 : Self.rowsWithTextsOfRun
        resultColumns = plan.resultColumns.indices
        ownLimit = Self.ownLimit + resultColumns.count * (1 + CarriedFields.textMax)
        headerSets = HeaderSets(plan.headers, roles: plan.roles, topics: plan.topics)
        if let sealing = plan.sealing {
            sealed = SealedRenderer(sealing, columns: plan.columns.count, isRehearsal: isRehearsal)
        } else {
            sealed = nil
        }
    }

    /// Writes the record and the flight of a row, unless the row cannot be sent.
    ///
    /// - Parameter now: Seconds since the epoch.
    package mutating func prepare(
        _ row: borrowing Row, in arena: inout SendArena, flights: inout FlightTable, now: UInt64
    ) -> Prepared {
        let ticket = flights.take()
        if let ended = write(row, in: &arena, to: &flights[ticket], now) {
            flights.release(ticket, in: &arena)
            return named(ended, copy row)
        }
        return .ready(ticket)
    }

    /// Names an invalid row that is no row at all for what it is.
    @inline(never)
    private func named(_ ended: Prepared, _ row: Row) -> Prepared {
        guard case .invalid = ended, let whole = RowFault.ofWholeRow(row, plan) else { return ended }
        return .invalid(whole)
    }

    /// Writes the record, and the flight that refers to it. Returns the result if the row cannot be sent, and nil if it can.
    @inline(__always)
    private mutating func write(
        _ row: borrowing Row, in arena: inout SendArena, to flight: inout Flight, _ now: UInt64
    ) -> Prepared? {
        unsafe last = nil
        otherType = nil
        sizeTooLarge = 0
        if let error = row.error { return .invalid(RowFault.find(error, plan)) }
        let set: HeaderSets.Entry
        switch headerSets.find(row) {
        case .set(let found): set = found
        case .fault(let fault, let column): return .invalid(RowFault.find(fault, column, row, plan))
        case .noProvider(let topic, let column):
            return .invalid(RowFault.noProvider(topic, column, row, plan))
        case .wrongCredentials(let type, let column):
            return .invalid(RowFault.wrongCredentials(type, column, row, plan))
        case .tooMany: return .invalid(RowFault.tooManyHeaderSets(row, plan))
        }
        otherType = set.otherType
        flight.row = row.row
        flight.headerSet = set.number
        flight.provider = set.provider
        guard var record = arena.reserve(ownLimit + set.payloadLimit) else { return .noRoom }
        if let ended = writeOwn(row, &record, set.expiration, now) { return ended }
        let payload = unsafe record.room(set.payloadLimit)
        guard let template = unsafe picker.pick(row.fields) else {
            return .invalid(RowFault.noTemplate(copy row, plan))
        }
        lastTemplate = template
        let page = RuleBook.page(template: template, set.pushType)
        if pages[page]?.isBroken == true, let broken = plan.rules.firstBroken(at: page) {
            return .invalid(RowFault.find(broken))
        }
        let outcome: RenderOutcome
        do {
            outcome = try unsafe render(row, template, into: payload)
        } catch {
            return .invalid(RowFault.find(error, row, plan))
        }
        guard case .written(let length) = outcome else {
            if case .tooLarge(let size) = outcome { sizeTooLarge = size }
            return .invalid(RowFault.find(outcome, set.payloadLimit, row, plan))
        }
        unsafe check(UnsafeRawBufferPointer(rebasing: payload[..<length]), row, page)
        if verdict.hasError { return .invalid(firstError(copy row)) }
        record.add(.payload, length: length)
        if !resultColumns.isEmpty {
            unsafe record.add(.carried, length: writeCarried(row, to: record.room(carriedLimit)))
        }
        arena.commit(record)
        flight.record = record
        return nil
    }

    /// Checks a payload and keeps the verdict.
    @inline(__always)
    private mutating func check(_ payload: UnsafeRawBufferPointer, _ row: borrowing Row, _ page: Int) {
        unsafe last = unsafe (payload, page)
        verdict = PayloadVerdict()
        guard let rules = pages[page] else { return }
        let texts = row.row <= lastRowWithTexts
        if rules.needsRow || texts { verdict = unsafe rules.check(payload, fields: row.fields, texts: texts) }
        if rules.needsStrings, !localisationFindings(copy row).isEmpty { verdict.hasError = true }
    }

    /// The size of the last row's payload in bytes, or nil if none was written.
    package var payloadSize: Int? { mutating get { unsafe last?.payload.count } }

    /// Returns how many bytes of the last row's template or own JSON are not sent, because compaction removed them.
    package mutating func bytesSaved(_ row: borrowing Row) -> Int {
        if let column = plan.rawPayloadColumn { return unsafe row.fields[column].count - (payloadSize ?? 0) }
        return plan.templates.blanks[lastTemplate]
    }

    private mutating func render(
        _ row: borrowing Row, _ template: Int, into payload: UnsafeMutableRawBufferPointer
    ) throws(CredentialError) -> RenderOutcome {
        if sealed != nil { return try unsafe sealed!.render(row.fields, template, into: payload) }
        if let onlyTemplate = unsafe onlyTemplate {
            let fields = unsafe row.fields
            return unsafe onlyTemplate._withUnsafeGuaranteedRef { unsafe $0.render(fields: fields, into: payload) }
        }
        if !plan.templates.templates.isEmpty {
            return unsafe plan.templates.templates[template].render(fields: row.fields, into: payload)
        }
        let column = unsafe roles.payload.unsafelyUnwrapped
        return unsafe PayloadCompactor.compact(json: row.fields[column], column: column, into: payload)
    }

    /// Writes the row's own apns-id in the form in which it is sent. Returns false if the row has none, or one that cannot
    /// be sent.
    ///
    /// - Parameter out: Room for ``MessageID/length`` bytes.
    mutating func writeOwnID(of row: borrowing Row, to out: UnsafeMutableRawPointer) -> Bool {
        guard let column = roles.messageID, unsafe row.fields.count > column else { return false }
        return unsafe MessageID.write(row.fields[column], to: out) == nil
    }

    /// Writes the fields that are carried into the row's results. Returns their length in bytes.
    @inline(never)
    mutating func writeCarried(_ row: borrowing Row, to room: UnsafeMutableRawBufferPointer) -> Int {
        var length = 0
        for column in resultColumns {
            let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
            let field = unsafe row.fields.count > column ? row.fields[column] : none
            unsafe length += CarriedFields.write(field, to: room.baseAddress! + length)
        }
        return length
    }

    /// Returns the token as it is written in the row, for the results; empty if the row is too broken to have one.
    mutating func tokenText(of row: borrowing Row) -> UnsafeRawBufferPointer {
        unsafe row.fields.count > roles.token ? row.fields[roles.token] : UnsafeRawBufferPointer(start: nil, count: 0)
    }
}
