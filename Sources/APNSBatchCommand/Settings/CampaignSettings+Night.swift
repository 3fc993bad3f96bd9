import APNSBatch
import APNSBatchBasics
import Foundation

/// The name of a campaign, and the directory of the run that it has in one night.
extension CampaignSettings {
    static func zone(_ value: SettingValue) throws -> TimeZone {
        let name = value.text ?? ""
        // Abbreviations such as EST are refused, because several zones have the same one.
        guard name.contains("/") || name == "UTC", let zone = TimeZone(identifier: name) else {
            throw UsageError(
                "expected a time zone such as Europe/Berlin, found \(name.quoted)"
                    + WordList.hint(name, in: TimeZone.knownTimeZoneIdentifiers))
        }
        return zone
    }

    /// Returns seconds after midnight.
    static func timeOfDay(_ value: SettingValue) throws -> Int64 {
        try value.parsed("a time of day such as 12:00", NightDate.timeOfDay)
    }

    /// Returns the value of a setting, or nil if it is not given.
    private func value<T>(of name: String, _ parse: (SettingValue) throws -> T) throws -> T? {
        do {
            return try values[name].map(parse)
        } catch let error as UsageError {
            throw UsageError("\(SettingName.key(name)): \(error)", cause: error)
        }
    }

    /// Returns the name of the campaign: the setting, or the name of the campaign file without its extension, in which lower-case
    /// letters replace capital ones and hyphens replace what a name cannot contain. Returns nil if there is neither.
    ///
    /// - Parameter file: The path of the campaign file.
    func campaignName(file: String?) throws -> String? {
        if values["name"] != nil { return try only("name").name }
        guard let stem = file.map({ URL(filePath: $0).deletingPathExtension().lastPathComponent }), !stem.isEmpty else {
            return nil
        }
        return ShortName.made(of: stem)
    }

    /// Returns `run_dir` with its placeholders replaced.
    ///
    /// - Parameters:
    ///   - now: Seconds since 1970-01-01 00:00 UTC.
    ///   - file: The path of the campaign file.
    func nightlyRunDirectory(at now: Int64, file: String?) throws -> String? {
        guard let path = self.runDir else { return nil }
        var replaced = ""
        var rest = path[...]
        while let match = rest.firstMatch(of: #/\{([^{}]*)\}/#) {
            replaced +=
                rest[..<match.range.lowerBound] + (try replacement(of: String(match.output.1), at: now, file: file))
            rest = rest[match.range.upperBound...]
        }
        return replaced + rest
    }

    private func replacement(of placeholder: String, at now: Int64, file: String?) throws -> String {
        switch placeholder {
        case "date": return try night(at: now)
        case "campaign":
            guard let name = try campaignName(file: file) else {
                throw UsageError("run_dir: {campaign} is replaced by the name of the campaign: give --name")
            }
            return name
        default:
            throw UsageError("run_dir: unknown placeholder {\(placeholder)}; {date} and {campaign} are known")
        }
    }

    /// The time zone of the campaign.
    var localZone: TimeZone { get throws { try value(of: "timezone", Self.zone) ?? LocalZone.current() } }

    /// The date of the night, such as `2026-11-21`.
    func night(at now: Int64) throws -> String { try night(at: now, NightDate.text) }

    /// - Parameter fact: Returns the needed fact about the night, from an instant, the time of day at which nights begin, and the
    ///   offset of local time.
    private func night<T>(at now: Int64, _ fact: (Int64, Int64, (Int64) -> Int64) -> T) throws -> T {
        let zone = try localZone
        let beginning = try value(of: "nightStarts", Self.timeOfDay) ?? 12 * 3600
        return fact(now, beginning) { Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval($0)))) }
    }

    /// Returns the directory that holds the nights: `run_dir` before `{date}`, or else the one that the run directory is in.
    ///
    /// - Parameter file: The path of the campaign file.
    func nightsDirectory(file: String?) throws -> String {
        guard let runDir = self.runDir else { return "runs" }
        let nights = runDir.range(of: "{date}").map { runDir[..<$0.lowerBound] }
        var path = CampaignSettings()
        // Of a directory that is named only by what comes before the date, the parent is meant, too.
        path.runDir = nights.map(String.init) ?? runDir
        path.values["name"] = values["name"]
        let whole = try path.nightlyRunDirectory(at: 0, file: file) ?? ""
        guard let slash = whole.dropLast(nights == nil && whole.hasSuffix("/") ? 1 : 0).lastIndex(of: "/") else {
            return "."
        }
        return slash == whole.startIndex ? "/" : String(whole[..<slash])
    }

    /// Returns the rules by which the runs of the campaign are kept apart; nil for a campaign without a name, and with the simulator in
    /// this process.
    ///
    /// - Parameters:
    ///   - now: Seconds since 1970-01-01 00:00 UTC.
    ///   - file: The path of the campaign file.
    ///   - nights: The directory that holds the nights.
    func bookRules(at now: Int64, file: String?, nights: String, again: Bool) throws -> Campaign.BookRules? {
        guard self.to != nil, self.to != "simulator", try campaignName(file: file) != nil else { return nil }
        var rules = Campaign.BookRules(
            directory: self.stateDir ?? nights, nightBegan: UInt64(max(0, try night(at: now, NightDate.began))))
        rules.repeatsNightly = try value(of: "sameInput", Self.isNightly) ?? false
        rules.finishesEarlier = try value(of: "unfinished", Self.finishesEarlier) ?? false
        rules.again = again
        return rules
    }
}
