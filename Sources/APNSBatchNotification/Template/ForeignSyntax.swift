import APNSBatchBasics

/// Syntax of another template language, which is not evaluated here and would be sent as it stands.
package struct ForeignSyntax: Equatable, Sendable {
    /// The syntax as it stands in the template.
    let text: String
    /// The languages that have it.
    let languages: String
    /// What to write instead.
    let cure: String

    var message: String {
        "\(Quoted(text.utf8)) is syntax of \(languages), and would be sent as text; \(cure)"
    }

    /// The message where it may be meant as text.
    var doubt: String { "\(Quoted(text.utf8)) may be syntax of \(languages), and is sent as text; \(cure)" }

    static let noConditions =
        "there are no conditions and no loops: let the input have the text, or the column variant select a template"
    static let noFilters = "there are no filters: let the input have the value as it is to be shown"

    /// Returns the column that a name in another language most likely stands for: the one of that name, or of that name in other case.
    static func column(_ name: some StringProtocol, in columns: [String]) -> String? {
        columns.first { $0.utf8.elementsEqual(name.utf8) } ?? columns.first { $0.lowercased() == name.lowercased() }
    }
}

/// A pair of marks around a name or a statement in other template languages: one row of the table of marks.
struct ForeignMark {
    /// What is between the marks.
    enum Body {
        /// A name, with or without blanks around it.
        case name
        /// Anything with a letter.
        case statement
        /// A statement that begins with one of these bytes.
        case statementAfter(String)
    }

    /// When it is certain that the syntax is not meant as text.
    enum Certainty {
        /// Always.
        case always
        /// If the name is that of a column; else it is left over from something, or meant.
        case ofColumn
        /// If the name is that of a column; else it is taken as text.
        case ofColumnOnly
        /// If the name is that of a column to the letter, because people decorate words so; in other case it is a doubt.
        case ofSpelledColumn
        /// Never: with the name of a column it is a doubt.
        case never
    }

    let open: [UInt8]
    let close: [UInt8]
    let body: Body
    let certainty: Certainty
    let languages: String

    private init(
        _ open: String, _ close: String, _ body: Body, _ certainty: Certainty, _ languages: String
    ) {
        (self.open, self.close) = (Array(open.utf8), Array(close.utf8))
        (self.body, self.certainty, self.languages) = (body, certainty, languages)
    }

    /// The table. A mark that begins like another one comes after it.
    static let all = [
        ForeignMark("{%", "%}", .statement, .always, "Liquid, Jinja or Twig"),
        ForeignMark("{#", "#}", .statement, .always, "Jinja or Twig"),
        ForeignMark("<%", "%>", .statement, .always, "ERB or EJS"),
        ForeignMark("<?=", "?>", .statement, .always, "PHP"),
        ForeignMark("<?php", "?>", .statement, .always, "PHP"),
        ForeignMark("*|", "|*", .name, .always, "Mailchimp"),
        ForeignMark("%%", "%%", .statementAfter("=["), .always, "Salesforce Marketing Cloud"),
        ForeignMark("%%", "%%", .name, .ofColumn, "Salesforce Marketing Cloud"),
        ForeignMark("{!", "}", .name, .always, "Salesforce"),
        ForeignMark("${", "}", .name, .ofColumn, "JavaScript, Java or a shell"),
        ForeignMark("#{", "}", .name, .ofColumn, "Ruby"),
        ForeignMark("{$", "}", .name, .ofColumn, "Smarty"),
        ForeignMark("%(", ")s", .name, .ofColumn, "Python"),
        ForeignMark("[[", "]]", .name, .ofSpelledColumn, "mail programs"),
        ForeignMark("<<", ">>", .name, .ofSpelledColumn, "mail programs"),
        ForeignMark("%", "%", .name, .ofColumnOnly, "mail programs"),
        ForeignMark("$", "$", .name, .never, "StringTemplate"),
        ForeignMark("{", "}", .name, .never, "Python or ICU"),
    ]

    /// The largest number of bytes between two marks; what is farther away belongs to something else.
    static let bodyMost = 200
}

/// Finds marks of other languages in a text.
struct ForeignScan {
    /// A find, its offset in the text, and whether it is certain.
    struct Find: Equatable {
        let syntax: ForeignSyntax
        let offset: Int
        let isCertain: Bool
    }

    let bytes: [UInt8]
    let columns: [String]
    /// Whether people read the text. What an app reads may be meant for the app to evaluate, so that nothing in it is certain.
    let isShown: Bool

