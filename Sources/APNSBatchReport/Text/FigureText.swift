import APNSBatchBasics

/// Figures in the form in which people read them.
enum FigureText {
    /// `97.9 %`; small shares keep two digits, and none is rounded to 0 or 100 unless it is that.
    static func percent(_ value: Double) -> String {
        if value == 0 || value == 100 { return "\(Int(value)) %" }
        if value < 0.01 { return "< 0.01 %" }
        if value > 99.99 { return "> 99.99 %" }
        return "\(decimal(value, digits: value < 10 || value > 99 ? 2 : 1)) %"
    }

    /// `412 ms` or `1.25 s`.
    static func milliseconds(_ value: Double) -> String {
        value < 1000 ? "\(short(value)) ms" : "\(short(value / 1000)) s"
    }

    /// A number with three significant digits and separated thousands: `0.25`, `41.3`, `12,345`.
    static func short(_ value: Double) -> String {
        value < 10 ? decimal(value, digits: 2) : value < 100 ? decimal(value, digits: 1) : decimal(value, digits: 0)
    }

    /// Rounds a number; zeros at the end of the fraction are left out.
    static func decimal(_ value: Double, digits: Int) -> String {
        let scale = (0..<digits).reduce(1) { number, _ in number * 10 }
        let scaled = UInt64(saturating: min(value * Double(scale), 1e18))
        let whole = (scaled / UInt64(scale)).grouped
        var fraction = String(scaled % UInt64(scale) + UInt64(scale)).dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        return fraction.isEmpty ? whole : "\(whole).\(fraction)"
    }
}
