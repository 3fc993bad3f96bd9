import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRecords
import APNSBatchRows
import APNSBatchTransport
import Logging

/// All settings of a campaign that are fixed before the first row, checked and compiled. Immutable, and shared by all lanes.
package final class CampaignPlan: Sendable {
    package let inputName: String
    /// Whether rows have places that a message can name; not the notifications of a sender.
    var namesRows: Bool { !inputName.isEmpty }
    private let inputParts: InputParts?
    let columns: [String]
    let named: NamedColumns
    package let roles: ColumnRoles
    /// The roles of columns that the first rows have, where rows name their fields; otherwise ``roles``. What all rows without other columns
    /// have in common is reported once, although a later row may have them.
    package let usualRoles: ColumnRoles
    /// See ``InputFacts/first``.
    let first: FirstColumns?
    /// Nil if all rows are sent.
    package let selection: RowSelection?

    /// Whether ``Campaign/only`` leaves the row out. A row that cannot be read is invalid instead.
    func leavesOut(_ row: Row) -> Bool { unsafe row.error == nil && selection?.selects(row.fields) == false }

    /// Whether a run ends the row before it looks at it, because the campaign begins later in the input or leaves the row out.
    package func passesOver(_ row: Row) -> Bool { row.row < firstRow || leavesOut(row) }

    /// Whether ``passesOver(_:)`` is true of any row.
    package var passesOverSome: Bool { firstRow > 1 || selection != nil }

    /// The templates; empty if rows have payloads of their own.
    let templates: TemplateChoice
    let rules: RuleBook

    let host: String
    let port: UInt16
    /// The address that connections are made to, which is the proxy's if there is one, and the request sent to the proxy
    /// first.
    package let peer: (host: String, port: UInt16)
    let tunnel: [UInt8]
    /// The name of the proxy in errors; empty without one.
    let proxy: String
    package let headers: HeaderDefaults
    /// Nil for a campaign to devices.
    package let broadcast: BroadcastPlan?
    package let identity: (UInt64, UInt64)
    /// The start of the campaign, in seconds since 1970-01-01 00:00 UTC.
    package let start: UInt64
    package let onUnknown: UnknownPolicy
    /// See ``Campaign/firstRow``.
    let firstRow: UInt64

    package let topics: ProviderTopics
    /// The trusted certificates. Client certificates belong to the providers.
    let trust: TLSOptions
    let loop: LoopKind
    let poolLimits: ConnectionPool.Limits
    let requestTimeout: UInt32
    /// The longest time for which answers gather, in microseconds.
    let answerGathering: UInt32
    let backoff: BackoffPlan
    package let breaker: CircuitBreaker.Limits
    /// The limits of invalid rows.
    let brokenInput: CircuitBreaker.Limits
    /// Whether some share of invalid rows is too large.
    package var judgesRows: Bool { !brokenInput.rules.isEmpty }
    package let canary: Canary?
    let outage: Outage.Limits
    /// In nanoseconds.
    let stopPatience: UInt64
    /// Whether what has begun may go on although its time has passed.
    private let mayBeLate: Bool
    /// As the campaign was created; a change is in ``RunControl``.
    package let deadline: CampaignDeadline?
    package let log: RunLog
    /// The columns of the input that are copied into the results.
    let resultColumns: ResultColumns
    /// Whether answers can have an `apns-unique-id`, which Apple's production servers never send.
    let hasUniqueIDs: Bool
    /// Nil if nothing is encrypted.
    let sealing: SealingPlan?
    package let surroundings: Surroundings

    /// - Parameters:
    ///   - input: The input whose rows become notifications.
    ///   - start: The start of the campaign in seconds since 1970-01-01 00:00 UTC, for a resumed run; nil for now.
    ///   - limits: When the run gives up; nil for what the campaign says.
    package init(
        _ campaign: Campaign, input: InputFacts, logger: Logger, start: UInt64? = nil, limits: StopLimits? = nil,
        surroundings: Surroundings = .system
    ) throws(CampaignError) {
        let columns = input.columns
        try Campaign.Number.check(campaign)
        try campaign.rateLimit.check(of: input.name, isFile: input.isFile)
        let isResumed = start != nil
        // What has begun, as a whole or in another part, may be late: then its rows expire.
        mayBeLate = isResumed || campaign.isPart
        self.surroundings = surroundings
        self.start = start ?? surroundings.seconds()
        (onUnknown, firstRow) = (campaign.onUnknown, campaign.firstRow)
        (inputName, inputParts) = (input.name, input.parts)
        (self.columns, named) = (columns, input.named)
        first = isResumed ? nil : input.first
        try Self.refuseFaults(campaign, input, isResumed: isResumed)
        let usual = try Self.judge(campaign, first, file: input.name)
        roles = try ColumnRoles(
            columns: columns, file: input.name,
            hasTemplate: campaign.template != nil || campaign.templates != nil, recipients: campaign.recipients)
        let usualRoles = usual ?? roles
        self.usualRoles = usualRoles
        selection = try RowSelection(campaign.only, columns: columns, file: input.name)
        templates = try TemplateChoice(campaign, columns: columns, file: input.name)
        let sealing = try SealingPlan(campaign, columns: columns, file: input.name)
        self.sealing = sealing
        resultColumns = try ResultColumns(
            campaign.resultColumns, columns: columns, file: input.name,
            isSecret: { Self.isSecret(column: $0, sealing, input.named) })
        try ResultColumns.check(reportBy: campaign.reportBy, among: campaign.resultColumns)
        if case .production = campaign.destination { hasUniqueIDs = false } else { hasUniqueIDs = true }
        try Self.checkPayloadColumn(roles, templates, file: input.name)
        (host, port) = campaign.destination.endpoint
        if let fault = HostName.fault(host: host, port: port) {
            throw CampaignError(.configuration, "destination: \(fault)")
        }
        proxy = campaign.proxy.map { "\($0)" } ?? ""
        peer = campaign.proxy.map { ($0.host, $0.port) } ?? (host, port)
        let endpoint = APNSHost.endpoint(host: host, port: port)
        tunnel = try campaign.proxy?.request(to: endpoint) ?? []
        headers = try HeaderDefaults(
            try campaign.recipients.headers(of: campaign), roles: usualRoles, columns: columns,
            authority: APNSHost.authority(host: host, port: port), start: self.start,
            mayBeLate: mayBeLate, isBroadcast: campaign.recipients.areChannels)
        broadcast = BroadcastPlan(campaign.recipients)
        try BroadcastPlan.checkExpiration(headers, usualRoles)
        rules = RuleBook(
            Self.sentTemplates(templates, sealing),
            pushTypes: roles.pushType == nil ? [headers.pushType] : PushType.allCases,
            strings: try Self.strings(campaign.strings), isBroadcast: headers.isBroadcast)
        if let id = campaign.id { identity = id.words } else { identity = try Self.randomIdentity() }
        let log = RunLog(logger: logger, endpoint: endpoint)
        self.log = log
        topics = try ProviderTopics(campaign.providers)
        trust = try Self.trust(campaign)
        try Self.checkTopic(headers, usualRoles, topics)
        loop = campaign.loop.kind
        let stopLimits = if let limits { limits } else { try StopLimits(campaign) }
        poolLimits = Self.limits(campaign, outagePatience: stopLimits.outage.patience)
        (outage, breaker, brokenInput) = (stopLimits.outage, stopLimits.breaker, stopLimits.brokenInput)
        requestTimeout = UInt32(clamping: campaign.requestTimeout.milliseconds)
        answerGathering = UInt32(clamping: campaign.answerGathering.nanoseconds / 1000)
        backoff = BackoffPlan(campaign)
        canary = try campaign.canary.map { (given) throws(CampaignError) in try Canary(given) }
        let start = headers.start
        deadline = try campaign.notAfter.map { (given) throws(CampaignError) in
            try CampaignDeadline(given, start: start)
        }
        stopPatience = min(campaign.stopPatience, .seconds(86_400)).nanoseconds
        try refusePassed(now: self.start)
    }

    /// Throws an error if `not_after` or the expiration of the campaign has passed, so that a run that begins now would send nothing.
    package func refusePassed(now: UInt64) throws(CampaignError) {
        guard !mayBeLate else { return }
        if let deadline, deadline.hasPassed(now: now) { throw deadline.passed }
        try headers.refusePassed(now: now)
    }

    /// Throws an error if rows that are to be sent again would expire instead, because the campaign is over.
    package func refuseLateRetry() throws(CampaignError) {
        let now = surroundings.seconds()
        if let deadline, deadline.hasPassed(now: now) { throw deadline.refusedRetry }
        guard let expiration = headers.expiration, expiration.hasPassed(now: Int64(now)) else { return }
        log.logger.warning(
            "expiration: passed at \(Timestamp.text(Int64(expiration.seconds))); unavailable rows without one of their own expire now"
        )
    }

    /// The column of payloads; nil if there is a template.
    var rawPayloadColumn: Int? { templates.templates.isEmpty ? roles.payload : nil }

    /// Whether a column's fields are sent encrypted, so that they must not appear anywhere else.
    func isSecret(column: Int) -> Bool {
        Self.isSecret(column: column, sealing, named)
    }

    /// A column that has several names is secret under each of them.
    private static func isSecret(column: Int, _ sealing: SealingPlan?, _ named: NamedColumns) -> Bool {
        let column = named.original(of: column)
        return sealing?.templates.contains { template in
            template.inner.columnsUsed.contains { named.original(of: $0) == column }
        } ?? false
    }

    /// Throws what is wrong with the columns of rows that name their fields, as it would be with those of a header row. Returns the roles of
    /// the columns that the first rows have; nil if nothing is known of them.
    private static func judge(
        _ campaign: Campaign, _ first: FirstColumns?, file: String
    ) throws(CampaignError) -> ColumnRoles? {
        guard let columns = first?.names else { return nil }
        let roles = try ColumnRoles(
            columns: columns, file: file,
            hasTemplate: campaign.template != nil || campaign.templates != nil, recipients: campaign.recipients)
        _ = try RowSelection(campaign.only, columns: columns, file: file)
        _ = try TemplateChoice(campaign, columns: columns, file: file)
        _ = try SealingPlan(campaign, columns: columns, file: file)
        _ = try ResultColumns(campaign.resultColumns, columns: columns, file: file, isSecret: { _ in false })
        if let text = campaign.headers.collapseID { try HeaderDefaults.checkCollapseID(text, columns: columns) }
        return roles
    }

    /// The name of the server in errors and in the log.
    package var endpoint: String { log.endpoint }

    /// Throws an error if there is a payload column that the templates do not use, since one of the two is a mistake.
    private static func checkPayloadColumn(
        _ roles: ColumnRoles, _ templates: TemplateChoice, file: String
    ) throws(CampaignError) {
        guard !templates.templates.isEmpty, let payload = roles.payload, !templates.columnsUsed.contains(payload) else {
            return
        }
        throw CampaignError(
            .configuration,
            "\(file):1: there are a template and a column \"payload\" that it does not use; give only one of them")
    }

    /// The templates as they are sent; a single nil if rows have payloads of their own.
    private static func sentTemplates(_ choice: TemplateChoice, _ sealing: SealingPlan?) -> [PayloadTemplate?] {
        if let sealing { return sealing.templates.map(\.outer) }
        return choice.templates.isEmpty ? [nil] : choice.templates
    }

    private static func strings(_ files: [Campaign.Strings]) throws(CampaignError) -> LocalisedStrings? {
        guard !files.isEmpty else { return nil }
        return try CampaignError.mapping(.configuration) {
            LocalisedStrings(try files.map { ($0.language, try StringsFile($0.content, name: $0.name)) })
        }
    }

    private static func randomIdentity() throws(CampaignError) -> (UInt64, UInt64) {
        try CampaignError.mapping(.system) { (try SecureRandom.number(), try SecureRandom.number()) }
    }

    /// Throws an error if all rows have the same topic, and no provider covers it or may send pushes of this type. Otherwise
    /// every row would be invalid.
    private static func checkTopic(
        _ headers: HeaderDefaults, _ roles: ColumnRoles, _ topics: ProviderTopics
    ) throws(CampaignError) {
        guard let bundleID = headers.topic, roles.pushType == nil else { return }
        let topic = Topic.derive(bundleID: bundleID, pushType: headers.pushType)
        guard let provider = topics.provider(of: topic) else {
            throw CampaignError(.configuration, "topic: no provider covers \(topic.quoted)")
        }
        guard topics.mayAuthenticate(headers.pushType, provider: provider) else {
            throw CampaignError(.configuration, "push_type: \(headers.pushType.credentialsWanted)")
        }
    }

    private static func trust(_ campaign: Campaign) throws(CampaignError) -> TLSOptions {
        var tls = TLSOptions()
        tls.authorities = try checkAuthorities(campaign.authorities)
        tls.systemTrust = campaign.systemTrust
        return tls
    }

    /// Parses the first certificate, so that a wrong file is reported before anything is opened.
    private static func checkAuthorities(_ pem: [UInt8]) throws(CampaignError) -> [UInt8] {
        guard !pem.isEmpty else { return [] }
        do {
            _ = try CertificateFacts(pem: pem)
            return pem
        } catch {
            throw CampaignError(.configuration, "trusted certificates: \(error)", cause: error)
        }
    }

    /// The maximum number of connections of a lane over all providers. Each has sockets and buffers.
    private static let connectionsOfLaneMax = 2048

    private static func limits(_ campaign: Campaign, outagePatience: UInt64) -> ConnectionPool.Limits {
        var limits = ConnectionPool.Limits()
        limits.maximum = min(campaign.connections, max(1, connectionsOfLaneMax / campaign.providers.count))
        limits.streams = campaign.streams
        limits.patience = campaign.connectPatience.nanoseconds
        limits.outagePatience = outagePatience
        limits.answerPatience = max(campaign.answerPatience, campaign.requestTimeout).nanoseconds
        limits.goawayPatience = campaign.goawayPatience.nanoseconds
        limits.pingAfter = campaign.pingAfter.nanoseconds
        limits.pingIdleAfter = max(limits.pingIdleAfter, limits.pingAfter)
        limits.pingPatience = campaign.pingPatience.nanoseconds
        return limits
    }
}

extension LoopKind {
    /// The name in the summary.
    package var name: String {
        switch self {
        case .automatic: "none"
        case .ioUring: "io_uring"
        case .epoll: "epoll"
        case .other: "other"
        }
    }
}

extension Campaign.Loop {
    var kind: LoopKind {
        switch self {
        case .automatic: .automatic
        case .ioUring: .ioUring
        case .epoll: .epoll
        }
    }
}

extension CampaignPlan {
    /// Returns the file that has a line of the input, and the line there.
    package func place(ofLine line: UInt64) -> (file: String, line: UInt64) {
        inputParts?.place(ofLine: line) ?? (inputName, line)
    }

    /// Whether a file is the input, or one of its files, and not a template.
    package func isInput(_ file: String) -> Bool { file == inputName || inputParts?.has(file) == true }
}
