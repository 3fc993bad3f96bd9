import APNSBatchBasics

/// A metric with all its samples, independent of the format in which it is written.
///
/// Source: Prometheus, "Exposition formats" and "Metric and label naming"; OpenMetrics 1.0, sections 4 and 5.
package struct MetricFamily: Sendable, Equatable {
    package enum Kind: Sendable {
        /// A value that may rise and fall.
        case gauge
        /// A count that only grows while the process lives. Its samples have the suffix `_total`.
        case counter
        /// Counts by upper bounds, and their sum.
        case histogram
        /// Facts that do not change, as labels of a sample with the suffix `_info` and the value 1.
        case info
        /// A gauge for each of several states: 1 if it is the current one, otherwise 0. The label has the family's name.
        case stateSet
    }

    /// A name and a value. The value may be any text.
    package struct Label: Sendable, Equatable {
        package var name: String
        package var value: String

        /// - Parameter value: Any text. It becomes printable; both formats escape line ends.
        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, Printable.lines(value)) }
    }

    package struct Sample: Sendable, Equatable {
        /// What follows the family's name, such as `_total`.
        package var suffix: String
        package var labels: [Label]
        package var value: Double

        package init(_ suffix: String = "", _ labels: [Label] = [], _ value: Double) {
            (self.suffix, self.labels, self.value) = (suffix, labels, value)
        }
    }

    /// The name without the suffix of its samples. It ends with the unit, if there is one.
    package let name: String
    package let kind: Kind
    /// The base unit, such as `seconds`; nil for numbers of things.
    package let unit: String?
    /// One sentence, the same for all campaigns.
    package let help: String
    package var samples: [Sample] = []

    package init(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String) {
        precondition(unit.map { name.hasSuffix("_\($0)") } ?? true, "\(name) does not end with its unit")
        (self.name, self.kind, self.unit, self.help) = (name, kind, unit, help)
    }
}

extension MetricFamily {
    /// Returns the family with one more sample.
    package func adding(_ labels: [Label], _ value: Double) -> MetricFamily {
        var family = self
        family.samples.append(Sample(suffix, labels, value))
        return family
    }

    /// Returns the family with a sample for each state.
    package func adding(states: [String], current: String?, _ labels: [Label]) -> MetricFamily {
        states.reduce(self) { $0.adding(labels + [Label(name, $1)], $1 == current ? 1 : 0) }
    }

    /// Returns the family with the samples of a histogram.
    ///
    /// - Parameters:
    ///   - bounds: The upper bounds of the buckets except for the last one, which has none.
    ///   - counts: The number of observations of each bucket and of those before it; the last one is the number of all.
    ///   - sum: The sum of all observations.
    package func adding(_ labels: [Label], bounds: [Double], counts: [UInt64], sum: Double) -> MetricFamily {
        precondition(counts.count == bounds.count + 1)
        var family = self
        for (bound, count) in zip(bounds + [.infinity], counts) {
            let bucket = labels + [Label("le", MetricText.number(bound, alwaysFraction: true))]
            family.samples.append(Sample("_bucket", bucket, Double(count)))
        }
        family.samples.append(Sample("_sum", labels, sum))
        family.samples.append(Sample("_count", labels, Double(counts.last ?? 0)))
        return family
    }

    private var suffix: String {
        switch kind {
        case .counter: "_total"
        case .info: "_info"
        case .gauge, .histogram, .stateSet: ""
        }
    }
}
