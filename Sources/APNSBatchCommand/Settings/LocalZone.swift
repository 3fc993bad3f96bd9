import APNSBatchBasics
import Foundation

/// The time zone of the machine.
enum LocalZone {
    private static let files = "/zoneinfo/"

    /// Returns the zone that the variable TZ names, or else the one of the system.
    ///
    /// Foundation takes a variable that it does not understand for UTC, and others for another zone than the C library does.
    ///
    /// - Parameter variable: The value of TZ; nil if it is not set.
    /// - Throws: `UsageError` if it names no zone that is known, because local times would be silently wrong.
    static func current(_ variable: String? = ProcessInfo.processInfo.environment["TZ"]) throws -> TimeZone {
        guard let variable else { return .current }
        let name = name(in: variable)
        if let zone = zone(name) ?? ZoneRule.zone(name) { return zone }
        throw UsageError(
            "TZ: expected a time zone such as Europe/Berlin, found \(variable.quoted)"
                + WordList.hint(name, in: TimeZone.knownTimeZoneIdentifiers))
    }

    /// Returns the name of the zone: `Europe/Berlin` for `:Europe/Berlin`, and for the path of the zone's file or of a link to it.
    private static func name(in variable: String) -> String {
        var name = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
        if name.hasPrefix("/") {
            let path = URL(filePath: name).resolvingSymlinksInPath().path
            if let place = path.range(of: files) { name = String(path[place.upperBound...]) }
        }
        return name.hasPrefix("posix/") ? String(name.dropFirst(6)) : name
    }

    private static func zone(_ name: String) -> TimeZone? {
        if ["", "UTC0"].contains(name) { return TimeZone(identifier: "UTC") }
        guard let zone = TimeZone(identifier: name) else { return nil }
        // GMT+5 is behind UTC in TZ (POSIX, 8.3), and ahead of it here.
        let isOffset = name.wholeMatch(of: #/(?:GMT|UTC)[-+].*/#) != nil
        return isOffset && zone.secondsFromGMT() != 0 ? nil : zone
    }
}
