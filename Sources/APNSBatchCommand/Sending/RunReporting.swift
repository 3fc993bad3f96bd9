import APNSBatch
import APNSBatchReport
import Foundation

/// What is made of a run when it ends: its report, and the files about its tokens.
enum RunReporting {
    /// Writes the files of a run that has ended; with `report: none` without the report. A failure is a warning.
    static func write(_ summary: CampaignSummary, in directory: String, of arguments: RunArguments) {
        // A run that could not begin may have left nothing in the directory.
        guard summary.ending != .failed || (try? RunOpening(ifBegunIn: directory)) != nil else { return }
        warning(of: "the files of tokens are not complete") { try TokenFiles.write(summary, in: directory) }
        guard arguments.settings.report != "none" else { return }
        warning(of: "the run has no report") {
            try ReportFiles.write(RunReport(of: directory, summary, ReportContext(arguments)))
        }
    }

    private static func warning(of consequence: String, _ body: () throws -> Void) {
        do { try body() } catch { complain("warning: \(consequence): \(error)") }
    }
}

extension ReportContext {
    init(_ arguments: RunArguments) {
        self.init(arguments.settings, name: (try? arguments.name) ?? nil)
        campaignFile = arguments.nights == nil ? nil : arguments.campaignFile
        reportBy = arguments.settings.values["reportBy"]?.texts ?? []
    }

    /// The settings of the first part that was begun, without those of which each part has its own value.
    init(_ run: DistributedRun) {
        let arguments = run.firstOpening.flatMap { try? RunArguments(of: $0) }
        self.init(arguments?.settings ?? CampaignSettings(), name: nil) { $0.parts == .kept || $0.scope == .secret }
    }

    private init(_ settings: CampaignSettings, name: String?, showing isShown: (Setting) -> Bool = { _ in true }) {
        let zone = settings.values["timezone"].flatMap { try? CampaignSettings.zone($0) } ?? .current
        self.init(
            campaign: name, stateDirectory: settings.stateDir, zone: zone.identifier, settings: settings.lines(isShown)
        ) { instant in
            Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(instant))))
        }
    }
}

extension CampaignSettings {
    /// The settings that were given, in the order of the table. None of them is a secret: those are in files and variables, which
    /// the settings name.
    fileprivate func lines(_ isShown: (Setting) -> Bool) -> [RunReport.SettingLine] {
        Setting.all.filter(isShown).compactMap { setting in
            values[setting.name].map { .init(key: setting.key, value: $0.shown) }
        }
    }
}

extension SettingValue {
    /// The value on one line, as a campaign file could have it.
    fileprivate var shown: String {
        switch self {
        case .number(let number): "\(number)"
        case .text(let text): text
        case .list(let list): list.map(\.shown).joined(separator: ", ")
        case .members(let members):
            "{ " + members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.shown)" }.joined(separator: ", ")
                + " }"
        }
    }
}
