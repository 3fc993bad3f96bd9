import APNSBatchBasics

/// A URL in the place of the path of an input: an object of a store, or a page. The command reads files, and the output of programs.
struct ObjectURL {
    private let scheme: String
    /// The URL without what may be secret: a name and a password, and the signature in a query.
    private let shown: String
    /// Whether it is shown whole.
    private let isWhole: Bool

    /// Nil for a text that is no URL.
    init?(_ text: String) {
        guard let mark = text.ranges(of: "://").first else { return nil }
        let scheme = text[..<mark.lowerBound]
        guard scheme.count >= 2,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.:".contains($0)) })
        else { return nil }
        self.scheme = scheme.lowercased()
        let rest = text[mark.upperBound...]
        // A password may have any character.
        let bare = (rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest).prefix {
            !"?#".contains($0)
        }
        (shown, isWhole) = (
            "\(self.scheme)://\(bare)", bare.endIndex == text.endIndex && bare.startIndex == mark.upperBound
        )
    }

    /// What is wrong, with the line to write.
    var fault: String {
        "expected a path, found the URL \(shown.quoted): files are read here, and what a program writes; write \(line)"
    }

    /// The setting with which a program reads it.
    private var line: String {
        let url = isWhole ? shown.quoted : "URL"
        if isParquet { return ParquetSetting.line(isWhole ? shown : "URL") }
        return switch scheme {
        case "s3", "s3a", "s3n": "input_command: [aws, s3, cp, --quiet, \(amazon(url)), \"-\"]"
        case "gs": "input_command: [gcloud, storage, cat, \(url)]"
        case "az", "azure", "abfs", "abfss", "wasb", "wasbs":
            "input_command: [az, storage, blob, download, --only-show-errors, --blob-url, URL]"
        case "http", "https", "ftp", "ftps", "sftp":
            "input_command: [curl, --fail, --silent, --show-error, --location, \(url)]"
        case "file": "the path without \(scheme)://"
        default: "input_command with the program that reads it"
        }
    }

    private var isParquet: Bool {
        scheme != "file" && [".parquet", ".parq", ".pq"].contains { shown.lowercased().hasSuffix($0) }
    }

    /// The command of Amazon supports one name of the scheme.
    private func amazon(_ url: String) -> String { url == "URL" ? url : "s3\(shown.dropFirst(scheme.count))".quoted }
}
