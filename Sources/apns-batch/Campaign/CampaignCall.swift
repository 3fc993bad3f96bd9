import APNSBatch
import ArgumentParser
import Foundation

/// What a call of the command says about a campaign: flags, and a campaign file where they say nothing.
struct CampaignCall: Sendable {
    let flags: CampaignSettings
    /// As it was read last.
    let file: CampaignFile?
    /// What it was called with before, when it is called again.
    let before: RunArguments?
    /// All of it together.
    let settings: CampaignSettings

    /// - Parameters:
    ///   - flags: with paths as they were given.
    ///   - file: the campaign file's path.
    init(flags: CampaignSettings, file path: String?) throws {
        self.flags = flags
        file = try path.map { try CampaignFile.read($0) }
        before = nil
        settings = Self.settings(flags, file, nil)
    }

    /// Of a run that is resumed: what has changed in its campaign file since, and the flags of this call, replace what it
    /// was called with.
    init(flags: CampaignSettings, resuming before: RunArguments) throws {
        self.flags = flags
        self.before = before
        file = try before.campaignFile.flatMap { path in
            guard access(path, F_OK) == 0 else {
                complain("warning: \(path): no such file; the settings of the last call are used")
                return nil
            }
            return try CampaignFile.read(path)
        }
        settings = Self.settings(flags, file, before)
    }

    private static func settings(
        _ flags: CampaignSettings, _ file: CampaignFile?, _ before: RunArguments?
    ) -> CampaignSettings {
        guard let before else { return file.map { flags.over($0.settings) } ?? flags }
        guard let file else { return flags.over(before.settings) }
        return flags.over(before.settings.changed(from: before.file ?? CampaignSettings(), to: file.settings))
    }

    /// With the campaign file as it is now.
    func settingsNow() throws -> CampaignSettings {
        guard let file else { return settings }
        return Self.settings(flags, try CampaignFile.read(file.path), before)
    }

    /// A message that begins with the name of a setting, in any spelling, as one about the place where its value was
    /// given: `campaign.yaml:7:11: attempts: expected 1 to 1000, found 0`, or `--attempts: expected …`.
    func located(_ message: String) -> String {
        guard let colon = message.range(of: ": ") else { return message }
        let start = message[..<colon.lowerBound]
        let key = (start.hasPrefix("--") ? start.dropFirst(2) : start).replacing(#/[ -]/#, with: "_")
        guard let setting = Setting.all.first(where: { $0.key == key || $0.calledBy.map { start == $0 } ?? false })
        else { return message }
        let rest = message[colon.upperBound...]
        if flags.values[setting.name] != nil { return "\(SettingName.flag(setting.name)): \(rest)" }
        guard let place = file?.places[setting.name] else { return message }
        return "\(place): \(setting.key): \(rest)"
    }

    /// Exit codes other than that of wrong usage promise a run that can be resumed.
    static let nothingBegun = "no run was started: call send again"

    /// The run that is resumed had an input that is no longer where it was.
    private var isInputMissing: Bool {
        guard before != nil, flags.input == nil, let input = settings.input else { return false }
        return access(input, F_OK) != 0
    }

    /// Runs `body`; an error becomes a line on standard error, with its place in the campaign file, and an exit code.
    func reporting<T>(_ body: () throws -> T) throws -> T {
        do {
            return try apns_batch.reporting(located, body)
        } catch let status as ExitCode {
            if isInputMissing { complain("if the input has moved, give its new path with --input") }
            if status != ExitStatus.usage, before == nil { complain(Self.nothingBegun) }
            throw status
        }
    }
}
