/// A time in words for people.
package enum ElapsedTime {
    /// `0.3 s`, `45 s`, `6 min 51 s` or `30 h 5 min`.
    package static func text(_ seconds: Double) -> String {
        let tenths = UInt64(saturating: seconds * 10)
        guard tenths >= 100 else { return "\(tenths / 10).\(tenths % 10) s" }
        let whole = UInt64(saturating: seconds)
        return switch whole {
        case ..<60: "\(whole) s"
        case ..<3600: "\(whole / 60) min \(whole % 60) s"
        default: "\(whole / 3600) h \(whole / 60 % 60) min"
        }
    }
}
