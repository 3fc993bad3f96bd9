import Mustache

/// The templates, compiled once.
enum PageTemplates {
    static let shared: Library = {
        do {
            return Library([
                "report": try MustacheTemplate(string: PageTemplate.report),
                "comparison": try MustacheTemplate(string: PageTemplate.comparison),
                "figure": try MustacheTemplate(string: PageTemplate.figure),
            ])
        } catch {
            preconditionFailure("a template of the report is wrong: \(error)")
        }
    }()

    struct Library: Sendable {
        private let library: MustacheLibrary

        init(_ templates: [String: MustacheTemplate]) { library = MustacheLibrary(templates: templates) }

        func render(_ facts: [String: Any], withTemplate name: String) -> String {
            library.render(facts, withTemplate: name) ?? ""
        }
    }
}

/// What the template of a figure inserts.
enum PageFigure {
    /// - Parameter id: What no other figure on the page has.
    static func facts(of plot: Plot, id: String) -> [String: Any] {
        var legend = plot.layers.count > 1 ? plot.layers.map { entry($0.name, $0.color, style(of: $0.shape)) } : []
        var causes: Set<String> = []
        for span in plot.spans where causes.insert(span.name).inserted {
            legend.append(entry("held back: \(span.name)", span.color, "area"))
        }
        return [
            "title": plot.title, "unit": plot.unit, "legend": legend, "svg": SVGPlot(plot, id: id).svg,
        ]
    }

    private static func entry(_ name: String, _ color: PlotColor, _ shape: String) -> [String: Any] {
        ["name": name, "color": color.number, "shape": shape]
    }

    private static func style(of shape: PlotLayer.Shape) -> String {
        switch shape {
        case .line: "line"
        case .dashed: "dashed"
        case .range: "range"
        case .area, .bars: "area"
        }
    }
}
