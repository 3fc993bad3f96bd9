import APNSBatch
import APNSBatchBasics
import Foundation

/// The name of a campaign, and the directory of the run that it has in one night.
extension CampaignSettings {
    private static let nameMax = 40

    private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
        "a"..."z" ~= scalar || "0"..."9" ~= scalar || scalar == "_" || scalar == "-"
    }

    static func name(_ value: SettingValue) throws -> String {
        try value.parsed("1 to \(nameMax) characters of a-z, 0-9, _ and -") { text in
            let scalars = text.unicodeScalars
            return (1...nameMax).contains(scalars.count) && scalars.allSatisfy(isOfName) ? text : nil
        }
    }

    static func zone(_ value: SettingValue) throws -> TimeZone {
        try value.parsed("a time zone such as Europe/Berlin") { name in
            // Abbreviations such as EST are refused, because several zones have the same one.
            name.contains("/") || name == "UTC" ? TimeZone(identifier: name) : nil
        }
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
        if let name = try value(of: "name", Self.name) { return name }
        guard let stem = file.map({ URL(filePath: $0).deletingPathExtension().lastPathComponent }), !stem.isEmpty else {
            return nil
        }
        let scalars = stem.lowercased().unicodeScalars.map { Self.isOfName($0) ? $0 : "-" }
        return String(String.UnicodeScalarView(scalars.prefix(Self.nameMax)))
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

    /// The date of the night, such as `2026-11-21`.
    private func night(at now: Int64) throws -> String {
        let zone = try value(of: "timezone", Self.zone) ?? .current
        let beginning = try value(of: "nightStarts", Self.timeOfDay) ?? 12 * 3600
        return NightDate.text(at: now, beginning: beginning) {
            Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval($0))))
        }
    }
}
