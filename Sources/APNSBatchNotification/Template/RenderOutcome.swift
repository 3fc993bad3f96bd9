/// What became of one payload. A plain value without references, so that the good way costs nothing.
package enum RenderOutcome: Equatable, Sendable {
    /// The payload stands in the output; its size in bytes.
    case written(Int)
    /// The payload is right but does not fit; its exact size in bytes. Nothing usable stands in the output.
    case tooLarge(Int)
    /// A field is not what the template needs. The same whatever the capacity of the output.
    case invalid(RenderFailure)
}

/// Which field of a row does not fit and why. In words: ``description(column:field:)``.
package struct RenderFailure: Equatable, Sendable {
    package enum Cause: Equatable, Sendable {
        case notNumber
        case notBool
        case notJSON(JSONFault)
    }

    package let column: Int
    /// Where in the field the fault is, in bytes; 0 where the whole field is meant.
    package var offset = 0
    package let cause: Cause
}

extension RenderFailure {
    /// For instance `badge: expected a number, found "five"`. A long field is cut.
    /// - Parameters:
    ///   - column: the column's name.
    ///   - field: the field that was rendered, as it was.
    ///   - isSecret: whether the message must show nothing of it.
    package func description(column: String, field: UnsafeRawBufferPointer, isSecret: Bool = false) -> String {
        let found = unsafe field.isEmpty ? "an empty field" : isSecret ? "something else" : FoundText.quoted(field)
        switch cause {
        case .notNumber: return "\(column): expected a number, found \(found)"
        case .notBool: return "\(column): expected true or false, found \(found)"
        case .notJSON where unsafe field.isEmpty || isSecret: return "\(column): expected JSON, found \(found)"
        case .notJSON(let fault):
            let place = unsafe TextPlace(offset: offset, in: field)
            let message = unsafe fault.message(in: field, at: offset)
            return "\(column): not valid JSON at line \(place.line), column \(place.column): \(message)"
        }
    }
}
