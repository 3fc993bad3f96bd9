import APNSBatchBasics

/// Draws a plot as an SVG element that is as wide as its place on the page, with letters of the size of the page's.
///
/// The data are drawn in a nested element, which is stretched to that width; lines keep their thickness. Axes and labels are placed
/// by percentages. The labels of the vertical axis stand in the element's padding.
struct SVGPlot {
    private let plot: Plot
    /// What no other plot on the page has, for the ids of title and description.
    private let id: String

    init(_ plot: Plot, id: String) { (self.plot, self.id) = (plot, id) }

    private static let height = Int(PlotPath.height)

    var svg: String {
        let names =
            "<title id=\"\(id)-t\">\(Self.escape(plot.title))</title>"
            + "<desc id=\"\(id)-d\">\(Self.escape(plot.summary))</desc>"
        return
            "<svg class=\"plot\" role=\"img\" aria-labelledby=\"\(id)-t \(id)-d\">\(names)\(grid)\(data)\(spans)\(axis)\(moments)</svg>"
    }

    private var grid: String {
        plot.scale.ticks.map { value in
            let y = PlotPath.coordinate((1 - plot.scale.height(of: value)) * PlotPath.height)
            return "<line class=\"grid\" x2=\"100%\" y1=\"\(y)\" y2=\"\(y)\"/>"
                + "<text class=\"y\" x=\"-8\" y=\"\(y)\" dy=\".35em\">\(Self.escape(plot.label(value)))</text>"
        }.joined()
    }

    private var data: String {
        "<svg width=\"100%\" height=\"\(Self.height)\" viewBox=\"0 0 \(Int(PlotPath.width)) \(Self.height)\" "
            + "preserveAspectRatio=\"none\">\(plot.layers.map(shape).joined())</svg>"
    }

    private func shape(_ layer: PlotLayer) -> String {
        let path = PlotPath(scale: plot.scale, count: max(1, layer.values.count))
        let (style, outline) =
            switch layer.shape {
            case .line: ("line", path.line(layer.values))
            case .dashed: ("line dashed", path.line(layer.values))
            case .area: ("area", path.area(from: layer.lower, to: layer.values))
            case .range: ("range", path.area(from: layer.lower, to: layer.values))
            case .bars: ("area", path.bars(layer.values))
            }
        return "<path class=\"\(style) c\(layer.color.number)\" d=\"\(outline)\"/>"
    }

    /// The bar below the plot.
    private var spans: String {
        let count = Double(max(1, plot.layers.first?.values.count ?? 1))
        return plot.spans.map { span in
            let (from, width) = (
                Self.percent(Double(span.from) / count), Self.percent(Double(span.to - span.from) / count)
            )
            return
                "<rect class=\"span c\(span.color.number)\" x=\"\(from)\" width=\"\(width)\" y=\"\(Self.height + 4)\" height=\"8\"/>"
        }.joined()
    }

    private var axis: String {
        let base = "<line class=\"axis\" x2=\"100%\" y1=\"\(Self.height)\" y2=\"\(Self.height)\"/>"
        return base
            + plot.ticks.map { tick in
                let x = Self.percent(tick.position)
                return "<g\(tick.isMinor ? " class=\"minor\"" : "")>"
                    + "<line class=\"axis\" x1=\"\(x)\" x2=\"\(x)\" y1=\"\(Self.height)\" y2=\"\(Self.height + 4)\"/>"
                    + "<text class=\"x\" x=\"\(x)\" y=\"\(Self.height + 28)\">\(Self.escape(tick.label))</text></g>"
            }.joined()
    }

    /// The least distance of two numbers above the plot; of moments that are nearer, only the first one has its number.
    private static let numberWidth = 0.02

    private var moments: String {
        var last = -1.0
        return plot.moments.enumerated().map { index, position in
            let x = Self.percent(position)
            let line = "<line class=\"moment\" x1=\"\(x)\" x2=\"\(x)\" y2=\"\(Self.height)\"/>"
            guard position - last >= Self.numberWidth else { return line }
            last = position
            return line + "<text class=\"moment\" x=\"\(x)\" y=\"-3\">\(index + 1)</text>"
        }.joined()
    }

    private static func percent(_ share: Double) -> String { PlotPath.coordinate(share * 100) + "%" }

    static func escape(_ text: String) -> String {
        Printable.text(text).replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
