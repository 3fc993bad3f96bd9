import APNSBatch
import Foundation

extension CampaignSettings {
    /// The campaign that these settings describe. `simulator` is where `--to simulator` went, and what it asks for.
    ///
    /// - Parameter onlyRendering: nothing will be sent, so no credentials are needed.
    func campaign(simulator: EmbeddedSimulator?, onlyRendering: Bool = false) throws -> Campaign {
        guard let input else { throw UsageError("no input: give --input FILE, or - for standard input") }
        var campaign = Campaign(
            input: input == "-" ? .standardInput : .file(input),
            destination: try simulator?.destination ?? destination(onlyRendering: onlyRendering),
            topic: topic ?? (simulator == nil || providers != nil ? nil : EmbeddedSimulator.topic),
            providers: try providers(simulator, onlyRendering: onlyRendering))
        if let simulator {
            campaign.authorities = simulator.authority
            campaign.systemTrust = false
        } else if let caFile {
            campaign.authorities = try InputFile.bytes(of: caFile)
            if campaign.authorities.isEmpty { throw UsageError("\(caFile): holds no certificate") }
        }
        try applyHeaders(to: &campaign)
        try applyOptions(to: &campaign)
        try applyPolicy(to: &campaign)
        return campaign
    }

    private func applyHeaders(to campaign: inout Campaign) throws {
        if let template {
            campaign.template = try Self.template(template)
        }
        campaign.templates = try severalTemplates()
        campaign.strings = try (strings ?? []).flatMap { try StringsFiles.read($0) }
        campaign.encryption = try encryption?.encryption()
        if let pushType { campaign.headers.pushType = pushType }
        campaign.headers.priority = priority
        campaign.headers.expiration = try expiration.map { text in
            guard let expiration = Campaign.Expiration(text) else {
                throw UsageError(
                    "--expiration: expected seconds since 1970, a time such as 2026-01-01T08:00:00Z, a duration such as "
                        + "2h, or 0, found \"\(text)\"")
            }
            return expiration
        }
        campaign.headers.collapseID = collapseId
        campaign.minRows = minRows
    }

    private func severalTemplates() throws -> Campaign.Templates? {
        switch (templates, variants) {
        case (nil, nil):
            if fallback != nil { throw UsageError("fallback needs templates or variants") }
            return nil
        case (let byLocale?, nil):
            return .init(by: .locale, try byLocale.mapValues(Self.template), fallback: fallback)
        case (nil, let byName?): return .init(by: .variant, try byName.mapValues(Self.template), fallback: fallback)
        case (.some, .some): throw UsageError("there are templates and variants; give one of them")
        }
    }

    private static func template(_ path: String) throws -> Campaign.Template {
        .init(json: try InputFile.bytes(of: path), name: path)
    }

    private func applyOptions(to campaign: inout Campaign) throws {
        if let delimiter { campaign.delimiter = try Self.delimiter(delimiter) }
        if let campaignId { campaign.identity = try Self.identity(campaignId) }
        if let loop {
            guard let kind = Campaign.Loop(rawValue: loop) else {
                throw UsageError("--loop: expected io_uring or epoll, found \"\(loop)\"")
            }
            campaign.loop = kind
        }
        campaign.lanes = lanes
        campaign.runDirectory = runDir
        campaign.resultColumns = resultColumns ?? []
        if let connections { campaign.connections = connections }
        if let streams { campaign.streams = streams }
        if let attempts { campaign.attempts = attempts }
        if let requestTimeout { campaign.requestTimeout = requestTimeout }
        if let tokenMintAfter { campaign.tokenRotation.mintAfter = tokenMintAfter }
        if let tokenRetireAfter { campaign.tokenRotation.retireAfter = tokenRetireAfter }
        applyPatience(to: &campaign)
        try applyLedger(to: &campaign)
        campaign.proxy = try campaignProxy()
    }

    private func applyPatience(to campaign: inout Campaign) {
        if let connectPatience { campaign.connectPatience = connectPatience }
        if let unavailablePatience { campaign.unavailablePatience = unavailablePatience }
        if let answerPatience { campaign.answerPatience = answerPatience }
        if let goawayPatience { campaign.goawayPatience = goawayPatience }
        if let pingAfter { campaign.pingAfter = pingAfter }
        if let pingPatience { campaign.pingPatience = pingPatience }
    }

    private func applyLedger(to campaign: inout Campaign) throws {
        if let syncInterval { campaign.syncInterval = syncInterval }
        if let onUnknown {
            guard let policy = UnknownPolicy(name: onUnknown) else {
                throw UsageError(
                    "--on-unknown: expected resend, report or resend-if-collapsible, found \"\(onUnknown)\"")
            }
            campaign.onUnknown = policy
        }
    }

    /// Rows become the same wherever they go, but for the authority that they name.
    func destination(onlyRendering: Bool = false) throws -> Campaign.Destination {
        switch to {
        case nil where onlyRendering: return .production
        case nil: throw UsageError("no destination: give --to production, sandbox, simulator or HOST:PORT")
        case "production": return .production
        case "sandbox": return .sandbox
        case let text?: return try Self.hostAndPort(text)
        }
    }

    static func hostAndPort(_ text: String, flag: String = "--to") throws -> Campaign.Destination {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            throw UsageError("\(flag): expected production, sandbox, simulator or HOST:PORT, found \"\(text)\"")
        }
        var host = String(text[..<colon])
        if host.hasPrefix("[") && host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard !host.isEmpty, !host.contains("/") else {
            throw UsageError("\(flag): expected HOST:PORT, found \"\(text)\"")
        }
        return .host(host, port: port)
    }

    /// The simulator knows one key; who sends for which topic is rehearsed all the same.
    private func providers(_ simulator: EmbeddedSimulator?, onlyRendering: Bool) throws -> [Campaign.Provider] {
        let list = try providerList()
        guard let simulator else { return try read(list, for: onlyRendering ? .showing : .sending) }
        return list.map { Campaign.Provider(topics: $0.topics ?? [], credentials: simulator.credentials) }
    }

    static func delimiter(_ text: String) throws -> UInt8 {
        if text == "tab" || text == "\\t" { return UInt8(ascii: "\t") }
        guard text.utf8.count == 1, let byte = text.utf8.first else {
            throw UsageError("--delimiter: expected one byte or \"tab\", found \"\(text)\"")
        }
        return byte
    }

    private static func identity(_ text: String) throws -> (UInt64, UInt64) {
        guard let uuid = UUID(uuidString: text) else {
            throw UsageError("--campaign-id: expected a UUID, found \"\(text)\"")
        }
        return withUnsafeBytes(of: uuid.uuid) { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }
}
