import Foundation
import Glibc

/// The time zone of the machine, as far as the environment says it.
enum LocalZone {
    /// Throws if the variable TZ names no zone that is known: what is local would be UTC without a word.
    ///
    /// - Parameter variable: the value of TZ; nil or empty if it says nothing.
    static func check(_ variable: String?) throws {
        guard let variable, !variable.isEmpty else { return }
        let name = String(variable.hasPrefix(":") ? variable.dropFirst() : variable[...])
        if TimeZone(identifier: name) != nil || name.hasPrefix("/") && access(name, R_OK) == 0 { return }
        throw UsageError(
            "TZ: expected a time zone such as Europe/Berlin, found \"\(variable)\""
                + WordList.hint(name, in: TimeZone.knownTimeZoneIdentifiers))
    }
}
