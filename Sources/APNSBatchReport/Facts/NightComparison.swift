/// A number of tonight, compared with the same number of earlier nights.
public struct NightComparison: Sendable, Codable, Equatable {
    /// The median of the earlier nights.
    public var median: Double
    /// Whether tonight's number is far from it: by more than three times the median distance of the earlier nights from their
    /// median, and by more than a twentieth of it, and by more than ten.
    public var deviates: Bool

    /// The most recent nights that are compared, and how many there must be at least.
    static let nightsAtMost = 14
    static let nightsAtLeast = 3

    /// - Parameter earlier: The numbers of the earlier nights, in any order; at least one.
    init(_ tonight: Double, with earlier: [Double]) {
        let median = Self.median(of: earlier)
        let usual = Self.median(of: earlier.map { abs($0 - median) })
        self.median = median
        deviates = abs(tonight - median) > max(3 * usual, median / 20, 10)
    }

    static func median(of values: [Double]) -> Double {
        let sorted = values.sorted()
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}
