import APNSBatch
import APNSBatchBasics
import Foundation

extension CampaignSettings {
    /// The source of the rows.
    ///
    /// - Parameter resuming: Whether a run is resumed, which may have kept its rows: a pattern then needs no files.
    func campaignInput(resuming: Bool = false) throws -> CampaignInput {
        let arguments = values["inputCommand"]?.texts ?? []
        let query = values["inputQuery"]
        guard [values["input"] != nil, !arguments.isEmpty, query != nil].count(where: { $0 }) <= 1 else {
            throw UsageError("input, input_command and input_query: give one of them")
        }
        let patience = try values["inputTimeout"].map(Self.duration) ?? .seconds(3600)
        if let query {
            return try InputQuery(query).input(patience: patience, environment: openVariables, isKept: resuming)
        }
        if let input = values["input"] {
            if input.text == "-" { return .standardInput }
            guard let path = input.text, !InputPattern.isOne(path) else {
                if resuming, let path = input.text { return .files([path]) }
                return .files(try (input.text.map { [$0] } ?? input.texts).flatMap(InputPattern.files))
            }
            return .file(path)
        }
        guard !arguments.isEmpty else {
            throw UsageError("no input: give --input FILE, or --input - for standard input")
        }
        return .program(arguments, environment: openVariables, patience: patience)
    }

    /// The variables that a program gets. It gets no passphrase.
    private var openVariables: [String: String] {
        let hidden = secretVariables
        return ProcessInfo.processInfo.environment.filter { !hidden.contains($0.key) }
    }

    /// Whether the input is standard input or another stream that cannot be read a second time.
    var readsStream: Bool {
        guard let path = values["input"]?.text else { return false }
        var facts = stat()
        return path == "-" || (stat(path, &facts) == 0 && ![S_IFREG, S_IFDIR].contains(facts.st_mode & S_IFMT))
    }

    /// Where the input is kept; nil if that depends on the input.
    var spool: CampaignRun.Spool? { get throws { try values["spool"].flatMap(Self.spool) } }

    static func spool(_ value: SettingValue) throws -> CampaignRun.Spool? {
        switch value.text {
        case "auto": nil
        case "always": .runDirectory
        case "never": CampaignRun.Spool.none
        default: throw UsageError("expected auto, always or never, found \((value.text ?? "").quoted)")
        }
    }

    /// Returns the campaign that these settings describe.
    ///
    /// - Parameters:
    ///   - simulator: the simulator that `--to simulator` has started.
    ///   - use: what credentials are read for.
    func campaign(simulator: EmbeddedSimulator?, for use: Use = .sending) throws -> Campaign {
        let topic = simulator == nil || values["providers"] != nil ? nil : EmbeddedSimulator.topic
        var campaign = Campaign(destination: .production, topic: self.topic ?? topic, providers: [])
        var faults = FaultList()
        faults.collect { try apply(to: &campaign) }
        // An invalid destination was reported with the other values.
        let isNone = self.to.map { (try? Self.destination($0)) == nil } ?? false
        if !isNone {
            faults.collect {
                campaign.destination = try simulator?.destination ?? destination(isNeeded: use == .sending)
            }
        }
        faults.collect { campaign.providers = try providers(simulator, for: use) }
        faults.collect { try trust(simulator, in: &campaign) }
        faults.collect {
            if values["canaryMaxRejected"] != nil, values["canary"] == nil {
                throw UsageError("--canary-max-rejected needs --canary")
            }
        }
        faults.collect { campaign.proxy = try withPassword(campaign.proxy) }
        faults.collect { campaign.escape = try escapeOfInput }
        let breaker = campaign.circuitBreaker
        if values["stopMinimum"] == nil { campaign.circuitBreaker.minimum = min(breaker.minimum, breaker.window) }
        // The library would find these only when the others are corrected.
        if !faults.isEmpty {
            for fault in campaign.faults { faults.collect { throw fault } }
        }
        try faults.throwAny()
        return campaign
    }

    /// How an input escapes quotes. PostgreSQL, which writes the rows of a query, doubles them.
    var escapeOfInput: Campaign.Escape {
        get throws {
            let given = self.escape.flatMap(Campaign.Escape.init)
            guard values["inputQuery"] != nil else { return given ?? .automatic }
            if given == .backslash {
                throw UsageError("escape: backslash is for files; the rows of input_query have no escapes")
            }
            return .none
        }
    }

