import APNSBatch
import APNSBatchBasics
import Foundation

/// A campaign in a directory of its own, with copies of the files that it names, from which other machines send it.
///
/// What belongs to one machine or to one night is left out: rows, credentials, directories, hooks, and limits that hold for all rows
/// together, which the program that divides the rows has to divide, too.
struct CampaignCopy: Encodable {
    /// The absolute path of the copy.
    let campaign: String
    /// The name of the campaign; nil if it has none.
    let name: String?
    /// The UUID of the campaign; nil if it is to be drawn.
    let campaignID: String?
    /// How it authenticates itself.
    let credentials: Credentials
    let whole: WholeRun
    /// What the campaign reads of each row.
    let needs: [Need]
    /// What may be wrong, such as a column that nothing uses.
    let warnings: [String]
    /// The keys of the settings that the copy does not have.
    let leftOut: [String]

    enum Credentials: String, Encodable {
        case signingKey = "signing_key"
        case providerToken = "provider_token"
        case certificate
        case none
    }

    /// A column, and what it is read for.
    struct Need: Encodable {
        let column: String
        let uses: [String]
    }

    enum CodingKeys: String, CodingKey {
        case campaign, name, credentials, needs, warnings
        case campaignID = "campaign_id"
        case leftOut = "left_out"
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(campaign, forKey: .campaign)
        try members.encodeIfPresent(name, forKey: .name)
        try members.encodeIfPresent(campaignID, forKey: .campaignID)
        try members.encode(credentials, forKey: .credentials)
        try whole.encode(to: encoder)
        try members.encode(needs, forKey: .needs)
        try members.encode(warnings, forKey: .warnings)
        try members.encode(leftOut, forKey: .leftOut)
    }

    /// Writes the copy.
    ///
    /// - Parameters:
    ///   - columns: The names of the columns that the rows have; nil if they are not known.
    ///   - directory: A directory that does not exist or is empty.
    /// - Throws: `UsageError` if the campaign is wrong, if it has settings that cannot hold for parts, if the rows lack a column, or if a
    ///   file that it names cannot be read.
    init(of call: CampaignCall, columns: [String]?, into directory: String) throws {
        let settings = call.settings
        try Self.refuse(settings)
        var checked = settings
        // Each sender starts a simulator of its own.
        if checked.to == "simulator" { (checked.to, checked.topic) = (nil, settings.topic ?? EmbeddedSimulator.topic) }
        let campaign = try checked.campaign(simulator: nil, for: .showing)
        let found = try CampaignTrial(campaign).columns(columns)
        needs = found.uses.map { Need(column: $0.column, uses: $0.uses) }
        warnings = found.findings.map { "\($0.message) [\($0.rule)]" }
        whole = try WholeRun(of: call, campaign)
        let kept = Setting.all.filter { $0.parts == .kept }
        let files = try CopiedFiles(directory)
        var values: [String: SettingValue] = [:]
        for setting in kept {
            values[setting.key] = try settings.values[setting.name].map { try files.copied($0, of: setting) }
        }
        self.campaign = try files.write(values)
        (name, campaignID) = (call.name, settings.campaignId)
        credentials = settings.to == "simulator" ? .none : Self.credentials(settings)
        leftOut = Setting.all.filter { settings.values[$0.name] != nil && $0.parts != .kept }.map(\.key)
    }

    /// Throws if settings can hold neither in a part nor for all parts together.
    private static func refuse(_ settings: CampaignSettings) throws {
        let faults = Setting.all.filter { settings.values[$0.name] != nil && $0.parts == .refused }.map {
            "\($0.key): a run in parts cannot keep it; leave it out with --without \($0.key)"
        }
        if !faults.isEmpty { throw UsageError(faults: faults) }
    }

    private static func credentials(_ settings: CampaignSettings) -> Credentials {
        if settings.keyFile != nil { return .signingKey }
        if settings.providerTokenFile != nil { return .providerToken }
        return settings.certificateFile != nil ? .certificate : .none
    }
}

/// The files of a copy. The name of each has the setting that names it, its number, and the name of its original.
private struct CopiedFiles {
    private let directory: String

    init(_ directory: String) throws {
        self.directory = CampaignSettings.path(directory, from: FileManager.default.currentDirectoryPath)
        do {
            try FileManager.default.createDirectory(atPath: self.directory, withIntermediateDirectories: true)
            guard try FileManager.default.contentsOfDirectory(atPath: self.directory).isEmpty else {
                throw UsageError("\(directory): the directory is not empty")
            }
        } catch let error as CocoaError {
            throw UsageError("\(directory): \(error.localizedDescription)")
        }
    }

    /// Returns the value for the copy, whose paths are relative to it.
    func copied(_ value: SettingValue, of setting: Setting) throws -> SettingValue {
        switch (setting.kind, value) {
        // Each machine has its own file with a password.
        case (.path, .text(let path)) where setting.scope == .secret:
            return .text(CampaignSettings.path(path, from: FileManager.default.currentDirectoryPath))
        case (.path, .text(let path)): return .text(try copy(path, as: setting.key))
        case (.paths, .list(let paths)):
            return .list(
                try paths.enumerated().map { .text(try copy($1.text ?? "", as: "\(setting.key)-\($0)")) })
        case (.pathsByName, .members(let paths)):
            let sorted = paths.sorted { $0.key < $1.key }.enumerated()
            return .members(
                try sorted.reduce(into: [:]) { members, entry in
                    let (number, (name, path)) = entry
                    members[name] = .text(try copy(path.text ?? "", as: "\(setting.key)-\(number)"))
                })
        default: return Self.withKeys(value, setting.kind)
        }
    }

    /// A value whose members have the keys of campaign files, as `key_column`, and not the names of settings.
    private static func withKeys(_ value: SettingValue, _ kind: Setting.Kind) -> SettingValue {
        switch (kind, value) {
        case (.record(let settings), .members(let members)):
            var found: [String: SettingValue] = [:]
            for (name, member) in members {
                let kind = settings.first { $0.name == name }?.kind
                found[SettingName.key(name)] = kind.map { withKeys(member, $0) } ?? member
            }
            return .members(found)
        case (.records(let settings), .list(let items)):
            return .list(items.map { withKeys($0, .record(settings)) })
        default: return value
        }
    }

    /// Copies a file, or a folder with all that is in it, and returns its name in the copy.
    private func copy(_ path: String, as name: String) throws -> String {
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        let target = "\(name)-\(last)"
        do {
            // A FIFO or a device is no file that can be taken along.
            _ = try OpenFile(path, O_RDONLY, [.file, .directory])
            let source = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            try FileManager.default.copyItem(atPath: source, toPath: "\(directory)/\(target)")
        } catch let refusal as OpenFile.Refusal {
            throw UsageError("\(path): it cannot be copied into \(directory): \(refusal)")
        } catch {
            throw UsageError("\(path): it cannot be copied into \(directory): \(error.localizedDescription)")
        }
        return target
    }

    /// Writes the campaign file, which is JSON and therefore YAML, and returns its path.
    func write(_ values: [String: SettingValue]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        let path = "\(directory)/campaign.yaml"
        let kind = OutputFile.Kind("the copy of a campaign", at: .own, startingWith: "{")
        try OutputFile.write(
            Array(try encoder.encode(values)) + Array("\n".utf8), to: path, kind, readers: .everybody)
        return path
    }
}
