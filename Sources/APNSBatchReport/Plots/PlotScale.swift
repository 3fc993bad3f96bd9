import Glibc

/// The vertical scale of a plot.
enum PlotScale: Equatable {
    /// From 0 to a top.
    case linear(top: Double)
    /// Powers of ten, by their exponents.
    case decades(from: Int, to: Int)

    /// Returns a scale from 0 to a round number that is not below any value.
    static func linear(holding values: [Double]) -> PlotScale {
        let most = values.max() ?? 0
        let step = niceStep(max(most, 1e-9) / 4)
        return .linear(top: most > 0 ? (most / step - 1e-9).rounded(.up) * step : 1)
    }

    /// Returns a scale that holds all values, and of some limits those that are near: others would leave nothing to see.
    static func linear(holding values: [Double], andOf limits: [Double]) -> PlotScale {
        let most = (values.max() ?? 0) * nearestLimits
        return linear(holding: values + limits.filter { $0 <= most })
    }

    private static let nearestLimits = 1.25

    /// Returns a scale of powers of ten that holds all values above 0.
    static func decades(holding values: [Double]) -> PlotScale {
        let positive = values.filter { $0 > 0 }
        let from = Int((exponent(positive.min() ?? 1) + 1e-9).rounded(.down))
        let to = Int((exponent(positive.max() ?? 10) - 1e-9).rounded(.up))
        return .decades(from: from, to: max(to, from + 1))
    }

    /// The values at which there is a line across the plot.
    var ticks: [Double] {
        switch self {
        case .linear(let top):
            let step = Self.niceStep(top / 5)
            return (0...Int((top / step + 1e-9).rounded(.down))).map { Double($0) * step }
        case .decades(let from, let to): return (from...to).map { Self.power($0) }
        }
    }

    /// Returns how high a value is: 0 at the bottom, 1 at the top. Values outside are moved to the edge.
    func height(of value: Double) -> Double {
        let height =
            switch self {
            case .linear(let top): value / top
            case .decades(let from, let to):
                value > 0 ? (Self.exponent(value) - Double(from)) / Double(to - from) : 0
            }
        return min(1, max(0, height))
    }

    /// Whether a value is not beyond the top.
    func holds(_ value: Double) -> Bool {
        switch self {
        case .linear(let top): value <= top
        case .decades(_, let to): value <= Self.power(to)
        }
    }

    /// Returns the least of 1, 2 and 5 times a power of ten that is not below `step`.
    static func niceStep(_ step: Double) -> Double {
        let power = power(Int((exponent(step) + 1e-9).rounded(.down)))
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= step * (1 - 1e-9) } ?? 10 * power
    }

    /// Returns the power of ten, or twice or five times a power of ten, that is nearly a value; nil if none is.
    static func oneTwoFive(_ value: Double) -> (value: Double, isPower: Bool)? {
        let power = power(Int((exponent(value) + 1e-6).rounded(.down)))
        return [1.0, 2, 5].first { abs(value / power / $0 - 1) < 0.01 }.map { ($0 * power, $0 == 1) }
    }

    private static func exponent(_ value: Double) -> Double { log(value) / log(10) }

    static func power(_ exponent: Int) -> Double {
        let power = (0..<abs(exponent)).reduce(1.0) { power, _ in power * 10 }
        return exponent < 0 ? 1 / power : power
    }
}
