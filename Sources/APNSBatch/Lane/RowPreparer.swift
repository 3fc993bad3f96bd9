import APNSProtocol
import CSVReader
import Credentials
import PayloadTemplate

/// Turns a row into a flight: path, ids and payload, written one behind the other into the send arena.
struct RowPreparer: ~Copyable {
    /// What became of a row.
    enum Prepared {
        /// The flight's place in the table.
        case ready(Int)
        /// Nothing was taken: the arena has no room until an outcome frees some.
        case noRoom
        case invalid(RowFinding)
        /// Its own expiration has passed.
        case expired
    }

    let plan: CampaignPlan
    private let broadcast: BroadcastPlan?
    private let roles: ColumnRoles
    /// The campaign's one template; nil when there are several or none.
    private let onlyTemplate: PayloadTemplate?
    private var picker: TemplatePicker
    private let pages: [RuleBook.Page?]
    /// What the rules said of the last payload.
    private(set) var verdict = PayloadVerdict()
    /// The last payload that was written and where its rules stand; its bytes are valid until the next row.
    private var last: (payload: UnsafeRawBufferPointer, page: Int)?
    private var lastTemplate = 0
    private var oddTopic: HeaderSets.OddTopic?
    /// The size of the last row's payload where it was too large; 0 otherwise.
    private(set) var sizeTooLarge = 0
    var headerSets: HeaderSets
    /// Of a campaign that encrypts.
    private var sealed: SealedRenderer?

    /// - Parameter isRehearsal: nothing will leave, so payloads need their sizes and no ciphertext.
    init(plan: CampaignPlan, isRehearsal: Bool = false) {
        self.plan = plan
        broadcast = plan.broadcast
        roles = plan.roles
        onlyTemplate = plan.templates.templates.count == 1 ? plan.templates.templates[0] : nil
        picker = TemplatePicker(plan.templates)
        pages = plan.rules.pages
        headerSets = HeaderSets(plan.headers, roles: plan.roles, topics: plan.topics)
        if let sealing = plan.sealing {
            sealed = SealedRenderer(sealing, columns: plan.columns.count, isRehearsal: isRehearsal)
        } else {
            sealed = nil
        }
    }

    /// - Parameter now: seconds since the epoch.
    mutating func prepare(
        _ row: borrowing CSVRow, in arena: inout SendArena, flights: inout FlightTable, now: UInt64
    ) -> Prepared {
        last = nil
        oddTopic = nil
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
        oddTopic = set.oddTopic
        var flight = Flight()
        flight.row = row.row
        flight.headerSet = set.number
        flight.provider = set.provider
        guard let room = arena.reserve(Self.ownLimit + set.payloadLimit) else { return .noRoom }
        if let ended = writeOwn(row, room, &flight, now) { return ended }
        let payload = UnsafeMutableRawBufferPointer(start: room + flight.bodyOffset, count: set.payloadLimit)
        guard let template = picker.pick(row.fields) else { return .invalid(RowFault.noTemplate(copy row, plan)) }
        lastTemplate = template
        let page = RuleBook.place(template: template, set.pushType)
        if pages[page]?.isBroken == true, let broken = plan.rules.firstBroken(at: page) {
            return .invalid(RowFault.find(broken))
        }
        let outcome: RenderOutcome
        do {
            outcome = try render(row, template, into: payload)
        } catch {
            return .invalid(RowFault.find(error, row, plan))
        }
        guard case .written(let length) = outcome else {
            if case .tooLarge(let size) = outcome { sizeTooLarge = size }
            return .invalid(RowFault.find(outcome, set.payloadLimit, row, plan))
        }
        check(UnsafeRawBufferPointer(rebasing: payload[..<length]), row, page)
        if verdict.hasError { return .invalid(firstError(copy row)) }
        flight.bodyLength = UInt32(length)
        flight.record = room
        flight.block = arena.commit(flight.recordLength)
        let place = flights.take()
        flights[place] = flight
        return .ready(place)
    }

    /// Everything of a record but the payload, at most.
    private static let ownLimit =
        max(DeviceToken.pathLengthMax, BroadcastRequest.pathLengthMax) + MessageID.length
        + max(CollapseID.lengthMax, ChannelID.lengthMax) + Expiration.lengthMax

    /// Path, apns-id, collapse id and expiration; gives the row's end where it ends here.
    private func writeOwn(
        _ row: borrowing CSVRow, _ room: UnsafeMutableRawPointer, _ flight: inout Flight, _ now: UInt64
    ) -> Prepared? {
        if let broadcast {
            if let ended = writeChannel(broadcast, row, room, &flight) { return ended }
        } else {
            let token = row.fields[roles.token]
            if let fault = DeviceToken.writePath(token, to: room) {
                return .invalid(RowFault.find(fault, roles.token, row, plan))
            }
            flight.pathLength = DeviceToken.pathPrefixLength + token.count
        }
        if let ended = writeMessageID(row, room, flight) { return ended }
        if let ended = writeCollapseID(row, room, &flight) { return ended }
        return writeExpiration(row, room, &flight, now)
    }

    /// The row's own id, or one computed.
    private func writeMessageID(
        _ row: borrowing CSVRow, _ room: UnsafeMutableRawPointer, _ flight: Flight
    ) -> Prepared? {
        guard let column = roles.messageID, !row.fields[column].isEmpty else {
            MessageID(campaign: plan.identity, row: row.row).write(to: room + flight.pathLength)
            return nil
        }
        let value = row.fields[column]
        if let fault = MessageID.check(value) { return .invalid(RowFault.find(fault, column, row, plan)) }
        (room + flight.pathLength).copyMemory(from: value.baseAddress!, byteCount: value.count)
        return nil
    }