    /// Sets which certificates of servers are trusted.
    private func trust(_ simulator: EmbeddedSimulator?, in campaign: inout Campaign) throws {
        if let simulator {
            campaign.authorities = simulator.authority
            campaign.systemTrust = false
        } else if let caFile = self.caFile {
            campaign.authorities = try InputFile.bytes(of: caFile)
            if campaign.authorities.isEmpty { throw UsageError("\(caFile): the file holds no certificate") }
        }
    }

    /// Applies all settings that are read one by one.
    ///
    /// - Throws: `UsageError` with all faults.
    private func apply(to campaign: inout Campaign) throws {
        var faults: [UsageError] = []
        for setting in Setting.all {
            guard let value = values[setting.name] else { continue }
            if let fault = setting.applied(value, to: &campaign) { faults.append(fault) }
        }
        if values["fallback"] != nil, values["templates"] == nil, values["variants"] == nil {
            faults.append(UsageError("fallback: needs templates or variants"))
        }
        if let first = faults.first {
            throw faults.count == 1 ? first : UsageError(faults: faults.flatMap(\.faults), cause: first)
        }
    }

    /// Returns a campaign that has some of these settings, and no others.
    func only(_ settings: [Setting]) throws -> Campaign {
        var campaign = Campaign(destination: .production, topic: nil, providers: [])
        for setting in settings {
            if let fault = values[setting.name].flatMap({ setting.applied($0, to: &campaign) }) { throw fault }
        }
        return campaign
    }

    /// Returns a campaign that has one of these settings.
    func only(_ name: String) throws -> Campaign { try only(Setting.named(name).map { [$0] } ?? []) }

    /// Rendering needs no destination, because it only affects the `:authority` field.
    func destination(isNeeded: Bool = true) throws -> Campaign.Destination {
        switch self.to {
        case nil where !isNeeded: return .production
        case nil: throw UsageError("no destination: give --to production, sandbox, simulator or HOST:PORT")
        case let text?:
            do {
                return try Self.destination(text)
            } catch {
                throw UsageError("--to: \(error)", cause: error)
            }
        }
    }

    /// Parses a destination; the simulator, which has none before it is started, counts as the server of production.
    static func destination(_ text: String) throws -> Campaign.Destination {
        if text == "simulator" { return .production }
        guard let destination = Campaign.Destination(text) else {
            throw UsageError("expected production, sandbox, simulator or HOST:PORT, found \(text.quoted)")
        }
        return destination
    }

    /// With the simulator, all providers have its only key, but each keeps its topics.
    private func providers(_ simulator: EmbeddedSimulator?, for use: Use) throws -> [Campaign.Provider] {
        let list = try providerList()
        guard let simulator else { return try read(list, for: use) }
        return list.map { Campaign.Provider(topics: $0.topics, credentials: simulator.credentials) }
    }
}

extension Campaign.Template {
    static func read(_ path: String) throws -> Self { .init(json: try InputFile.bytes(of: path), name: path) }
}

/// Parses the texts of settings; nil if a text is invalid.
extension CampaignSettings {
    static func templates(_ files: SettingValue) throws -> [String: Campaign.Template] {
        try (files.members ?? [:]).mapValues { try .read($0.text ?? "") }
    }

    static func share(_ value: SettingValue) throws -> Campaign.CircuitBreaker.Share {
        try value.parsed("never, or a share such as 5%", Campaign.CircuitBreaker.Share.init)
    }

    /// A duration such as `10m`.
    static func duration(_ value: SettingValue) throws -> Duration {
        try value.parsed("a duration such as 90s, 10m or 2h", duration)
    }

    static func encryption(_ values: [String: SettingValue]) throws -> Campaign.Encryption {
        guard let keys = values["keys"] else { throw UsageError("keys is missing") }
        var encryption = Campaign.Encryption(keys: keys.texts)
        if let column = values["keyColumn"]?.text { encryption.keyColumn = column }
        if let cipher = values["cipher"] {
            encryption.cipher = try cipher.parsed("aes-256-gcm or aes-256-cbc", Campaign.Encryption.Cipher.init)
        }
        if let padding = values["padding"] {
            encryption.padding = try padding.parsed("oaep-sha256, oaep-sha1 or pkcs1", Campaign.Encryption.Padding.init)
        }
        return encryption
    }
}
