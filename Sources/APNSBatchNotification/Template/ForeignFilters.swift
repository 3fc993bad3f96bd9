import APNSBatchBasics

/// Filters of other template languages after the bar of a placeholder, as in `{{ name | default: 'there' }}`, where we have the default.
///
/// Whether they are meant is decided by a table of names, because any text may be a default: a name that is not a plausible text, or any
/// name in the table with an argument.
enum ForeignFilters {
    enum Certainty { case certain, doubtful }

    /// Names that are no words of a text.
    static let certain: Set<String> = [
        // Liquid, with those of Braze, OneSignal, Customer.io and Shopify.
        "capitalize", "upcase", "downcase", "escape_once", "strip_html", "strip_newlines", "newline_to_br",
        "url_encode",
        "url_decode", "url_escape", "url_param_escape", "json_escape", "lstrip", "rstrip", "truncatewords",
        "divided_by",
        "at_least", "at_most", "replace_first", "replace_last", "remove_first", "remove_last", "sort_natural",
        "base64_encode", "base64_decode", "number_with_delimiter", "property_accessor", "hmac_sha256", "hmac_sha1_hex",
        "time_zone", "date_math", "titlecase", "to_number",
        // Jinja, Twig and Django.
        "tojson", "striptags", "urlencode", "urlize", "xmlattr", "forceescape", "capfirst", "wordcount", "wordwrap",
        "truncatechars", "floatformat", "filesizeformat", "linebreaks", "linebreaksbr", "stringformat",
        "default_if_none",
        "addslashes", "yesno", "ljust", "rjust", "nl2br", "number_format", "json_encode", "date_modify", "groupby",
        // Angular, Vue and other pipes.
        "title_case", "ucfirst", "ucwords", "titleize", "humanize", "toUpperCase", "toLowerCase",
    ]

    /// Names that a text may be, too: a doubt by themselves, and certain with an argument.
    static let doubtful: Set<String> = [
        "upper", "lower", "title", "escape", "strip", "trim", "safe", "length", "join", "sort", "reverse", "abs", "raw",
        "uppercase", "lowercase", "md5", "sha1", "sha256",
    ]

    /// Names that are filters only with an argument. Without one, `default` is a sound, and others are likely texts.
    static let withArgument: Set<String> = [
        "default", "d", "fallback", "append", "prepend", "replace", "remove", "plus", "minus", "times", "modulo",
        "round", "slice", "split", "truncate", "indent", "select", "reject", "ceil", "concat",
    ]

    /// Names that may be a label in front of a number, as in `time: 10:00`: filters only with an argument in quotes, and with another one
    /// a doubt.
    static let labels: Set<String> = [
        "first", "last", "map", "where", "date", "time", "format", "number", "currency", "center", "list", "batch",
        "floor", "size", "find",
    ]

    /// Names that are a doubt by themselves only.
    static let bare: Set<String> = ["e", "slugify"]

    /// The filters whose argument is our default.
    static let defaults: Set<String> = ["default", "d", "fallback", "default_if_none"]

    /// Returns what is foreign in a placeholder; nil if the text after its bar is a default.
    ///
    /// - Parameters:
    ///   - name: the text before the bar.
    ///   - text: the text after it.
    ///   - isShown: whether people read the text. In what an app reads, a name by itself may be meant.
    static func find(
        name: String, default text: String, isShown: Bool
    ) -> (syntax: ForeignSyntax, certainty: Certainty)? {
        let filters = text.split(separator: "|", omittingEmptySubsequences: false).map { Filter($0) }
        let judged = filters.compactMap { $0.certainty(isShown: isShown) }
        guard let certainty = judged.first(where: { $0 == .certain }) ?? judged.first else { return nil }
        if certainty == .doubtful, judged.count < filters.count { return nil }
        let syntax = ForeignSyntax(
            text: "{{\(name) | \(text)}}", languages: "Liquid or Jinja", cure: cure(name, filters))
        return (syntax, certainty)
    }

    private static func cure(_ name: String, _ filters: [Filter]) -> String {
        for filter in filters where defaults.contains(filter.name) {
            if let argument = filter.argument { return "write {{\(name)\(argument.isEmpty ? "" : "|\(argument)")}}" }
        }
        return "write {{\(name)}}; \(ForeignSyntax.noFilters)"
    }
}

