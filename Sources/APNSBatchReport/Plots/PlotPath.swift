/// The outlines of layers, as the path data of SVG, in a system of 1000 by ``height``.
struct PlotPath {
    static let width = 1000.0
    static let height = 180.0

    let scale: PlotScale
    /// The number of intervals.
    let count: Int

    private func x(_ index: Double) -> String { Self.coordinate(index / Double(count) * Self.width) }

    private func y(_ value: Double) -> String { Self.coordinate((1 - scale.height(of: value)) * Self.height) }

    /// Writes a number with at most one digit after the point.
    static func coordinate(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }

    /// A line through the middle of each interval, with gaps where there is no value.
    func line(_ values: [Double?]) -> String {
        Self.runs(values).map { run in
            guard run.count > 1, let first = run.first else {
                return run.first.map { "M\(x(Double($0.index))) \(y($0.value))H\(x(Double($0.index) + 1))" } ?? ""
            }
            return "M\(point(first))" + run.dropFirst().map { "L\(point($0))" }.joined()
        }.joined()
    }

    /// The area between two lines.
    func area(from lower: [Double?], to upper: [Double?]) -> String {
        Self.runs(upper).map { run in
            func bottom(_ index: Int) -> Double { index < lower.count ? lower[index] ?? 0 : 0 }
            guard run.count > 1, let first = run.first else {
                guard let only = run.first else { return "" }
                let (left, right) = (x(Double(only.index)), x(Double(only.index) + 1))
                return "M\(left) \(y(bottom(only.index)))V\(y(only.value))H\(right)V\(y(bottom(only.index)))Z"
            }
            let back = run.reversed().map { "L\(point((index: $0.index, value: bottom($0.index))))" }.joined()
            return "M\(point(first))" + run.dropFirst().map { "L\(point($0))" }.joined() + back + "Z"
        }.joined()
    }

    /// A bar for each interval.
    func bars(_ values: [Double?]) -> String {
        values.enumerated().map { index, value in
            guard let value, value > 0 else { return "" }
            let (left, right) = (x(Double(index) + 0.06), x(Double(index) + 0.94))
            return "M\(left) \(Self.coordinate(Self.height))V\(y(value))H\(right)V\(Self.coordinate(Self.height))Z"
        }.joined()
    }

    private func point(_ place: (index: Int, value: Double)) -> String {
        "\(x(Double(place.index) + 0.5)) \(y(place.value))"
    }

    /// The values between gaps.
    private static func runs(_ values: [Double?]) -> [[(index: Int, value: Double)]] {
        var runs: [[(index: Int, value: Double)]] = []
        var isOpen = false
        for (index, value) in values.enumerated() {
            guard let value else {
                isOpen = false
                continue
            }
            if !isOpen { runs.append([]) }
            isOpen = true
            runs[runs.count - 1].append((index, value))
        }
        return runs
    }
}
