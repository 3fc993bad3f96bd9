import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification

/// The columns of the input that are carried into `results.csv`.
package struct ResultColumns: Sendable, Equatable {
    /// The indices of the columns in the input, in the order of `results.csv`.
    package let indices: [Int]

    /// - Parameter isSecret: returns whether the fields of a column must not be shown.
    package init(
        _ names: [String], columns: [String], file: String, isSecret: (Int) -> Bool
    ) throws(CampaignError) {
        guard names.count <= CarriedFields.columnsMax else {
            throw Self.error("expected at most \(CarriedFields.columnsMax) columns, found \(names.count)")
        }
        indices = try names.enumerated().map { (place, name) throws(CampaignError) in
            guard let index = columns.firstIndex(of: name) else {
                throw Self.error("\(file) has no column \(name.quoted)" + Self.hint(name, columns))
            }
            if names[..<place].contains(name) { throw Self.error("\(name.quoted) is named twice") }
            if ResultLines.columns.contains(name) {
                throw Self.error("results.csv has a column \(name.quoted) of its own; rename the input's column")
            }
            if isSecret(index) { throw Self.error("\(name.quoted) is sent encrypted, and is never shown") }
            return index
        }
    }

    /// Checks the columns by which rows are counted.
    package static func check(reportBy names: [String], among columns: [String]) throws(CampaignError) {
        for (place, name) in names.enumerated() {
            if names[..<place].contains(name) {
                throw CampaignError(.configuration, "report by: \(name.quoted) is named twice")
            }
            guard columns.contains(name) else {
                let others = columns.isEmpty ? "; name it there, too" : hint(name, columns)
                throw CampaignError(
                    .configuration, "report by: \(name.quoted) is not among the result columns\(others)")
            }
        }
    }

    private static func hint(_ name: String, _ columns: [String]) -> String {
        if let near = NearestName.find(name, in: columns) { return "; did you mean \(near.quoted)?" }
        return "; there are " + columns.map(\.quoted).joined(separator: ", ")
    }

    private static func error(_ text: String) -> CampaignError {
        CampaignError(.configuration, "result columns: \(text)")
    }
}
