/// A plot: layers over a common horizontal axis of intervals of equal length.
struct Plot {
    var title: String
    /// The unit of the values.
    var unit: String
    /// What the plot shows, for readers who do not see it.
    var summary: String
    var scale: PlotScale
    /// Returns the label of a value at the vertical axis.
    var label: (Double) -> String = FigureText.short
    var ticks: [PlotTick]
    /// The layers, the lowest first.
    var layers: [PlotLayer]
    /// Parts of the time that are marked below the plot.
    var spans: [PlotSpan] = []
    /// Moments that are marked by a vertical line with a number, from 0 at the left to 1 at the right.
    var moments: [Double] = []
}

/// A mark on the horizontal axis.
struct PlotTick: Equatable {
    /// From 0 at the left to 1 at the right.
    var position: Double
    var label: String
    /// Whether it is left out where space is scarce.
    var isMinor = false
}

/// The values of one figure.
struct PlotLayer {
    enum Shape {
        case line
        case dashed
        /// The area between `lower` and the values; without a line at its edge if it is a range.
        case area
        case range
        case bars
    }

    var name: String
    var color: PlotColor
    var shape: Shape
    /// A value for each interval; nil where there is a gap.
    var values: [Double?]
    /// The lower edge of an area; 0 where it is nil.
    var lower: [Double?] = []
}

/// A part of the time, by the indices of its first interval and of the one after its last.
struct PlotSpan {
    var name: String
    var color: PlotColor
    var from: Int
    var to: Int
}
