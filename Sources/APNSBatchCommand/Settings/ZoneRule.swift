import APNSBatchBasics
import Foundation
import Glibc

/// A time zone that the variable TZ gives as a rule (POSIX.1-2024, section 8.3), such as `CET-1CEST,M3.5.0,M10.5.0/3`.
enum ZoneRule {
    private static let directory = "/usr/share/zoneinfo"
    private static let mostBytes = 1 << 20

    /// Returns the zone of a rule; nil if the text is not a rule, or if no known zone follows it.
    static func zone(_ rule: String) -> TimeZone? { fixed(rule) ?? named(by: rule) }

    /// A name and an offset without summer time, such as `<+03>-3` or `EST5`. The offset counts westward.
    private static func fixed(_ rule: String) -> TimeZone? {
        let form = #/(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]{3,}>)([+-]?)(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?/#
        guard let match = rule.wholeMatch(of: form) else { return nil }
        let (hours, minutes) = (Int(match.2) ?? 0, match.3.flatMap { Int($0) } ?? 0)
        let seconds = match.4.flatMap { Int($0) } ?? 0
        guard hours <= 24, minutes < 60, seconds < 60 else { return nil }
        let offset = hours * 3600 + minutes * 60 + seconds
        // RFC 9636 has no other offsets either.
        return TimeZone(secondsFromGMT: match.1 == "-" ? offset : -offset)
    }

    /// The first known zone whose file has this rule from now on.
    private static func named(by rule: String) -> TimeZone? {
        guard rule.contains(",") else { return nil }
        let identifier = TimeZone.knownTimeZoneIdentifiers.first { footer(of: $0) == rule }
        return identifier.flatMap { TimeZone(identifier: $0) }
    }

    /// The rule in the last line of a zone's file (RFC 9636, section 3.3).
    private static func footer(of identifier: String) -> String? {
        guard let bytes = try? OpenFile.content(of: "\(directory)/\(identifier)", most: mostBytes) else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.count > 2 ? String(decoding: lines[lines.count - 2], as: UTF8.self) : nil
    }
}