    private func writeCollapseID(
        _ row: borrowing CSVRow, _ room: UnsafeMutableRawPointer, _ flight: inout Flight
    ) -> Prepared? {
        guard let column = roles.collapseID, !row.fields[column].isEmpty else {
            guard let template = plan.headers.collapseID else { return nil }
            return renderCollapseID(template, row, room, &flight)
        }
        let value = row.fields[column]
        if let fault = CollapseID.check(value) { return .invalid(RowFault.find(fault, column, row, plan)) }
        (room + flight.collapseOffset).copyMemory(from: value.baseAddress!, byteCount: value.count)
        flight.collapseLength = UInt8(value.count)
        return nil
    }

    /// The campaign's, filled in; one that comes out empty is left out.
    private func renderCollapseID(
        _ template: TextTemplate, _ row: borrowing CSVRow, _ room: UnsafeMutableRawPointer, _ flight: inout Flight
    ) -> Prepared? {
        let target = UnsafeMutableRawBufferPointer(
            start: room + flight.collapseOffset, count: CollapseID.lengthMax)
        let size = template.render(fields: row.fields, into: target)
        guard size <= CollapseID.lengthMax else {
            return .invalid(RowFault.find(.collapseIDTooLong(size), "", row, plan))
        }
        let text = UnsafeRawBufferPointer(rebasing: target[..<size])
        if size > 0, let fault = CollapseID.check(text) {
            return .invalid(RowFault.find(fault, String(decoding: text, as: UTF8.self), row, plan))
        }
        flight.collapseLength = UInt8(size)
        return nil
    }

    private func writeExpiration(
        _ row: borrowing CSVRow, _ room: UnsafeMutableRawPointer, _ flight: inout Flight, _ now: UInt64
    ) -> Prepared? {
        var expiration = plan.headers.expiration
        if let column = roles.expiration, !row.fields[column].isEmpty {
            switch ExpirationRule.parse(row.fields[column]) {
            case .success(let own): expiration = own.expiration(start: plan.headers.start)
            case .failure(let fault): return .invalid(RowFault.find(fault, column, row, plan))
            }
        }
        guard let expiration else { return broadcast == nil ? nil : .invalid(expirationMissing(row)) }
        if expiration.hasPassed(now: Int64(now)) { return .expired }
        flight.expirationLength = UInt8(expiration.write(to: room + flight.expirationOffset))
        return nil
    }

    /// Notes the verdict on a payload.
    @inline(__always)
    private mutating func check(_ payload: UnsafeRawBufferPointer, _ row: borrowing CSVRow, _ page: Int) {
        last = (payload, page)
        verdict = PayloadVerdict()
        guard let rules = pages[page] else { return }
        if rules.needsRow { verdict = rules.check(payload, fields: row.fields) }
        if rules.needsStrings, !localisationFindings(copy row).isEmpty { verdict.hasError = true }
    }

    private func localisationFindings(_ row: CSVRow) -> [PayloadFinding] {
        guard let last else { return [] }
        return plan.rules.localisation(at: last.page)?.findings(last.payload, fields: row.fields) ?? []
    }

    /// Everything that the rules say of the last row's topic and payload, in words.
    ///
    /// - Parameter cardNumbers: whether to look for card numbers too.
    func findings(of row: CSVRow, cardNumbers: Bool) -> [RowFinding] {
        let own = hasOddTopic ? oddTopic.map { [RowFault.oddTopic($0, row, plan)] } ?? [] : []
        guard let last, let rules = plan.rules.rules(at: last.page) else { return own }
        let found = rules.describe(last.payload, fields: row.fields, cardNumbers: cardNumbers)
        return own + (found + localisationFindings(row)).map { RowFault.find($0, row, plan) }
    }

    /// Whether the last row's own topic or push type makes a doubtful pair; the campaign's is told once.
    var hasOddTopic: Bool { oddTopic != nil && (roles.topic != nil || roles.pushType != nil) }

    /// Whether a number in the last row's payload looks like that of a card.
    func holdsCardNumber() -> Bool {
        guard let last, let rules = plan.rules.rules(at: last.page) else { return false }
        return rules.holdsCardNumber(last.payload)
    }

    /// Size of the last row's payload in bytes; nil when none was written.
    var payloadSize: Int? { last?.payload.count }

    /// Bytes of the last row's payload as it was given, template or JSON of its own, that are not sent.
    func bytesSaved(_ row: borrowing CSVRow) -> Int {
        if let column = plan.rawPayloadColumn { return row.fields[column].count - (payloadSize ?? 0) }
        return plan.templates.blanks[lastTemplate]
    }

    private func firstError(_ row: CSVRow) -> RowFinding {
        findings(of: row, cardNumbers: false).first { $0.severity == .error }
            ?? RowFault.finding(.keyType, plan.rawPayloadColumn, row, plan, "payload: breaks a rule")
    }

    private mutating func render(
        _ row: borrowing CSVRow, _ template: Int, into payload: UnsafeMutableRawBufferPointer
    ) throws(CredentialError) -> RenderOutcome {
        if sealed != nil { return try sealed!.render(row.fields, template, into: payload) }
        if let onlyTemplate { return onlyTemplate.render(fields: row.fields, into: payload) }
        if !plan.templates.templates.isEmpty {
            return plan.templates.templates[template].render(fields: row.fields, into: payload)
        }
        let column = roles.payload.unsafelyUnwrapped
        return PayloadCompactor.compact(json: row.fields[column], column: column, into: payload)
    }

    /// The token as it stands in the row, for the results; empty when the row is too broken to have one.
    func tokenText(of row: borrowing CSVRow) -> UnsafeRawBufferPointer {
        row.fields.count > roles.token ? row.fields[roles.token] : UnsafeRawBufferPointer(start: nil, count: 0)
    }
}
