import APNSBatchBasics
import FoundationEssentials

/// The files `report.json`, `report.txt` and `report.html` of a run.
public enum ReportFiles {
    /// Writes the files into the run directory. Each is replaced as a whole, or stays as it is.
    ///
    /// - Returns: The path of `report.html`.
    /// - Throws: An error that describes itself, with the path.
    @discardableResult
    public static func write(_ report: RunReport) throws -> String {
        let directory = report.runDirectory
        try OutputFile.write(json(report), to: "\(directory)/report.json", jsonKind, readers: .everybody)
        try OutputFile.write(
            Array(ReportText.text(report).utf8), to: "\(directory)/report.txt", textKind, readers: .everybody)
        let page = "\(directory)/report.html"
        try OutputFile.write(Array(ReportPage.html(report).utf8), to: page, pageKind, readers: .everybody)
        return page
    }

    /// The content of `report.json`.
    public static func json(_ report: RunReport) throws -> [UInt8] { try line(report) }

    /// The reports of several runs, as a list.
    public static func json(_ reports: [RunReport]) throws -> [UInt8] { try line(reports) }

    private static func line(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(Printable.lines(String(decoding: try encoder.encode(value), as: UTF8.self)).utf8)
            + Array("\n".utf8)
    }

    private static let jsonKind = OutputFile.Kind("the report of a run", at: .own, startingWith: "{\"")
    /// A verdict is the beginning of each text.
    private static let textKind = OutputFile.Kind("the report of a run", at: .own) { start in
        ["OK:", "LOOK:", "FAILED:"].contains { start.starts(with: $0.utf8) }
    }
    private static let pageKind = OutputFile.Kind("the report of a run", at: .own, startingWith: ReportPage.mark)
}
