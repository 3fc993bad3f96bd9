import APNSBatch
import Glibc

/// What is expected of a night, and what is notified of it.
extension Setting {
    static let night: [Setting] = [
        Setting(
            "expect", as: .texts, scope: .run, parts: .refused, correction: .ofNight, isLive: true,
            standard: "accepted > 0, and no row unavailable, invalid, unknown or expired",
            "METRIC OP VALUE, such as \"accepted >= 95%\" or \"rows within 30% of median\": else exit code 2, or 64 for rows."
        ),
        Setting(
            "requireFresh", scope: .run, parts: .refused, correction: .ofNight, standard: "any age",
            "Age of the input file, such as 20h, beyond which it is refused before anything is sent."),
        Setting(
            "inputPatience", .text, scope: .run, parts: .replaced, standard: "0s",
            "How long to wait for what passes by itself, such as 30m: an input that is not there yet, or a database that starts up."
        ) { _ = try $1.parsed("a duration such as 30m", CampaignSettings.duration) },
        Setting(
            "sameInput", .text, scope: .run, parts: .refused, standard: "once", words: ["once", "nightly"],
            "once: an input that a complete run has sent is not sent again. nightly: it is sent once each night."
        ) { _ = try CampaignSettings.isNightly($1) },
        Setting(
            "unfinished", .text, scope: .run, parts: .refused, standard: "report", words: ["report", "continue"],
            "What to do first about an earlier night that is not finished. report: name it, exit code 2. continue: finish it, if its rows are kept."
        ) { _ = try CampaignSettings.finishesEarlier($1) },
        Setting(
            "stateDir", as: .path, scope: .machine, parts: .refused, findsHistory: true, standard: "none",
            "Directory for the history of runs, which medians and the command runs are made from; else it is beside the run directories."
        ),
        Setting(
            "report", .text, scope: .run, parts: .whole, standard: "files", words: ["files", "none"],
            "files: a report is written into the run directory. none: it is not."
        ) {
            _ = try $1.parsed("files or none") { ["files", "none"].contains($0) ? $0 : nil }
        },
        Setting(
            "onComplete", .command, scope: .machine, parts: .refused, hasFlag: false,
            "Program that is started at the end, without a shell. RUN_DIR, EXIT and VERDICT are in its environment."
        ) { try CampaignSettings.checkCommand($1) },
        Setting(
            "onCompletePatience", .whole, scope: .run, parts: .refused, standard: "60",
            "Seconds after which the program of on_complete is killed: 1 to 86400."
        ) { _ = try CampaignSettings.patience($1) },
        Setting(
            "pingUrlFile", .path, scope: .secret, parts: .refused,
            "File whose first line is the URL of a monitor, such as healthchecks.io, which is called at start and end."
        ),
        Setting(
            "pingTimeout", .whole, scope: .run, parts: .refused, standard: "10",
            "Seconds that a request to the monitor may take: 1 to 86400."
        ) {
            _ = try CampaignSettings.patience($1)
        },
    ]
}

extension CampaignSettings {
    /// Returns a time in whole seconds, 1 to 86,400.
    static func patience(_ value: SettingValue) throws -> Duration {
        guard let seconds = value.number, 1...86_400 ~= seconds else {
            throw UsageError("expected 1 to 86400, found \(value.number ?? 0)")
        }
        return .seconds(seconds)
    }

    static func isNightly(_ value: SettingValue) throws -> Bool {
        try value.parsed("once or nightly") { ["once": false, "nightly": true][$0] }
    }

    static func finishesEarlier(_ value: SettingValue) throws -> Bool {
        try value.parsed("report or continue") { ["report": false, "continue": true][$0] }
    }

    /// Throws unless a list begins with a program. Nothing splits a text into words, as a shell would.
    static func checkCommand(_ value: SettingValue) throws {
        let words = value.texts.first?.split(separator: " ") ?? []
        guard let program = value.texts.first, !words.isEmpty else {
            throw UsageError("expected a program and its arguments, found none")
        }
        guard words.count > 1, access(program, F_OK) != 0 else { return }
        throw UsageError(
            "expected a program and its arguments, each as an item of the list, found \(program.quoted): "
                + "write [\((words + value.texts.dropFirst().map { $0[...] }).joined(separator: ", "))]")
    }

    /// Parses a duration such as `20h`.
    static func duration(_ text: String) -> Duration? {
        if case .after(let time)? = Campaign.Expiration(text) { time } else { nil }
    }

    /// Returns the seconds of a duration such as `20h`.
    static func seconds(_ text: String) -> UInt64? {
        duration(text).map { UInt64($0 / .seconds(1)) }
    }
}