    /// Returns the first find that is certain, or, with `certain` false, the first doubt.
    func first(certain: Bool) -> Find? {
        var index = 0
        while index < bytes.count {
            if let end = endOfOurs(at: index) {
                index = end
                continue
            }
            if Self.mayOpen(bytes[index]), let find = find(at: index), find.isCertain == certain { return find }
            index += 1
        }
        return nil
    }

    /// Returns the end of a placeholder or of doubled braces that begin here.
    private func endOfOurs(at index: Int) -> Int? {
        let pair = [UInt8](repeating: UInt8(ascii: "{"), count: 2)
        let rest = bytes[index...]
        guard rest.starts(with: pair) else { return nil }
        if rest.starts(with: pair + pair) { return index + 4 }
        let closing = [UInt8](repeating: UInt8(ascii: "}"), count: 2)
        return rest.indices.first { bytes[$0...].starts(with: closing) }.map { $0 + 2 } ?? bytes.count
    }

    private static func mayOpen(_ byte: UInt8) -> Bool { "{<*%$#[".utf8.contains(byte) }

    private func find(at index: Int) -> Find? {
        for mark in ForeignMark.all where bytes[index...].starts(with: mark.open) && mayBegin(mark, at: index) {
            let start = index + mark.open.count
            guard let end = self.end(of: mark, from: start) else { continue }
            let body = Self.trimmed(String(decoding: bytes[start..<end], as: UTF8.self))
            guard Self.fits(body, mark.body) else { continue }
            let column = ForeignSyntax.column(Self.name(in: body), in: columns)
            let isSpelled = column?.utf8.elementsEqual(Self.name(in: body).utf8)
            guard let isCertain = Self.isCertain(mark.certainty, isSpelled: isSpelled) else { return nil }
            let text = String(decoding: bytes[index..<(end + mark.close.count)], as: UTF8.self)
            let syntax = ForeignSyntax(text: text, languages: mark.languages, cure: Self.cure(body, mark, column))
            return Find(syntax: syntax, offset: index, isCertain: isCertain && isShown)
        }
        return nil
    }

    /// Braces in a row are ours, and a percent sign after a digit is a percentage.
    private func mayBegin(_ mark: ForeignMark, at index: Int) -> Bool {
        guard index > 0 else { return true }
        let before = bytes[index - 1]
        if mark.open[0] == UInt8(ascii: "{") { return before != UInt8(ascii: "{") }
        return mark.open[0] != UInt8(ascii: "%") || !(before.isDigit || before == UInt8(ascii: "%"))
    }

    private func end(of mark: ForeignMark, from start: Int) -> Int? {
        guard start < bytes.count else { return nil }
        let last = min(bytes.count - mark.close.count, start + ForeignMark.bodyMost)
        guard start <= last else { return nil }
        return (start...last).first { bytes[$0...].starts(with: mark.close) }
    }

    /// - Parameter isSpelled: Whether the name is that of a column to the letter, and not in other case; nil without such a column.
    private static func isCertain(_ certainty: ForeignMark.Certainty, isSpelled: Bool?) -> Bool? {
        switch certainty {
        case .always: true
        case .ofColumn: isSpelled != nil
        case .ofColumnOnly: isSpelled.map { _ in true }
        case .ofSpelledColumn: isSpelled
        case .never: isSpelled.map { _ in false }
        }
    }

    private static func fits(_ body: String, _ wanted: ForeignMark.Body) -> Bool {
        switch wanted {
        case .name: isName(body)
        case .statement: body.utf8.contains { $0.isLetterOrDigit && !$0.isDigit }
        case .statementAfter(let starts): body.utf8.first.map { starts.utf8.contains($0) } == true
        }
    }

    /// Whether it is one name, or several with dots or colons between them.
    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, first.isLetterOrDigit && !first.isDigit || first == UInt8(ascii: "_") else {
            return false
        }
        return text.utf8.allSatisfy { $0.isLetterOrDigit || "_.:-".utf8.contains($0) }
    }

    private static func trimmed(_ text: String) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// The name that a statement inserts, as in `= name`; else the statement itself.
    private static func name(in body: String) -> String {
        body.hasPrefix("=") || body.hasPrefix("-") ? trimmed(String(body.dropFirst())) : body
    }

    private static func cure(_ body: String, _ mark: ForeignMark, _ column: String?) -> String {
        if let column { return "write {{\(column)}}" }
        let name = name(in: body)
        // A name by itself between the marks of a statement is a statement, such as endif.
        if case .statement = mark.body, name == body { return ForeignSyntax.noConditions }
        return isName(name) ? "write {{\(name)}}" : ForeignSyntax.noConditions
    }
}
