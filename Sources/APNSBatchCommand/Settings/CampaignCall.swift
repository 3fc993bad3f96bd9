import APNSBatch
import ArgumentParser
import Foundation

/// The settings of one call of the command: its flags, and the campaign file for settings without a flag.
struct CampaignCall: Sendable {
    let flags: CampaignSettings
    /// The campaign file as it was last read.
    private(set) var file: CampaignFile?
    /// The arguments of the previous call, if a run is resumed.
    let before: RunArguments?
    /// The settings of all sources combined. The run directory is the one of this night.
    private(set) var settings: CampaignSettings
    /// The directory that holds the nights; nil for a run without a history.
    private(set) var nights: String?
    /// Whether an input is sent although it, or another one of this night, was sent before.
    var again = false
    /// The unfinished runs that this call has finished before.
    var finished: [String] = []
    /// The unfinished runs that this call could not finish.
    var unfinishable: [String] = []
    /// Whether the run is one of several that send a campaign together, and is accounted for by the program that divided it.
    var isPart = false
    /// The directory of the run whose rows are sent again, corrected; nil for a run of an input of its own.
    let correcting: String?

    /// - Parameters:
    ///   - flags: the flags, with paths as they were given.
    ///   - file: the path of the campaign file.
    ///   - corrected: the directory of the run, or of one of its corrections, whose rows are corrected.
    ///   - without: the names of settings that the call is to be without, wherever they are given.
    init(
        flags: CampaignSettings, file path: String?, correcting corrected: String? = nil, without: [String] = []
    ) throws {
        self.flags = flags
        file = try path.map { try CampaignFile.read($0) }
        before = nil
        correcting = corrected.map { CampaignBook.correctedRun(by: $0) ?? $0 }
        settings = Self.settings(flags, file, nil, isCorrection: correcting != nil)
        for name in without { settings.values[name] = nil }
        do {
            nights = try settings.nightsDirectory(file: path)
            settings.runDir = try settings.nightlyRunDirectory(at: Int64(Date.now.timeIntervalSince1970), file: path)
            if let correcting { try begin(correcting) }
        } catch let error as UsageError {
            throw UsageError(located("\(error)"), cause: error)
        }
    }

    /// Checks the flags of a correction, which is kept beside the corrected run.
    private mutating func begin(_ correcting: String) throws {
        guard flags.values["input"] != nil else {
            throw UsageError("--correction: give the corrected lines of not-sent.csv with --input")
        }
        for setting in Setting.all where !setting.correction.isOfFlags && flags.values[setting.name] != nil {
            throw UsageError("\(SettingName.flag(setting.name)): a correction has none")
        }
        guard settings.to != "simulator" else {
            throw UsageError("--correction: the simulator in the process has no runs that could be corrected")
        }
        let isSaid = settings.runDir != nil
        settings.runDir = correcting
        // Without a run directory, the settings do not contain where the history is: it is beside the run.
        if !isSaid { nights = try settings.nightsDirectory(file: file?.path) }
        settings.values["spool"] = .text("always")
    }

    /// Combines the settings for a run that is resumed. Flags of this call, and settings that have changed in the campaign
    /// file, replace those of the previous call.
    init(flags: CampaignSettings, resuming before: RunArguments) throws {
        self.flags = flags
        self.before = before
        correcting = before.correcting
        file = try before.campaignFile.flatMap { path in
            guard access(path, F_OK) == 0 else {
                complain("warning: \(path): no such file; the settings of the last call are used")
                return nil
            }
            return try CampaignFile.read(path)
        }
        settings = Self.settings(flags, file, before, isCorrection: correcting != nil)
        // Rows before it have ended, so another first row would be that of another run.
        settings.values["fromRow"] = before.settings.values["fromRow"]
        if let row = flags.values["fromRow"], row != settings.values["fromRow"] {
            throw UsageError("--from-row: the run has begun with another row, and this cannot be changed")
        }
        nights = before.nights
    }

    /// The rules by which the runs of the campaign are kept apart; nil if they are not.
    func bookRules() throws -> Campaign.BookRules? {
        // The ledger of a run that has none does not contain where its history is.
        guard let nights, keepsHistory else { return nil }
        let path = file?.path ?? before?.campaignFile
        var rules = try settings.bookRules(
            at: Int64(Date.now.timeIntervalSince1970), file: path, nights: nights, again: again)
        rules?.correcting = correcting
        rules?.finished = finished
        rules?.unfinishable = unfinishable
        return rules
    }

    /// Whether its starts are in a history, if the campaign has one. The program that divided a campaign accounts for its parts.
    var keepsHistory: Bool { !isOfSeveral }

