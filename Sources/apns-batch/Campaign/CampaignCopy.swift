import APNSBatch
import APNSBatchBasics
import Foundation

/// A campaign in a directory of its own, with copies of the files that it names, from which other machines send it.
///
/// What belongs to one machine or to one night is left out: rows, credentials, directories, hooks, and limits that hold for all rows
/// together, which whoever divides the rows has to divide too.
struct CampaignCopy: Encodable {
    /// The absolute path of the copy.
    let campaign: String
    /// The name of the campaign; nil if it has none.
    let name: String?
    /// The UUID of the campaign; nil if it is to be drawn.
    let campaignID: String?
    /// How it authenticates itself.
    let credentials: Credentials
    /// The largest number of requests per second; nil for no limit.
    let rate: Double?
    /// The number of sending threads, and of connections of each; nil for the default.
    let lanes: Int?
    let connections: Int?
    /// The keys of the settings that the copy does not have.
    let leftOut: [String]

    enum Credentials: String, Encodable {
        case signingKey = "signing_key"
        case providerToken = "provider_token"
        case certificate
        case none
    }

    enum CodingKeys: String, CodingKey {
        case campaign, name, credentials, rate, lanes, connections
        case campaignID = "campaign_id"
        case leftOut = "left_out"
    }

    /// The settings of the table that a copy does not have.
    private static let ownOfOneRun: Set<String> = [
        "input", "inputCommand", "inputQuery", "inputTimeout", "spool", "format", "delimiter", "escape",
        "minRows", "fromRow",
        "zstdWindow",
        "campaignId", "runDir", "name", "nightStarts", "timezone", "resultsTo", "exportPatience", "rate", "spread",
        "rateShared", "canary", "canaryMaxRejected", "lanes", "connections",
    ]
    /// The groups of which a copy has no setting: credentials, expectations and hooks, monitoring.
    private static let foreignGroups = [3, 7, 8]

    /// The settings that a copy has if the campaign has them.
    static let kept: [Setting] =
        Setting.groups.enumerated().filter { !foreignGroups.contains($0.offset) }.flatMap(\.element.settings)
        .filter { !ownOfOneRun.contains($0.name) } + [Setting.named("caFile")].compactMap(\.self)

    /// Writes the copy.
    ///
    /// - Parameter directory: A directory that does not exist or is empty.
    /// - Throws: `UsageError` if the campaign is wrong or a file that it names cannot be read.
    init(of call: CampaignCall, into directory: String) throws {
        let settings = call.settings
        guard settings.values["providers"] == nil else {
            throw UsageError("providers: a campaign with several providers cannot be copied")
        }
        var checked = settings
        // Each sender starts a simulator of its own.
        if checked.to == "simulator" { checked.to = nil }
        rate = try checked.campaign(simulator: nil, for: .showing).rateLimit.rate?.perSecond
        let names = Set(Self.kept.map(\.name))
        let files = try CopiedFiles(directory)
        var values: [String: SettingValue] = [:]
        for setting in Self.kept {
            values[setting.key] = try settings.values[setting.name].map { try files.copied($0, of: setting) }
        }
        campaign = try files.write(values)
        (name, campaignID) = (call.name, settings.campaignId)
        credentials = settings.to == "simulator" ? .none : Self.credentials(settings)
        (lanes, connections) = (settings.values["lanes"]?.number, settings.values["connections"]?.number)
        leftOut = Setting.all.filter { settings.values[$0.name] != nil && !names.contains($0.name) }.map(\.key)
    }

    private static func credentials(_ settings: CampaignSettings) -> Credentials {
        if settings.keyFile != nil { return .signingKey }
        if settings.providerTokenFile != nil { return .providerToken }
        return settings.certificateFile != nil ? .certificate : .none
    }
}

/// The files of a copy. Each is named after its original, behind the setting that names it and its number.
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
        case (.path, .text(let path)) where setting.name == "proxyPasswordFile":
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
