import APNSBatchBasics

/// The result of rendering a payload. A trivial type without references, so that it costs nothing if there is no failure.
package enum RenderOutcome: Equatable, Sendable {
    /// The payload was written; its size in bytes.
    case written(Int)
    /// The payload is valid but does not fit; its exact size in bytes. The content of the output is undefined.
    case tooLarge(Int)
    /// A field does not fit the template. This does not depend on the capacity of the output.
    case invalid(RenderFailure)
}

/// The field of a row that does not fit the template, and why. ``description(column:field:isSecret:)`` makes a message of
/// it.
package struct RenderFailure: Equatable, Sendable {
    package enum Cause: Equatable, Sendable {
        case notNumber
        case notBool
        case notJSON(JSONFault)
    }

    package let column: Int
    /// The offset of the fault in the field, in bytes; 0 if the whole field is at fault.
    package var offset = 0
    package let cause: Cause
}

extension RenderFailure {
    /// Returns for example `badge: expected a number, found "five"`. A long field is cut.
    ///
    /// - Parameters:
    ///   - column: the column's name.
    ///   - field: the field that was rendered.
    ///   - isSecret: whether the message must not show any of the field.
    package func description(column: String, field: UnsafeRawBufferPointer, isSecret: Bool = false) -> String {
        let found = unsafe field.isEmpty ? "an empty field" : isSecret ? "something else" : FoundText.quoted(field)
        let name = Printable.visible(column)
        switch cause {
        case .notNumber: return "\(name): expected a number, found \(found)"
        case .notBool: return "\(name): expected true or false, found \(found)"
        case .notJSON where unsafe field.isEmpty || isSecret: return "\(name): expected JSON, found \(found)"
        case .notJSON(let fault):
            let place = unsafe TextPlace(offset: offset, in: field)
            let message = unsafe fault.message(in: field, at: offset)
            // The JSON may be valid: it exceeds a limit of ours.
            let what = fault == .tooDeep ? "" : "not valid JSON at "
            return "\(name): \(what)line \(place.line), column \(place.column): \(message)"
        }
    }
}