extension ForeignFilters {
    /// A filter with its argument: `name`, `name: argument` or `name(argument)`.
    fileprivate struct Filter {
        let name: String
        /// Without its quotes; nil if there is none.
        let argument: String?
        /// Whether the argument is a literal, or there is nothing between the parentheses.
        let hasLiteral: Bool
        /// Whether the argument is in quotes.
        private let isQuoted: Bool

        init(_ text: Substring) {
            let text = Self.trimmed(text)
            let name = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            let rest = Self.trimmed(text.dropFirst(name.count))
            self.name = String(name)
            var argument: Substring?
            if rest.first == ":" { argument = Self.trimmed(rest.dropFirst()) }
            if rest.first == "(", rest.last == ")", rest.startIndex == name.endIndex {
                argument = Self.trimmed(rest.dropFirst().dropLast())
            }
            isBare = rest.isEmpty
            hasLiteral = argument.map { Self.isLiteral($0) || $0.isEmpty && rest.first == "(" } ?? false
            isQuoted = argument?.first == "'" || argument?.first == "\""
            self.argument = argument.map(Self.withoutQuotes)
        }

        private let isBare: Bool

        func certainty(isShown: Bool) -> Certainty? {
            if ForeignFilters.certain.contains(name), isBare || argument != nil {
                return isShown || hasLiteral ? .certain : .doubtful
            }
            if ForeignFilters.defaults.contains(name), argument != nil, name != "d" || hasLiteral { return .certain }
            let isKnown = ForeignFilters.doubtful.contains(name) || ForeignFilters.withArgument.contains(name)
            if isKnown, hasLiteral { return .certain }
            if ForeignFilters.labels.contains(name), hasLiteral { return isQuoted ? .certain : .doubtful }
            let isDoubtful = ForeignFilters.doubtful.contains(name) || ForeignFilters.bare.contains(name)
            return isDoubtful && isBare ? .doubtful : nil
        }

        private static func isLiteral(_ text: Substring) -> Bool {
            guard let first = text.first else { return false }
            return first == "'" || first == "\"" || first == "-" || first.isNumber
        }

        private static func withoutQuotes(_ text: Substring) -> String {
            guard let first = text.first, first == "'" || first == "\"" else { return String(text) }
            return String(text.dropFirst().prefix { $0 != first })
        }

        private static func trimmed(_ text: Substring) -> Substring {
            var text = text
            while text.first == " " { text.removeFirst() }
            while text.last == " " { text.removeLast() }
            return text
        }
    }
}

extension ForeignSyntax {
    /// Returns what is foreign in a placeholder that names no column; nil if it may be a misspelt name.
    ///
    /// - Parameter content: what is between the braces, up to the bar.
    static func inPlaceholder(_ content: String, columns: [String]) -> ForeignSyntax? {
        let text = String(content.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        func found(_ languages: String, _ cure: String) -> ForeignSyntax {
            ForeignSyntax(text: "{{\(content)}}", languages: languages, cure: cure)
        }
        guard let first = text.first else { return nil }
        if "#/^".contains(first) || text == "else" || text.hasPrefix("else if ") {
            return found("Handlebars or Mustache", noConditions)
        }
        if first == "!" { return found("Handlebars or Mustache", "leave the comment out") }
        if first == ">" { return found("Handlebars or Mustache", "there are no partials: write their text") }
        if text.contains("${") {
            let name = plainName(text)
            return found("Braze", "write {{\(column(name, in: columns) ?? name)}}")
        }
        for other in [" ?? ", " | ", " or "] {
            guard let place = text.firstRange(of: other) else { continue }
            let value = text[place.upperBound...].drop { $0 == " " }.filter { $0 != "\"" && $0 != "'" }
            return found("other template languages", "write {{\(text[..<place.lowerBound])|\(value)}}")
        }
        let name = text.drop { ".-&@$".contains($0) || $0 == " " }.reversed().drop { "- ".contains($0) }.reversed()
        guard let own = column(String(name), in: columns), own != text, "&.-@$".contains(first) || text.last == "-"
        else {
            return nil
        }
        return found("other template languages", "write {{\(own)}}")
    }

    /// Returns the name in a placeholder: `name` for `${name}`, as Braze has it.
    static func plainName(_ content: String) -> String {
        var name = content[...]
        if let start = name.firstRange(of: "${") { name = name[start.upperBound...].prefix { $0 != "}" } }
        return String(name.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
