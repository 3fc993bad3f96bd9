import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows

/// The entry of ``Campaign/columns`` for a column: the column of the input that it is. In NDJSON this is a path, whose keys are separated by dots;
/// a backslash takes the special meaning from a dot or a backslash after it.
enum ColumnSource {
    /// Throws an error if the columns of a campaign cannot be right for any input.
    static func check(_ columns: [String: String]) throws(CampaignError) {
        for (name, source) in columns.sorted(by: { $0.key < $1.key }) {
            guard !name.isEmpty else { throw error("expected a name before \(source.quoted), found an empty text") }
            guard !source.isEmpty else {
                throw error("\(name): expected the name of a column of the input, found an empty text")
            }
        }
    }

    /// Returns the keys of a path.
    static func path(_ source: String) -> [String] {
        var keys: [String] = []
        var key = ""
        var isEscaped = false
        for scalar in source.unicodeScalars {
            if isEscaped {
                if scalar != "." && scalar != "\\" { key.unicodeScalars.append("\\") }
                key.unicodeScalars.append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "." {
                keys.append(key)
                key = ""
            } else {
                key.unicodeScalars.append(scalar)
            }
        }
        return keys + [isEscaped ? key + "\\" : key]
    }

    /// Returns a path as it is written.
    static func text(_ path: [String]) -> String {
        path.map { $0.replacing("\\", with: "\\\\").replacing(".", with: "\\.") }.joined(separator: ".")
    }

    /// Throws an error if the columns of NDJSON cannot be found as they are named.
    static func check(paths columns: [JSONColumn]) throws(CampaignError) {
        for column in columns {
            let text = text(column.path)
            guard column.path.count <= JSONColumn.depthMax else {
                throw error("\(text.quoted): expected at most \(JSONColumn.depthMax) keys, found \(column.path.count)")
            }
            guard !column.path.contains("") else {
                throw error("\(text.quoted): expected a key before and behind each dot; \"\\.\" is a dot in a key")
            }
            for other in columns
            where other.path.count < column.path.count
                && JSONColumn.isSame(other.path, Array(column.path.prefix(other.path.count)))
            {
                throw error(
                    "\(text.quoted) is within \(Self.text(other.path).quoted), which the campaign uses as a whole; "
                        + "use only one of them")
            }
        }
    }

    /// The error about a column that the input does not have.
    ///
    /// - Parameter start: The beginning of the sentence, such as `rows.csv has no column`.
    static func missing(_ source: String, of name: String, in start: String, _ known: [String]) -> CampaignError {
        error("\(start) \(ColumnNames.quoted(source)), which is to be \(name.quoted)\(hint(source, known))")
    }

    /// The names that may have been meant.
    static func hint(_ name: String, _ known: [String]) -> String {
        if let near = NearestName.find(name, in: known) { return "; did you mean \(near.quoted)?" }
        return known.isEmpty ? "" : "; there are \(ColumnNames.list(known))"
    }

    private static func error(_ text: String) -> CampaignError { CampaignError(.configuration, "columns: \(text)") }
}
