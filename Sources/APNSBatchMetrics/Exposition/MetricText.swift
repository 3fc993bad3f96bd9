/// The two text formats that Prometheus reads.
package enum MetricText: Sendable, CaseIterable {
    /// Version 0.0.4 of the Prometheus text format, which the textfile collector of the node exporter reads.
    case prometheus
    /// OpenMetrics 1.0.
    case openMetrics

    /// The value of the header field `content-type`.
    package var contentType: String {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// Returns the families as text, in their order. No sample has a time.
    package func text(of families: [MetricFamily]) -> String {
        let text = families.map { head(of: $0) + $0.samples.map { [name = $0.name] in line($0, of: name) }.joined() }
        return text.joined() + (self == .openMetrics ? "# EOF\n" : "")
    }

    private func head(of family: MetricFamily) -> String {
        let name = headName(of: family)
        let unit = self == .openMetrics ? family.unit.map { "# UNIT \(name) \($0)\n" } ?? "" : ""
        return "# HELP \(name) \(Self.escaped(family.help))\n# TYPE \(name) \(type(of: family.kind))\n" + unit
    }

    /// The Prometheus text format names a metric as its samples are named.
    private func headName(of family: MetricFamily) -> String {
        guard self == .prometheus else { return family.name }
        switch family.kind {
        case .counter: return family.name + "_total"
        case .info: return family.name + "_info"
        case .gauge, .histogram, .stateSet: return family.name
        }
    }

    private func type(of kind: MetricFamily.Kind) -> String {
        switch kind {
        case .gauge: "gauge"
        case .counter: "counter"
        case .histogram: "histogram"
        case .info: self == .openMetrics ? "info" : "gauge"
        case .stateSet: self == .openMetrics ? "stateset" : "gauge"
        }
    }

    private func line(_ sample: MetricFamily.Sample, of name: String) -> String {
        let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }.joined(
            separator: ",")
        return name + sample.suffix + (labels.isEmpty ? "" : "{\(labels)}") + " \(Self.number(sample.value))\n"
    }

    /// Returns a text in which no character can end a line or, with `quotes`, the value of a label.
    private static func escaped(_ text: String, quotes: Bool = false) -> String {
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }

    /// Returns a number in the notation of both formats.
    ///
    /// - Parameter alwaysFraction: Whether a whole number gets a fraction, as OpenMetrics asks of the bounds of buckets.
    static func number(_ value: Double, alwaysFraction: Bool = false) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if !alwaysFraction, let whole = Int64(exactly: value) { return "\(whole)" }
        return "\(value)"
    }
}

extension MetricText {
    /// Selects the format by the header field `accept` of a request (RFC 9110, section 12.5.1): OpenMetrics if the client
    /// prefers it to plain text, as Prometheus does.
    package init(accept: String?) {
        let offers = (accept ?? "").split(separator: ",").map(Offer.init)
        let open = offers.filter { $0.type == "application/openmetrics-text" && $0.isOfVersion1 }.map(\.weight).max()
        let plain = offers.filter { ["text/plain", "text/*", "*/*"].contains($0.type) }.map(\.weight).max()
        self = (open ?? 0) > 0 && open ?? 0 >= plain ?? 0 ? .openMetrics : .prometheus
    }

    /// An element of `accept`.
    private struct Offer {
        let type: String
        let weight: Double
        let isOfVersion1: Bool

        init(_ text: Substring) {
            let parts = text.split(separator: ";").map { part in
                String(part.filter { $0 != " " && $0 != "\t" && $0 != "\"" }).lowercased()
            }
            type = parts.first ?? ""
            let weights = parts.dropFirst().filter { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 }
            weight = weights.first ?? 1
            let version = parts.dropFirst().first { $0.hasPrefix("version=") }?.dropFirst("version=".count)
            isOfVersion1 = version.map { $0.hasPrefix("1.") } ?? true
        }
    }
}