    /// Whether the run is a part, as the program says that divided the campaign, or by its place.
    var isOfSeveral: Bool { isPart || settings.runDir.map(Self.isOfPart) ?? false }

    /// Whether a directory is that of a part by its place.
    static func isOfPart(_ directory: String) -> Bool { runOfPart(directory) != nil }

    /// The run in parts to which a directory belongs by its place: `RUN`, where `RUN/manifest.json` accounts for `RUN/parts/00000`. Both the
    /// place that was given counts, and the one that links lead to. Nil if it is that of no part.
    static func runOfPart(_ directory: String) -> URL? {
        let given = URL(filePath: directory).standardized
        let places = [given, given.resolvingSymlinksInPath()].map { $0.deletingLastPathComponent() }
        let runs = places.filter { $0.lastPathComponent == "parts" }.map { $0.deletingLastPathComponent() }
        return runs.first { access($0.appending(path: "manifest.json").path, F_OK) == 0 }
    }

    /// The history of the campaign; nil if it has none.
    func book() throws -> CampaignBook? {
        guard let rules = try bookRules() else { return nil }
        var campaign = try RunArguments(self).campaign(settings, simulator: nil, for: .accounting)
        if let name { campaign.name = name }
        campaign.book = rules
        return try CampaignBook(campaign)
    }

    /// Returns the call with another run directory.
    func sending(into directory: String) -> CampaignCall {
        var call = self
        call.settings.runDir = directory
        return call
    }

    private static func settings(
        _ flags: CampaignSettings, _ file: CampaignFile?, _ before: RunArguments?, isCorrection: Bool
    ) -> CampaignSettings {
        let now = file?.settings.withoutNight(isCorrection: isCorrection)
        guard let before else { return now.map { flags.over($0) } ?? flags }
        guard let now else { return flags.over(before.settings) }
        let earlier = (before.file ?? CampaignSettings()).withoutNight(isCorrection: isCorrection)
        return flags.over(before.settings.changed(from: earlier, to: now))
    }

    /// The name of the campaign; nil if neither settings nor a campaign file give one.
    var name: String? { try? settings.campaignName(file: file?.path ?? before?.campaignFile) }

    /// Returns the call with the campaign file as it is now.
    func now() throws -> CampaignCall {
        guard let file else { return self }
        var call = self
        call.file = try CampaignFile.read(file.path)
        call.settings = Self.settings(flags, call.file, before, isCorrection: correcting != nil)
        return call
    }

    /// Replaces the name of a setting, with which the message may begin, by the place where its value was given:
    /// `campaign.yaml:7:11: attempts: expected 1 to 1000, found 0`, or `--attempts: expected …`.
    func located(_ message: String) -> String {
        guard let colon = message.range(of: ": ") else { return message }
        // A template has a place within its value, which is that of the setting here.
        let start = message[..<colon.lowerBound].replacing(#/^collapse_id:\d+:\d+$/#, with: "collapse_id")[...]
        let key = (start.hasPrefix("--") ? start.dropFirst(2) : start).replacing(#/[ -]/#, with: "_")
        guard let setting = Setting.all.first(where: { $0.key == key || $0.calledBy.map { start == $0 } ?? false })
        else { return message }
        let rest = message[colon.upperBound...]
        if flags.values[setting.name] != nil { return "\(SettingName.flag(setting.name)): \(rest)" }
        guard let place = file?.places[setting.name] else { return message }
        return "\(place): \(setting.key): \(rest)"
    }

    /// Printed if there is no run to resume, although the exit code suggests one.
    static let nothingBegun = "no run was started: start it again"

    /// Whether the input of the run that is resumed no longer exists at its path.
    private var isInputMissing: Bool {
        guard before != nil, flags.input == nil, let input = settings.input, !InputPattern.isOne(input), input != "-"
        else {
            return false
        }
        return access(input, F_OK) != 0
    }

    /// Runs `body`. An error is reported on standard error with its place in the campaign file, and rethrown as an exit code.
    func reporting<T>(_ body: () throws -> T) throws -> T {
        do {
            return try APNSBatchCommand.reporting(located, body)
        } catch let status as ExitCode {
            advise(on: status)
            throw status
        }
    }

    /// Runs `body` likewise.
    func reporting<T>(_ body: () async throws -> T) async throws -> T {
        do {
            return try await APNSBatchCommand.reporting(located, body)
        } catch let status as ExitCode {
            advise(on: status)
            throw status
        }
    }

    private func advise(on status: ExitCode) {
        if isInputMissing { complain("if the input has moved, give its new path with --input") }
        if status != ExitStatus.usage, before == nil { complain(Self.nothingBegun) }
    }
}
