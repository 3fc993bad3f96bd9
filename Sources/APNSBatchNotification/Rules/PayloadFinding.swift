/// What is wrong with a row's payload.
package struct PayloadFinding: Equatable, Sendable {
    package let rule: Rule
    /// Index of the column whose field is at fault; nil for a raw payload, or where no field is.
    package let column: Int?
    /// For instance `aps.badge: expected a whole number, found "five"`. Never holds a card number.
    package let message: String
}

/// What is wrong with a template, whatever the fields of a row say.
package struct TemplateFinding: Equatable, Sendable {
    package let rule: Rule
    package let file: String
    /// Counted from 1.
    package let line: Int
    /// Counted from 1, in characters (Unicode scalars).
    package let column: Int
    package let message: String
}

/// What the rules say of one payload. A plain value without references.
@usableFromInline package struct PayloadVerdict: Equatable, Sendable {
    package var hasError = false
    package var hasWarning = false

    @inlinable package init() {}

    package var isClean: Bool { !hasError && !hasWarning }
}
